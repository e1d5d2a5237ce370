#include <cstddef>
#include <cstdint>
#include <string>

#include "datasets/datasets.h"
#include "learn_laws.h"

using beryl::fuzz::CheckDataset;
using beryl::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  auto source = beryl::ByteSource::FromMemory({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  auto data = beryl::datasets::ReadTrees(source, {});
  if (!data) {
    Require(data.error().message.find("fuzz") != std::string::npos, "an error names its file");
    return 0;
  }
  CheckDataset(*data);
  for (const beryl::ModelRun& run : data->runs) {
    Require(run.ids.size() == run.tree.nodes.size(), "an id for every node");
    Require(run.extra.size() == run.tree.nodes.size(), "what is kept stands by node");
  }
  const std::string written = beryl::datasets::WriteTrees(*data, {});
  auto second = beryl::ByteSource::FromMemory(written, "written");
  auto again = beryl::datasets::ReadTrees(second, {});
  Require(again.has_value() && again->runs.size() == data->runs.size(), "it can be written");
  Require(beryl::datasets::WriteTrees(*again, {}) == written, "written and read it is the same");
  return 0;
}
