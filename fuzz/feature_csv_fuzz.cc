#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/datasets.h"
#include "datasets/feature_csv.h"
#include "learn_laws.h"

using beryl::fuzz::CheckDataset;
using beryl::fuzz::Require;

// The same text as a file of every level, so that trees come of it; after the first zero byte
// another.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const size_t cut = std::min(text.find('\0'), text.size());
  std::vector<beryl::datasets::FeatureCsv> files;
  for (const char* name : {"model.csv", "module.csv", "ml1.csv", "ml2.csv"}) {
    const bool second = name[1] == 'l' && cut < text.size();
    files.push_back({name, std::string(second ? text.substr(cut + 1) : text.substr(0, cut)),
                     beryl::datasets::KindOfFile(name)});
  }
  const beryl::datasets::DatasetOptions options{.needs_energy = size % 2 == 0};
  beryl::datasets::NoteLog log;
  auto data = beryl::datasets::ReadFeatureCsvs(files, "fuzz", options, log);
  if (!data) {
    Require(!data.error().message.empty(), "an error says what went wrong");
    return 0;
  }
  CheckDataset(*data);
  const std::string written = beryl::datasets::WriteTrees(*data, {});
  if (written.empty()) return 0;  // no run has a root
  auto source = beryl::ByteSource::FromMemory(written, "written");
  auto again = beryl::datasets::ReadTrees(source, options);
  Require(again.has_value() && again->runs.size() <= data->runs.size(), "it can be written");
  Require(beryl::datasets::WriteTrees(*again, {}) == written, "written and read it is the same");
  return 0;
}
