#include "learn/energy_model_file.h"

#include <bit>
#include <cmath>
#include <random>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "learn/fit/child_weights.h"
#include "learn/learn_testing.h"
#include "learn/train.h"

namespace beryl::learn {
namespace {

// Those of which there can be any number of models, made of random numbers.
constexpr std::array kRandom = {Method::kLaw,      Method::kDescribe, Method::kEnd2End,
                                Method::kStepwise, Method::kSum,      Method::kUnstructured,
                                Method::kBaseline, Method::kDatasheet};

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
    auto& law = model.learned.emplace<EnergyLaw>();
    if (random() % 2 == 0) law.gpu_energy = LawTerm{number(), positive(), true};
    if (random() % 2 == 0) law.cpu_energy = LawTerm{number(), positive(), false};
    law.rest_w = {number(), positive(), true};
    if (random() % 2 == 0) law.busy_w = LawTerm{number(), positive(), false};
    if (law.busy_w) law.busy_reference = number();
  }
  if (method == Method::kSum || IsSeeded(method)) {
    auto& trees = model.learned.emplace<TreeRegressors>();
    for (const char* type : {"linear", "a \"b\" \\ [ü, 1]"}) {
      trees.primitives[type] = {standard(count), numbers(count), number(), random()};
    }
    if (IsSeeded(method)) {
      trees.weighting = {standard(count), numbers(CubicTerms(count)), number(), positive()};
    }
  }
  if (method == Method::kBaseline) model.learned = Baseline{positive()};
  if (method == Method::kDescribe) {
    auto& described = model.learned.emplace<DescribedModel>();
    for (KindCosts* costs : {&described.energy.alone, &described.energy.within}) {
      for (DeviceCost& cost : costs->device) cost = {positive(), positive(), positive()};
      for (double& cost : costs->host) cost = positive();
    }
    for (double& factor : described.energy.group_factors) factor = positive();
    described.noise_factors = {positive(), positive(), positive()};
    described.seconds = described.energy;
  }
  if (method == Method::kDatasheet) {
    // Only this is in the file.
    model = {};
    model.method = method;
    model.learned = RandomDatasheet(random);
    return model;
  }
  model.nominal = 0.8;
  model.bands[1] = {0.5, positive() + 1, 7};
  model.trained_on = {"data [1, 2]", "GTX, i9", {"a", "b"}, 12, {}};
  model.trained_on.mape = {0.5, kUnknown, number()};
  model.provenance = {"beryl",    "0.1.0", "Release",    "box",
                      {"a", "b"}, "",      std::nullopt, "2026-11-16T01:02:03Z"};
  return model;
}

// Every double that is written is the same text only if it is the same number.
TEST(EnergyModelFile, WritingAndReadingGivesTheSameModel) {
  for (const Method method : kRandom) {
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
      ASSERT_EQ(again->learned.index(), model.learned.index());
      if (const EnergyLaw* law = model.law()) {
        EXPECT_EQ(again->law()->rest_w.value, law->rest_w.value);
        EXPECT_EQ(again->law()->busy_reference, law->busy_reference);
        EXPECT_EQ(again->law()->busy_w.has_value(), law->busy_w.has_value());
      }
      const TreeRegressors trees = model.trees() != nullptr ? *model.trees() : TreeRegressors{};
      const TreeRegressors read = model.trees() != nullptr ? *again->trees() : TreeRegressors{};
      ASSERT_EQ(read.primitives.size(), trees.primitives.size());
      for (const auto& [type, regressor] : trees.primitives) {
        const PrimitiveRegressor& other = read.primitives.at(type);
        EXPECT_EQ(other.weights, regressor.weights);
        EXPECT_EQ(other.standard.mean, regressor.standard.mean);
        EXPECT_EQ(other.standard.scale, regressor.standard.scale);
        EXPECT_EQ(other.bias, regressor.bias);
        EXPECT_EQ(other.samples, regressor.samples);
      }
      EXPECT_EQ(read.weighting.weights, trees.weighting.weights);
      EXPECT_EQ(read.weighting.tau, trees.weighting.tau);
      if (const auto* baseline = std::get_if<Baseline>(&model.learned)) {
        EXPECT_EQ(std::get<Baseline>(again->learned).pue, baseline->pue);
      }
      if (const Datasheet* sheet = model.datasheet()) {
        EXPECT_EQ(again->datasheet()->board_power, sheet->board_power);
        EXPECT_EQ(again->datasheet()->sources, sheet->sources);
        EXPECT_EQ(again->trained_on.machine, sheet->device);
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

TEST(EnergyModelFile, HasWhatAnyMethodLearned) {
  const Dataset data = MakeDataset(TestMachine{}, 3);
  for (const MethodLook& look : Methods()) {
    if (look.features == FeatureUse::kNone) continue;  // the data has no descriptions
    TrainOptions options;
    options.method = look.method;
    const auto model = Train(data, options);
    ASSERT_TRUE(model) << look.name << ": " << model.error().message;
    const std::string text = WriteEnergyModel(*model);
    const auto again = ReadEnergyModel(text, "file.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->learned.index(), model->learned.index());
    EXPECT_EQ(WriteEnergyModel(*again), text);
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

TEST(EnergyModelFile, WhatMadeItNeedNotBeText) {
  EnergyModel model = RandomModel(Method::kLaw, 1);
  for (const char* when : {"2026-1\x7f\x7f\x7f\x7f", "\xff", "", "2026-11-16T01:32:48Z"}) {
    model.provenance.when = when;
    const std::string text = WriteEnergyModel(model);
    const auto again = ReadEnergyModel(text, "file.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(WriteEnergyModel(*again), text);
  }
}

EnergyModel SmallModel(Method method) {
  EnergyModel model;
  model.method = method;
  model.features = {Feature::kSeconds, Feature::kGpuEnergy};
  if (method == Method::kLaw) {
    auto& law = model.learned.emplace<EnergyLaw>();
    law.gpu_energy = LawTerm{1.05, 0.01, true};
    law.rest_w = {98, 0.5, true};
  }
  if (method == Method::kSum || IsSeeded(method)) {
    auto& trees = model.learned.emplace<TreeRegressors>();
    trees.primitives["linear"] = {{{1, 2}, {3, 4}}, {5, 6}, 7, 8};
    trees.weighting = {{{1, 2}, {3, 4}}, std::vector<double>(10, 0.5), 7, 10};
  }
  if (method == Method::kBaseline) model.learned = Baseline{};
  model.bands[0] = {0.9, 1.1, 100};
  if (method == Method::kDatasheet) {
    model.learned = Datasheet{"X",  true,      {2e13, 3e14, kUnknown, kUnknown, kUnknown},
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
  EXPECT_EQ(model->law()->gpu_energy->value, 1.05);
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
       "its schema is 'beryl.energy-model/2'; expected 'beryl.energy-model/1'"},
      {Method::kLaw, "\"schema\"", "\"scheme\"", "schema is missing: this is not an energy model"},
      {Method::kLaw, "\"law\",", "\"magic\",",
       "its method is 'magic'; expected law, describe, end2end"},
      {Method::kLaw, "\"method\"", "\"methods\"", "method is missing"},
      {Method::kLaw, "\"law\":", "\"laws\":", "law is missing"},
      {Method::kLaw, "\"rest_w\"", "\"rest\"", "law.rest_w is missing"},
      {Method::kLaw, "\"deviation\": 0.5", "\"dev\": 0.5", "law.rest_w.deviation is missing"},
      {Method::kLaw, "\"deviation\": 0.5", "\"deviation\": -1",
       "law.rest_w.deviation must be 0 or more"},
      {Method::kLaw, "\"value\": 98", "\"value\": \"98\"",
       "law.rest_w.value must be a finite number, not \"98\""},
      {Method::kLaw, "\"value\": 98", "\"value\": 1e999", "law.rest_w.value must be a finite"},
      {Method::kLaw, "\"value\": 98", "\"value\": NaN", "not valid JSON at byte"},
      {Method::kLaw, "\"measured\": true", "\"measured\": 1",
       "law.gpu_energy.measured must be true or false, not 1"},
      {Method::kLaw, "\"rest_w\": {",
       "\"busy_w\": {\"value\":1,\"deviation\":1,\"measured\":true},"
       "\"rest_w\": {",
       "law.busy_reference_pct is missing"},
      {Method::kLaw, "\"feature_set\": \"all\"", "\"feature_set\": \"some\"",
       "feature_set must be all, resource or model"},
      {Method::kLaw, "\"times_mean\"", "\"time\"", "features[0] names an unknown feature 'time'"},
      {Method::kLaw, "\"times_mean\"", "\"gpu_energy_mean\"",
       "features[0] has 'gpu_energy_mean' in the unit 's'; here it is in 'J'"},
      {Method::kLaw, "\"features\": [", "\"features\": [{\"name\":\"times_mean\"},",
       "features[1] names 'times_mean' a second time"},
      {Method::kLaw, "\"low\": 0.9", "\"low\": 1.2", "intervals.levels.ml.low is above high"},
      {Method::kLaw, "\"low\": 0.9", "\"low\": -0.1", "intervals.levels.ml.low must be 0 or more"},
      {Method::kLaw, "\"nominal\": 0.9", "\"nominal\": 1", "intervals.nominal must be between"},
      {Method::kLaw, "\"nodes\": 100", "\"nodes\": -1",
       "intervals.levels.ml.nodes must be a whole number from 0, not -1"},
      {Method::kLaw, "\"trained_on\"", "\"trained\"", "trained_on is missing"},
      {Method::kLaw, "\"models\": []", "\"models\": [1]",
       "trained_on.models[0] must be a string, not 1"},
      {Method::kSum, "\"weights\": [5, 6]", "\"weights\": [5, 6, 7]",
       "primitives.linear.weights has 3 numbers; 2 features need 2"},
      {Method::kSum, "\"mean\": [1, 2]", "\"mean\": [1]",
       "primitives.linear.mean has 1 numbers; 2 features need 2"},
      {Method::kSum, "\"scale\": [3, 4]", "\"scale\": [3, 0]",
       "primitives.linear.scale has a number that is not above 0"},
      {Method::kSum, "\"scale\": [3, 4]", "\"scale\": [3, null]",
       "primitives.linear.scale[1] must be a finite number, not null"},
      {Method::kSum, "\"scale\": [3, 4]", "\"scale\": {}",
       "primitives.linear.scale must be a list of numbers, not {"},
      {Method::kSum, "\"samples\"", "\"sample\"", "primitives.linear.samples is missing"},
      {Method::kSum, "\"primitives\": {", "\"primitives\": {\"linear\": {},",
       "primitives.linear.mean is missing"},
      {Method::kSum, "\"primitives\"", "\"primitive\"", "primitives is missing"},
      {Method::kEnd2End, "[0.5, ", "[", "child_weights.weights has 9 numbers; 2 features need 10"},
      {Method::kEnd2End, "\"tau\": 10", "\"tau\": 0", "child_weights.tau must be above 0"},
      {Method::kEnd2End, "\"seed\"", "\"seeds\"", "seed is missing"},
      {Method::kEnd2End, "\"child_weights\"", "\"child\"", "child_weights is missing"},
      {Method::kBaseline, "\"pue\": 1", "\"pue\": 0", "pue must be above 0"},
      {Method::kBaseline, "\"pue\"", "\"pu\"", "pue is missing"},
      {Method::kDatasheet, "\"datasheet\": {", "\"sheet\": {", "datasheet is missing"},
      {Method::kDatasheet, "\"device\": \"X\"", "\"device\": \"\"", "datasheet.device is empty"},
      {Method::kDatasheet, "\"device\"", "\"name\"", "datasheet.device is missing"},
      {Method::kDatasheet, "\"float32\"", "\"fp32\"",
       "datasheet.matmul_flops.fp32 is not a known number type"},
      {Method::kDatasheet, "\"float32\"", "\"bfloat16\"",
       "datasheet.matmul_flops.float32 is missing"},
      {Method::kDatasheet, "\"gpu\": true", "\"gpu\": 1", "datasheet.gpu must be true or false"},
      {Method::kDatasheet, "\"bandwidth\": 2", "\"bandwidth\": -2",
       "datasheet.bandwidth must be above 0"},
      {Method::kDatasheet, "\"idle_w\": 50", "\"idle_w\": 500",
       "datasheet.idle_w must be from 0 to board_w"},
      {Method::kDatasheet, "\"board_w\": 400", "\"board_w\": 0",
       "datasheet.board_w must be above 0"},
      {Method::kDatasheet, "\"memory\": 8", "\"memory\": -8", "datasheet.memory must be above 0"},
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
