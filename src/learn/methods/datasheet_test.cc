#include "learn/methods/datasheet.h"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "learn/embedded.h"
#include "learn/predict.h"
#include "learn/profiles.h"
#include "learn/train.h"

namespace beryl::learn {
namespace {

constexpr const char* kHeader =
    "name,device,kind,float32_tflops,float16_tflops,bfloat16_tflops,int8_tflops,int4_tflops,"
    "vector_tflops,bandwidth_gb_s,link_gb_s,memory_gb,idle_w,board_w,compute_source,memory_source,"
    "link_source,idle_source,board_source\n";

std::string ErrorOf(const std::string& row) {
  const auto sheets = ReadDatasheets(kHeader + row, "my.csv");
  return sheets ? "" : sheets.error().message;
}

TEST(Datasheet, TheTableIsReadInItsUnits) {
  const auto sheets = ReadDatasheets(
      std::string(kHeader) + "x,An X,gpu,20,300,,,,10,2000,,80,50,400,a,b,c,d,e\n", "my.csv");
  ASSERT_TRUE(sheets) << sheets.error().message;
  ASSERT_EQ(sheets->size(), 1u);
  const Datasheet& sheet = sheets->front().sheet;
  EXPECT_EQ(sheets->front().name, "x");
  EXPECT_EQ(sheet.device, "An X");
  EXPECT_TRUE(sheet.gpu);
  EXPECT_EQ(sheet.matmul_flops[0], 20e12);
  EXPECT_EQ(sheet.matmul_flops[1], 300e12);
  EXPECT_TRUE(std::isnan(sheet.matmul_flops[2]));
  EXPECT_EQ(sheet.vector_flops, 10e12);
  EXPECT_EQ(sheet.bandwidth, 2e12);
  EXPECT_EQ(sheet.link_bandwidth, 0);
  EXPECT_EQ(sheet.memory, 80e9);
  EXPECT_EQ(sheet.idle_power, Watts{50});
  EXPECT_EQ(sheet.board_power, Watts{400});
  ASSERT_EQ(sheet.sources.size(), 5u);
  EXPECT_EQ(sheet.sources[3], "idle_w: d");
}

TEST(Datasheet, WrongFiguresAreRefusedWithTheirLine) {
  EXPECT_EQ(ErrorOf("x,X,gpu,20,,,,,10,2000,,80,50,400,a,b,c,d,e\n"), "");
  EXPECT_EQ(ErrorOf("x,X,gpu,many,,,,,10,2000,,80,50,400,a,b,c,d,e\n"),
            "my.csv:2: x: float32_tflops must be a number, not 'many'");
  EXPECT_THAT(ErrorOf("x,X,gpu,,,,,,10,2000,,80,50,400,a,b,c,d,e\n"),
              HasSubstr("matmul_flops.float32 must be above 0"));
  EXPECT_THAT(ErrorOf("x,X,gpu,20,-1,,,,10,2000,,80,50,400,a,b,c,d,e\n"),
              HasSubstr("matmul_flops.float16 must be above 0"));
  EXPECT_THAT(ErrorOf("x,X,tpu,20,,,,,10,2000,,80,50,400,a,b,c,d,e\n"),
              HasSubstr("kind must be gpu or cpu"));
  EXPECT_THAT(ErrorOf("x,X,gpu,20,,,,,10,2000,,80,500,400,a,b,c,d,e\n"),
              HasSubstr("idle_w must be from 0 to board_w"));
  EXPECT_THAT(ErrorOf("x,X,gpu,20,,,,,10,,,80,50,400,a,b,c,d,e\n"), HasSubstr("bandwidth"));
  EXPECT_THAT(ErrorOf("x,X,gpu,20\n"), HasSubstr("my.csv:2: x: "));
  EXPECT_THAT(ErrorOf(",X,gpu,20,,,,,10,2000,,80,50,400,a,b,c,d,e\n"), HasSubstr("name is empty"));
  EXPECT_THAT(ErrorOf("x,,gpu,20,,,,,10,2000,,80,50,400,a,b,c,d,e\n"),
              HasSubstr("device is empty"));
  EXPECT_FALSE(ReadDatasheets("name,device\n", "my.csv"));
}

TEST(Datasheet, ThoseThatShipAreSound) {
  const auto sheets = ReadDatasheets(embedded::kDatasheets, "datasheets.csv");
  ASSERT_TRUE(sheets) << sheets.error().message;
  EXPECT_GE(sheets->size(), 22u);
  std::set<std::string> names;
  for (const NamedDatasheet& one : *sheets) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(FaultOf(one.sheet), "") << one.name;
    EXPECT_LT(one.sheet.idle_power, one.sheet.board_power / 2) << one.name;
    for (const std::string& source : one.sheet.sources) {
      EXPECT_GT(source.size(), source.find(':') + 2) << one.name << ": " << source;
      EXPECT_THAT(source, ::testing::Not(HasSubstr("http"))) << one.name;
    }
    // Of dense figures, no device has more than 20 times the rate of float32 in half the bits.
    const double half = one.sheet.matmul_flops[static_cast<size_t>(Dtype::kFloat16)];
    EXPECT_FALSE(half > 20 * one.sheet.matmul_flops[0]) << one.name;
  }
  EXPECT_EQ(DatasheetNames().size(), sheets->size());
  EXPECT_EQ(FindDatasheet("no-such-device"), std::nullopt);
}

TEST(Datasheet, TheyAreProfilesAfterThoseThatWereTrained) {
  const std::vector<std::string> names = ProfileNames();
  EXPECT_EQ(names.front(), "gtx1080ti-i9-7900x");
  EXPECT_THAT(names, Contains("a100-80gb-sxm"));
  const auto model = FindProfile("a100-80gb-sxm");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->method, Method::kDatasheet);
  EXPECT_EQ(model->name, "a100-80gb-sxm");
  EXPECT_EQ(model->trained_on.machine, "NVIDIA A100 80GB SXM");
  ASSERT_TRUE(model->datasheet());
  EXPECT_EQ(model->datasheet()->board_power, Watts{400});
  for (const std::string& name : names) EXPECT_TRUE(FindProfile(name)) << name;
}

TEST(Datasheet, NothingIsTrainedOrPredictedFromDataWithOne) {
  const auto model = FindProfile("t4");
  ASSERT_TRUE(model);
  const auto ok = CheckPredictsData(*model);
  ASSERT_FALSE(ok);
  EXPECT_THAT(ok.error().message,
              AllOf(HasSubstr("'t4' is a datasheet"), HasSubstr("beryl train")));
  EXPECT_TRUE(CheckPredictsData(*FindProfile("gtx1080ti-i9-7900x")));
  TrainOptions options;
  options.method = Method::kDatasheet;
  const auto trained = Train(Dataset{}, options);
  ASSERT_FALSE(trained);
  EXPECT_THAT(trained.error().message, HasSubstr("written, not learned"));
}

std::string Figure(double value, double unit) {
  return std::isnan(value) || value == 0 ? "-" : fmt::format("{:.6g}", value / unit);
}

// docs/datasheets.md shows what ships: a line for each device, and each of its sources.
TEST(Datasheet, TheDocumentSaysTheSame) {
  std::ifstream file("docs/datasheets.md");
  ASSERT_TRUE(file) << "the tests run in the project's folder";
  std::stringstream text;
  text << file.rdbuf();
  const auto sheets = ReadDatasheets(embedded::kDatasheets, "datasheets.csv");
  ASSERT_TRUE(sheets);
  for (const auto& [name, sheet] : *sheets) {
    const std::string line = fmt::format(
        "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |", name, sheet.device,
        Figure(sheet.matmul_flops[0], 1e12), Figure(sheet.matmul_flops[1], 1e12),
        Figure(sheet.matmul_flops[2], 1e12), Figure(sheet.vector_flops, 1e12),
        Figure(sheet.bandwidth, 1e9), Figure(sheet.link_bandwidth, 1e9), Figure(sheet.memory, 1e9),
        Figure(sheet.idle_power.value, 1), Figure(sheet.board_power.value, 1));
    EXPECT_NE(text.str().find(line), std::string::npos) << "missing:\n" << line;
    for (const std::string& source : sheet.sources) {
      const std::string said = source.substr(source.find(": ") + 2);
      EXPECT_NE(text.str().find(said), std::string::npos) << name << ": missing:\n" << said;
    }
  }
}

}  // namespace
}  // namespace beryl::learn
