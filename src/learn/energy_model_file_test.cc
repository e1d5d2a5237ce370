#include "learn/energy_model_file.h"

#include <bit>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "learn/learn.h"

namespace beryl::learn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array<Method, 7> kMethods = {
    Method::kLaw,          Method::kEnd2End,  Method::kStepwise, Method::kSum,
    Method::kUnstructured, Method::kBaseline, Method::kDatasheet};

Datasheet RandomDatasheet(std::mt19937_64& random) {
  std::uniform_real_distribution<double> number(0.1, 1e15);
  Datasheet sheet;
  sheet.device = "A \"new\" device, ü";
  sheet.gpu = random() % 2 == 0;
  for (double& rate : sheet.matmul_flops) rate = random() % 2 == 0 ? number(random) : kUnknown;
  sheet.matmul_flops[0] = number(random);
  sheet.vector_flops = number(random);
  sheet.bandwidth = number(random);
  sheet.link_bandwidth = random() % 2 == 0 ? number(random) : 0;
  sheet.memory = random() % 2 == 0 ? number(random) : kUnknown;
  sheet.idle_power = {number(random)};
  sheet.board_power = sheet.idle_power + Watts{number(random)};
  sheet.sources = {"board_w: a [sheet], 2026", "memory: \"guess\""};
  return sheet;
}

// A model of any method, with numbers of all sizes.
EnergyModel RandomModel(Method method, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto number = [&] {
    double value = kUnknown;
    while (!std::isfinite(value)) value = std::bit_cast<double>(random());
    return value;
  };
  auto positive = [&] { return std::fabs(number()) + 1e-300; };
  auto numbers = [&](size_t count) {
    std::vector<double> list(count);
    for (double& value : list) value = number();
    return list;
  };
  auto standard = [&](size_t count) {
    Standard result{numbers(count), {}};
    for (size_t i = 0; i < count; ++i) result.scale.push_back(positive());
    return result;
  };
  EnergyModel model;
  model.method = method;
  model.feature_set = static_cast<FeatureSet>(random() % 3);
  for (size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    const bool of_the_law = feature == Feature::kCpu || feature == Feature::kSeconds ||
                            feature == Feature::kGpuEnergy || feature == Feature::kCpuEnergy;
    if (of_the_law || random() % 2 == 0) model.features.push_back(feature);
  }
  const size_t count = model.features.size();
  model.seed = random();
  if (method == Method::kLaw) {
    if (random() % 2 == 0) model.law.gpu_energy = LawTerm{number(), positive(), true};
    if (random() % 2 == 0) model.law.cpu_energy = LawTerm{number(), positive(), false};
    model.law.rest_w = {number(), positive(), true};
    if (random() % 2 == 0) model.law.busy_w = LawTerm{number(), positive(), false};
    if (model.law.busy_w) model.law.busy_reference = number();
  }
  if (HasPrimitives(method)) {
    for (const char* type : {"linear", "a \"b\" \\ [ü, 1]"}) {
      model.primitives[type] = {standard(count), numbers(count), number(), random()};
    }
  }
  if (HasChildWeights(method)) {
    model.weighting = {standard(count), numbers(CubicTerms(count)), number(), positive()};
  }
  if (method == Method::kBaseline) model.pue = positive();
  if (method == Method::kDatasheet) {
    // Only this is in the file.
    model = {};
    model.method = method;
    model.datasheet = RandomDatasheet(random);
    return model;
  }
  model.nominal = 0.8;
  model.bands[1] = {0.5, positive() + 1, 7};
  model.trained_on = {"data [1, 2]", "GTX, i9", {"a", "b"}, 12, {}};
  model.trained_on.mape = {0.5, kUnknown, number()};
  model.provenance = {"beryl", "0.1.0", "Release", "box", {"a", "b"}, "", "2026-11-16T01:02:03Z"};
  return model;
}

// Every double that is written is the same text only if it is the same number.
TEST(EnergyModelFile, WritingAndReadingGivesTheSameModel) {
  for (const Method method : kMethods) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const EnergyModel model = RandomModel(method, seed);
      const std::string text = WriteEnergyModel(model);
      auto again = ReadEnergyModel(text, "file.json");
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(WriteEnergyModel(*again), text);
      EXPECT_EQ(again->method, model.method);
      EXPECT_EQ(again->feature_set, model.feature_set);
      EXPECT_EQ(again->features, model.features);
      EXPECT_EQ(again->seed, model.seed);
      EXPECT_EQ(again->name, "file.json");
      EXPECT_EQ(again->law.rest_w.value, model.law.rest_w.value);
      EXPECT_EQ(again->law.busy_reference, model.law.busy_reference);
      EXPECT_EQ(again->law.busy_w.has_value(), model.law.busy_w.has_value());
      ASSERT_EQ(again->primitives.size(), model.primitives.size());
      for (const auto& [type, regressor] : model.primitives) {
        const PrimitiveRegressor& other = again->primitives.at(type);
        EXPECT_EQ(other.weights, regressor.weights);
        EXPECT_EQ(other.standard.mean, regressor.standard.mean);
        EXPECT_EQ(other.standard.scale, regressor.standard.scale);
        EXPECT_EQ(other.bias, regressor.bias);
        EXPECT_EQ(other.samples, regressor.samples);
      }
      EXPECT_EQ(again->weighting.weights, model.weighting.weights);
      EXPECT_EQ(again->weighting.tau, model.weighting.tau);
      EXPECT_EQ(again->pue, model.pue);
      ASSERT_EQ(again->datasheet.has_value(), method == Method::kDatasheet);
      if (again->datasheet) {
        EXPECT_EQ(again->datasheet->board_power, model.datasheet->board_power);
        EXPECT_EQ(again->datasheet->sources, model.datasheet->sources);
        EXPECT_EQ(again->trained_on.machine, model.datasheet->device);
        continue;
      }
      EXPECT_EQ(again->bands[1].high, model.bands[1].high);
      EXPECT_EQ(again->bands[0].nodes, 0u);
      EXPECT_EQ(again->trained_on.data, model.trained_on.data);
      EXPECT_EQ(again->trained_on.models, model.trained_on.models);
      EXPECT_TRUE(std::isnan(again->trained_on.mape[1]));
      EXPECT_EQ(again->trained_on.mape[2], model.trained_on.mape[2]);
    }
  }
}

// As files were before they had a provenance.
TEST(EnergyModelFile, WithoutProvenanceToolAndDayAreThoseOfTheTraining) {
  const EnergyModel model = RandomModel(Method::kLaw, 1);
  std::string text = WriteEnergyModel(model);
  const size_t start = text.find("  \"provenance\"");
  ASSERT_NE(start, std::string::npos);
  text.erase(start, text.find("  },\n", start) + 5 - start);
  ASSERT_EQ(text.find("provenance"), std::string::npos);
  const auto old = ReadEnergyModel(text, "file.json");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(ToolText(old->provenance), "beryl 0.1.0");
  EXPECT_EQ(old->provenance.when, "2026-11-16");
  EXPECT_EQ(old->trained_on.data, model.trained_on.data);
}

EnergyModel SmallModel(Method method) {
  EnergyModel model;
  model.method = method;
  model.features = {Feature::kSeconds, Feature::kGpuEnergy};
  model.law.gpu_energy = LawTerm{1.05, 0.01, true};
  model.law.rest_w = {98, 0.5, true};
  model.primitives["linear"] = {{{1, 2}, {3, 4}}, {5, 6}, 7, 8};
  model.weighting = {{{1, 2}, {3, 4}}, std::vector<double>(10, 0.5), 7, 10};
  model.bands[0] = {0.9, 1.1, 100};
  if (method == Method::kDatasheet) {
    Datasheet& sheet = model.datasheet.emplace();
    sheet = {"X",  true,      {2e13, 3e14, kUnknown, kUnknown, kUnknown},
             1e13, 2e12,      0,
             8e10, Watts{50}, Watts{400},
             {}};
  }
  return model;
}

TEST(EnergyModelFile, IsReadableByAPerson) {
  const std::string text = WriteEnergyModel(SmallModel(Method::kLaw));
  EXPECT_THAT(text, HasSubstr("\"sentence\": \"1.05 x GPU energy + 98 W x time\","));
  EXPECT_THAT(text, HasSubstr("\"name\": \"times_mean\",\n      \"unit\": \"s\""));
  EXPECT_THAT(text, Not(HasSubstr("primitives")));
  EXPECT_THAT(text, Not(HasSubstr("child_weights")));
  EXPECT_THAT(text, Not(HasSubstr("pue")));
  const std::string learned = WriteEnergyModel(SmallModel(Method::kEnd2End));
  EXPECT_THAT(learned, HasSubstr("\"mean\": [1, 2],\n"));
  EXPECT_THAT(learned, Not(HasSubstr("law")));
}

TEST(EnergyModelFile, UnknownMembersAndTheSentenceAreIgnored) {
  std::string text = WriteEnergyModel(SmallModel(Method::kLaw));
  text.insert(1, "\"later\": [{\"a\": [[]]}, 1], \"primitives\": 5,");
  text.replace(text.find("1.05 x GPU"), 4, "9.99");
  auto model = ReadEnergyModel(text, "f");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->law.gpu_energy->value, 1.05);
}

TEST(EnergyModelFile, MembersMayComeInAnyOrder) {
  std::string text = WriteEnergyModel(SmallModel(Method::kSum));
  for (const std::string member :
       {"\"schema\": \"beryl.energy-model/1\",", "\"method\": \"sum\","}) {
    const size_t at = text.find(member);
    ASSERT_NE(at, std::string::npos);
    text.erase(at, member.size());
  }
  text.insert(text.rfind('}'), ",\"method\": \"sum\", \"schema\": \"beryl.energy-model/1\"");
  EXPECT_TRUE(ReadEnergyModel(text, "f"));
}

struct Damage {
  Method method;
  std::string from;
  std::string to;
  std::string why;
};

TEST(EnergyModelFile, WhatIsDamagedIsRefusedWithTheReason) {
  const std::vector<Damage> damages = {
      {Method::kLaw, "\"schema\": ", "\"schema\" ", "not valid JSON at byte 13: "},
      {Method::kLaw, "energy-model/1", "energy-model/2",
       "its schema is 'beryl.energy-model/2'; known is 'beryl.energy-model/1'"},
      {Method::kLaw, "\"schema\"", "\"scheme\"", "schema is missing: this is no energy model"},
      {Method::kLaw, "\"law\",", "\"magic\",", "its method is 'magic'; known are law, end2end"},
      {Method::kLaw, "\"method\"", "\"methods\"", "method is missing"},
      {Method::kLaw, "\"law\":", "\"laws\":", "law is missing"},
      {Method::kLaw, "\"rest_w\"", "\"rest\"", "law.rest_w is missing"},
      {Method::kLaw, "\"deviation\": 0.5", "\"dev\": 0.5", "law.rest_w.deviation is missing"},
      {Method::kLaw, "\"deviation\": 0.5", "\"deviation\": -1",
       "law.rest_w.deviation has to be from 0"},
      {Method::kLaw, "\"value\": 98", "\"value\": \"98\"",
       "law.rest_w.value has to be a finite number, not \"98\""},
      {Method::kLaw, "\"value\": 98", "\"value\": 1e999", "law.rest_w.value has to be a finite"},
      {Method::kLaw, "\"value\": 98", "\"value\": NaN", "not valid JSON at byte"},
      {Method::kLaw, "\"measured\": true", "\"measured\": 1",
       "law.gpu_energy.measured has to be true or false, not 1"},
      {Method::kLaw, "\"rest_w\": {",
       "\"busy_w\": {\"value\":1,\"deviation\":1,\"measured\":true},"
       "\"rest_w\": {",
       "law.busy_reference_pct is missing"},
      {Method::kLaw, "\"feature_set\": \"all\"", "\"feature_set\": \"some\"",
       "feature_set has to be all, resource or model"},
      {Method::kLaw, "\"times_mean\"", "\"time\"", "features[0] names 'time', which is no feature"},
      {Method::kLaw, "\"times_mean\"", "\"gpu_energy_mean\"",
       "features[0] has 'gpu_energy_mean' in the unit 's'; here it is in 'J'"},
      {Method::kLaw, "\"features\": [", "\"features\": [{\"name\":\"times_mean\"},",
       "features[1] names 'times_mean' a second time"},
      {Method::kLaw, "\"low\": 0.9", "\"low\": 1.2", "intervals.levels.ml.low is above high"},
      {Method::kLaw, "\"low\": 0.9", "\"low\": -0.1", "intervals.levels.ml.low has to be from 0"},
      {Method::kLaw, "\"nominal\": 0.9", "\"nominal\": 1", "intervals.nominal has to be between"},
      {Method::kLaw, "\"nodes\": 100", "\"nodes\": -1",
       "intervals.levels.ml.nodes has to be a whole number from 0, not -1"},
      {Method::kLaw, "\"trained_on\"", "\"trained\"", "trained_on is missing"},
      {Method::kLaw, "\"models\": []", "\"models\": [1]",
       "trained_on.models[0] has to be a string, not 1"},
      {Method::kSum, "\"weights\": [5, 6]", "\"weights\": [5, 6, 7]",
       "primitives.linear.weights has 3 numbers; 2 features need 2"},
      {Method::kSum, "\"mean\": [1, 2]", "\"mean\": [1]",
       "primitives.linear.mean has 1 numbers; 2 features need 2"},
      {Method::kSum, "\"scale\": [3, 4]", "\"scale\": [3, 0]",
       "primitives.linear.scale has a number that is not above 0"},
      {Method::kSum, "\"scale\": [3, 4]", "\"scale\": [3, null]",
       "primitives.linear.scale[1] has to be a finite number, not null"},
      {Method::kSum, "\"scale\": [3, 4]", "\"scale\": {}",
       "primitives.linear.scale has to be a list of numbers, not {"},
      {Method::kSum, "\"samples\"", "\"sample\"", "primitives.linear.samples is missing"},
      {Method::kSum, "\"primitives\": {", "\"primitives\": {\"linear\": {},",
       "primitives.linear.mean is missing"},
      {Method::kSum, "\"primitives\"", "\"primitive\"", "primitives is missing"},
      {Method::kEnd2End, "[0.5, ", "[", "child_weights.weights has 9 numbers; 2 features need 10"},
      {Method::kEnd2End, "\"tau\": 10", "\"tau\": 0", "child_weights.tau has to be above 0"},
      {Method::kEnd2End, "\"seed\"", "\"seeds\"", "seed is missing"},
      {Method::kEnd2End, "\"child_weights\"", "\"child\"", "child_weights is missing"},
      {Method::kBaseline, "\"pue\": 1", "\"pue\": 0", "pue has to be above 0"},
      {Method::kBaseline, "\"pue\"", "\"pu\"", "pue is missing"},
      {Method::kDatasheet, "\"datasheet\": {", "\"sheet\": {", "datasheet is missing"},
      {Method::kDatasheet, "\"device\": \"X\"", "\"device\": \"\"", "datasheet.device is empty"},
      {Method::kDatasheet, "\"device\"", "\"name\"", "datasheet.device is missing"},
      {Method::kDatasheet, "\"float32\"", "\"fp32\"",
       "datasheet.matmul_flops.fp32 is no type of numbers that is known"},
      {Method::kDatasheet, "\"float32\"", "\"bfloat16\"",
       "datasheet.matmul_flops.float32 is missing"},
      {Method::kDatasheet, "\"gpu\": true", "\"gpu\": 1", "datasheet.gpu has to be true or false"},
      {Method::kDatasheet, "\"bandwidth\": 2", "\"bandwidth\": -2",
       "datasheet.bandwidth has to be above 0"},
      {Method::kDatasheet, "\"idle_w\": 50", "\"idle_w\": 500",
       "datasheet.idle_w has to be from 0 to board_w"},
      {Method::kDatasheet, "\"board_w\": 400", "\"board_w\": 0",
       "datasheet.board_w has to be above 0"},
      {Method::kDatasheet, "\"memory\": 8", "\"memory\": -8", "datasheet.memory has to be above 0"},
  };
  for (const Damage& damage : damages) {
    std::string text = WriteEnergyModel(SmallModel(damage.method));
    const size_t at = text.find(damage.from);
    ASSERT_NE(at, std::string::npos) << damage.from << "\n" << text;
    text.replace(at, damage.from.size(), damage.to);
    auto model = ReadEnergyModel(text, "file.json");
    ASSERT_FALSE(model) << damage.to;
    EXPECT_THAT(model.error().message, HasSubstr("file.json: " + damage.why));
  }
}

TEST(EnergyModelFile, EveryCutIsRefused) {
  for (const Method method : {Method::kEnd2End, Method::kDatasheet}) {
    const std::string text = WriteEnergyModel(SmallModel(method));
    for (size_t size = 0; size + 2 < text.size(); ++size) {
      EXPECT_FALSE(ReadEnergyModel(text.substr(0, size), "f")) << size;
    }
  }
}

TEST(EnergyModelFile, WhatIsNoObjectOrTooLargeIsRefused) {
  EXPECT_FALSE(ReadEnergyModel("[]", "f"));
  EXPECT_FALSE(ReadEnergyModel("", "f"));
  EXPECT_THAT(ReadEnergyModel(std::string(kLargestEnergyModel + 1, ' '), "f").error().message,
              HasSubstr("larger than 64 MiB"));
}

TEST(EnergyModelFile, TermsOfThirdDegree) {
  EXPECT_EQ(CubicTerms(0), 1u);
  EXPECT_EQ(CubicTerms(1), 4u);
  EXPECT_EQ(CubicTerms(2), 10u);
  EXPECT_EQ(CubicTerms(14), 680u);
}

TEST(EnergyModelFile, TheLawSaysWhatItNeeds) {
  EnergyModel model = RandomModel(Method::kLaw, 1);
  std::erase(model.features, Feature::kSeconds);
  const auto read = ReadEnergyModel(WriteEnergyModel(model), "file.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("lacks 'times_mean'"));
}

}  // namespace
}  // namespace beryl::learn
