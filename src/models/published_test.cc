// FLOPs of every ML primitive against those that IrEne's authors published, where their data is,
// and against the slice of it that comes with the project.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "models/models.h"

namespace beryl::models {
namespace {

std::string PublishedFolder() {
  const char* given = std::getenv("BERYL_IRENE_DATA");
  const std::string folder =
      std::string(given != nullptr ? given : "../shared/data/irene") + "/device_1";
  return std::filesystem::exists(folder) ? folder : "";
}

// Of one model at one size: FLOPs by "scope:Type".
std::map<std::string, double> FlopsOf(const std::string& model, int64_t batch, int64_t seq) {
  std::map<std::string, double> flops;
  const auto config = FindConfig(model);
  EXPECT_TRUE(config);
  if (!config) return flops;
  const auto description = Describe(*config, {.input = {.batch = batch, .seq = seq}});
  EXPECT_TRUE(description);
  if (!description) return flops;
  for (NodeId node = 0; node < description->nodes.size(); ++node) {
    const TreeNode& of = description->tree.nodes[node];
    if (of.level != Level::kMl) continue;
    const DescribedNode& described = description->nodes[node];
    flops[described.scope + ":" + of.type] = described.work.flops;
  }
  return flops;
}

// Compares FLOPs with those in a CSV file of docs/data-sets.md, row by row.
class FlopsComparison {
 public:
  void Compare(const std::string& path) {
    auto source = ByteSource::Open(path);
    ASSERT_TRUE(source) << source.error().message;
    const auto text = ReadAll(*source, size_t{1} << 30);
    ASSERT_TRUE(text);
    std::map<std::string_view, size_t> columns;
    for (const std::string_view line : Split(*text, '\n')) {
      const auto fields = Split(line, ',');
      if (columns.empty()) {
        for (size_t i = 0; i < fields.size(); ++i) columns[fields[i]] = i;
      } else if (fields.size() > 1) {
        ASSERT_EQ(fields.size(), columns.size()) << line;
        const auto level = columns.find("level");
        if (level == columns.end() || fields[level->second].starts_with("ml")) {
          CompareRow([&](const char* name) { return fields[columns.at(name)]; });
        }
      }
    }
  }

  size_t rows() const { return rows_; }
  double worst() const { return worst_; }  // of the ratios, how far from 1

 private:
  template <typename Field>
  void CompareRow(const Field& field) {
    const auto batch = static_cast<int64_t>(*ParseNumber(field("batch_size")));
    const auto seq = static_cast<int64_t>(*ParseNumber(field("seq_len")));
    const double flops = 1e6 * *ParseNumber(field("flops"));
    const std::string model(field("model_name"));
    auto& known = described_[fmt::format("{} {} {}", model, batch, seq)];
    if (known.empty()) known = FlopsOf(model, batch, seq);
    const auto at = known.find(std::string(field("level_name")));
    ASSERT_NE(at, known.end()) << model << " " << field("level_name");
    if (flops == 0) {
      EXPECT_EQ(at->second, 0) << model << " " << field("level_name");
    } else {
      worst_ = std::max(worst_, std::abs(at->second / flops - 1));
    }
    ++rows_;
  }

  std::map<std::string, std::map<std::string, double>> described_;  // by model and size
  size_t rows_ = 0;
  double worst_ = 0;
};

// What is left is the bias, which their count leaves out where it is fused with the product.
constexpr double kFusedBias = 0.001;

TEST(PublishedTest, FlopsOfEveryPrimitiveAreThose) {
  const std::string folder = PublishedFolder();
  if (folder.empty()) {
    GTEST_SKIP() << "needs IrEne's data at ../shared/data/irene or in BERYL_IRENE_DATA";
  }
  FlopsComparison comparison;
  for (const char* file : {"ml1", "ml2"}) {
    comparison.Compare(fmt::format("{}/{}_level_features.csv", folder, file));
  }
  EXPECT_GT(comparison.rows(), 10000u);
  EXPECT_LT(comparison.worst(), kFusedBias);
  RecordProperty("worst", fmt::format("{}", comparison.worst()));
}

TEST(PublishedTest, FlopsOfEveryPrimitiveOfTheSliceAreThose) {
  FlopsComparison comparison;
  comparison.Compare("tests/data/learn/measured_slice.csv.gz");
  EXPECT_EQ(comparison.rows(), 3738u);
  EXPECT_LT(comparison.worst(), kFusedBias);
}

}  // namespace
}  // namespace beryl::models
