// FLOPs of every ML primitive against those that IrEne's authors published, where their data is.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

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

TEST(PublishedTest, FlopsOfEveryPrimitiveAreThose) {
  const std::string folder = PublishedFolder();
  if (folder.empty()) {
    GTEST_SKIP() << "needs IrEne's data at ../shared/data/irene or in BERYL_IRENE_DATA";
  }
  std::map<std::string, std::map<std::string, double>> described;  // by model and size
  size_t rows = 0;
  double worst = 0;
  for (const char* file : {"ml1", "ml2"}) {
    std::ifstream lines(fmt::format("{}/{}_level_features.csv", folder, file));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const auto fields = Split(line, ',');
      ASSERT_EQ(fields.size(), 15u);
      const auto batch = static_cast<int64_t>(*ParseNumber(fields[0]));
      const auto seq = static_cast<int64_t>(*ParseNumber(fields[1]));
      const double flops = 1e6 * *ParseNumber(fields[2]);
      const std::string model(fields[14]);
      auto& known = described[fmt::format("{} {} {}", model, batch, seq)];
      if (known.empty()) known = FlopsOf(model, batch, seq);
      const auto at = known.find(std::string(fields[13]));
      ASSERT_NE(at, known.end()) << line;
      if (flops == 0) {
        EXPECT_EQ(at->second, 0) << line;
      } else {
        worst = std::max(worst, std::abs(at->second / flops - 1));
      }
      ++rows;
    }
  }
  EXPECT_GT(rows, 10000u);
  // What is left is the bias, which their count leaves out where it is fused with the product.
  EXPECT_LT(worst, 0.001);
  RecordProperty("worst", fmt::format("{}", worst));
}

}  // namespace
}  // namespace beryl::models
