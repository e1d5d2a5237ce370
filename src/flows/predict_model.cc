#include "flows/predict_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyze/analyze.h"
#include "base/text.h"
#include "flows/find_model.h"
#include "learn/profiles.h"
#include "tree/tree.h"

namespace beryl::flows {
namespace {

// Machines with enough memory, as one types them.
std::string RoomFor(double bytes, bool training) {
  constexpr size_t kFew = 3;
  std::vector<std::string> enough;
  std::string largest;
  double most = 0;
  for (const std::string& name : learn::ProfileNames()) {
    const auto profile = learn::FindProfile(name);
    const Datasheet* sheet = profile ? profile->datasheet() : nullptr;
    if (sheet == nullptr || !sheet->gpu || std::isnan(sheet->memory)) continue;
    if (sheet->memory >= bytes && enough.size() < kFew) enough.push_back(name);
    if (sheet->memory > most) {
      most = sheet->memory;
      largest = name;
    }
  }
  if (!enough.empty()) return fmt::format("such as {}", fmt::join(enough, ", "));
  if (training) return "such as those of `beryl profiles`, none of which holds it on one GPU";
  double gpus = 2;
  while (gpus * most < bytes) gpus *= 2;
  return fmt::format("such as {:.0f} GPUs of {}", gpus, largest);
}

std::string Gigabytes(double bytes) {
  return FormatBytes(static_cast<uint64_t>(std::min(bytes, 1e18)));
}

using Predictors = std::vector<SharedPredictor>;

Result<Predictors> PredictorsOf(const std::vector<std::string>& profiles,
                                const FindPredictor& find) {
  Predictors predictors;
  if (profiles.empty()) predictors.push_back(TRY(find("")));
  for (const std::string& name : profiles) {
    auto predictor = TRY(find(name));
    for (const auto& other : predictors) {
      if (other->profile().name != predictor->profile().name) continue;
      return MisuseError(
          fmt::format("profile '{}' is given twice", Printable(predictor->profile().name)),
          {"profile"});
    }
    predictors.push_back(std::move(predictor));
  }
  return predictors;
}

}  // namespace

ModelPredictor::ModelPredictor(EnergyModel profile, bool must_fit)
    : profile_(std::move(profile)), predictor_(profile_), must_fit_(must_fit) {}

Status ModelPredictor::CheckFits(const Description& description) const {
  const double room = profile_.trained_on.memory;
  const double need = description.memory.Total();
  if (!must_fit_ || std::isnan(room) || need <= room) return {};
  return InvalidError(
      fmt::format("{}: it needs {} of memory, and the machine of the default profile, {}, has {}; "
                  "name a machine that holds it, {}, or that one to be answered all the same",
                  description.model, Gigabytes(need), profile_.name, Gigabytes(room),
                  RoomFor(need, description.training.has_value())),
      {"profile"});
}

Result<DescribedPrediction> ModelPredictor::Predict(Description description,
                                                    const Electricity& electricity) const {
  TRY(CheckFits(description));
  auto prediction = predictor_.Predict(std::move(description));
  if (!prediction) return prediction;
  analyze::CostOptions options;
  options.electricity = electricity;
  prediction->costs = analyze::CostQueries(*prediction, options);
  return prediction;
}

Result<DescribedPrediction> ModelPredictor::Predict(const models::ModelConfig& config,
                                                    const models::DescribeOptions& options,
                                                    const Electricity& electricity,
                                                    bool only_whole) const {
  auto description = TRY(models::Describe(config, options));
  auto prediction = Predict(std::move(description), electricity);
  if (!prediction) return prediction;
  const auto show = only_whole ? tree::ShowWhole : tree::Show;
  prediction->tree = show(tree::PredictedColumns(*prediction));
  prediction->provenance = MakeProvenance({config.name}, prediction->profile);
  return prediction;
}

Result<Sweep> ModelPredictor::PredictVariants(const models::ModelConfig& config,
                                              const models::DescribeOptions& options,
                                              const std::vector<std::string>& values,
                                              const Electricity& electricity) const {
  VariantMaker maker;
  maker.make = [&](Description description) {
    return Predict(std::move(description), electricity);
  };
  auto sweep = SweepVariants(config, options, values, {maker});
  if (!sweep) return sweep;
  sweep->profile = sweep->provenance.profile = profile_.name;
  return sweep;
}

Result<SharedPredictor> FindPredictorByName(const std::string& profile) {
  auto found = TRY(FindProfile(profile.empty() ? kDefaultProfile : profile));
  return std::make_shared<const ModelPredictor>(std::move(found), profile.empty());
}

Result<SharedPredictor> ReadPredictor(const std::string& profile) {
  auto read = TRY(ReadProfile(profile.empty() ? kDefaultProfile : profile));
  if (read.name.empty()) read.name = profile;
  return std::make_shared<const ModelPredictor>(std::move(read), profile.empty());
}

Result<DescribedPrediction> PredictModel(const ModelRequest& request,
                                         const std::vector<std::string>& profiles,
                                         const Electricity& electricity,
                                         const FindPredictor& find) {
  const auto predictors = TRY(PredictorsOf(profiles, find));
  const ModelPredictor& predictor = *predictors.front();
  const auto config = TRY(ConfigOf(request));
  const auto options = TRY(DescribeOptionsOf(request, &predictor.profile()));
  return predictor.Predict(config, options, electricity, request.only_whole);
}

Result<VariantSeries> PredictSeries(const ModelRequest& request,
                                    const std::vector<std::string>& profiles,
                                    const Electricity& electricity, const FindPredictor& find) {
  const auto predictors = TRY(PredictorsOf(profiles, find));
  auto config = TRY(ConfigOf(request));
  const EnergyModel& first = predictors.front()->profile();
  auto options = TRY(DescribeOptionsOf(request, &first));
  std::vector<VariantMaker> makers;
  std::vector<std::string> names;
  for (const SharedPredictor& predictor : predictors) {
    VariantMaker& maker = makers.emplace_back();
    names.push_back(predictor->profile().name);
    if (predictors.size() > 1) maker.profile = names.back();
    if (predictors.size() > 1 && request.attention.empty()) {
      maker.prepare = [predictor](models::DescribeOptions& variant) {
        TakeUsualAttention(&predictor->profile(), variant);
      };
    }
    maker.make = [predictor, electricity](Description description) {
      return predictor->Predict(std::move(description), electricity);
    };
  }
  auto series = TRY(
      VariantSeries::Of(std::move(config), std::move(options), request.sweep, std::move(makers)));
  Sweep& head = series.head();
  head.profile = head.provenance.profile = fmt::format("{}", fmt::join(names, ", "));
  return series;
}

Result<Sweep> PredictModels(const ModelRequest& request, const std::vector<std::string>& profiles,
                            const Electricity& electricity, const FindPredictor& find) {
  auto series = TRY(PredictSeries(request, profiles, electricity, find));
  return series.Rest();
}

}  // namespace beryl::flows
