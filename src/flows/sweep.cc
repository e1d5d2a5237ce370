#include "flows/sweep.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::flows {
namespace {

constexpr size_t kMostVariants = 10'000;

// Keys that change together, and their values: one list by key for each step.
struct Axis {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> steps;
};

std::vector<std::string> Words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(text, separator)) words.emplace_back(Trim(word));
  return words;
}

Result<Axis> AxisOf(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return MisuseError(fmt::format("sweep '{}': {}", Printable(text), why), {"sweep"});
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return refuse("expected KEY=V1,V2,..., such as num_hidden_layers=2,4,6");
  }
  Axis axis;
  axis.keys = Words(std::string_view(text).substr(0, equals), ':');
  for (const std::string& step : Words(std::string_view(text).substr(equals + 1), ',')) {
    // If only one key changes, its value may contain a colon.
    axis.steps.push_back(axis.keys.size() == 1 ? std::vector<std::string>{step} : Words(step, ':'));
    const std::vector<std::string>& values = axis.steps.back();
    if (values.size() != axis.keys.size()) {
      return refuse(fmt::format("'{}' has {} values for {} keys", Printable(step), values.size(),
                                axis.keys.size()));
    }
    if (std::count(values.begin(), values.end(), "") > 0) return refuse("a value is missing");
  }
  if (std::count(axis.keys.begin(), axis.keys.end(), "") > 0) return refuse("a key is missing");
  return axis;
}

// The member of ModelInput for a key; nullptr: it is a key of the configuration.
int64_t* InputOf(const std::string& key, ModelInput& input) {
  if (key == "batch") return &input.batch;
  if (key == "seq") return &input.seq;
  if (key == "prompt") return &input.prompt;
  if (key == "generate") return &input.generate;
  if (key == "context") return &input.context;
  if (key == "gpus") return &input.gpus;
  return nullptr;
}

Status Apply(const std::string& key, const std::string& value, models::DescribeOptions& options) {
  const auto refuse = [&](const char* why) {
    return MisuseError(fmt::format("sweep {}={}: {}", Printable(key), Printable(value), why),
                       {"sweep"});
  };
  if (int64_t* size = InputOf(key, options.input)) {
    constexpr double kMost = 1e12;
    const double least = size == &options.input.context || size == &options.input.generate ? 0 : 1;
    const auto number = ParseNumber(value);
    if (!number || *number < least || *number > kMost ||
        static_cast<double>(static_cast<int64_t>(*number)) != *number) {
      return refuse("expected a whole number");
    }
    *size = static_cast<int64_t>(*number);
  } else if (key == "dtype") {
    const auto dtype = ParseDtype(value);
    if (!dtype) return refuse("expected float32, float16, bfloat16, int8 or int4");
    options.dtype = *dtype;
  } else if (key == "attention") {
    const auto attention = ParseAttention(value);
    if (!attention) return refuse("expected eager, sdpa or flash");
    options.attention = *attention;
    options.attention_of.clear();
  } else if (key == "optimizer" && options.training) {
    const auto optimizer = ParseOptimizer(value);
    if (!optimizer) return refuse("expected sgd, adam, adamw or adafactor");
    options.training->optimizer = *optimizer;
  } else if (key == "profile") {
    return MisuseError("profiles are not swept; name all of them as the profile: A,B", {"profile"});
  } else {
    options.set.emplace_back(key, value);
  }
  return {};
}

Result<std::vector<Axis>> AxesOf(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  std::vector<std::string> keys;
  size_t variants = 1;
  for (const std::string& text : texts) {
    auto axis = TRY(AxisOf(text));
    for (const std::string& key : axis.keys) {
      if (std::count(keys.begin(), keys.end(), key) > 0) {
        return MisuseError(
            fmt::format("'{}' is swept twice; give all its values at once, {}=V1,V2,...",
                        Printable(key), Printable(key)),
            {"sweep"});
      }
      keys.push_back(key);
    }
    variants *= axis.steps.size();
    if (variants > kMostVariants) {
      return MisuseError(fmt::format("a sweep of more than {} variants; give fewer values",
                                     FormatCount(kMostVariants)),
                         {"sweep"});
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Removes the model's name, which a sweep shows once.
std::string WithoutName(const std::string& message, const std::string& name) {
  return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

// Only the whole model is shown for a variant; thousands of trees would not fit into memory.
void KeepRoot(DescribedPrediction& prediction) {
  const auto cut = [](auto& column) {
    if (column.size() > 1) column.erase(column.begin() + 1, column.end());
    column.shrink_to_fit();
  };
  cut(prediction.description.tree.nodes);
  prediction.description.tree.nodes[0].end = 1;
  cut(prediction.description.nodes);
  prediction.description.nodes[0].input_count = 0;
  prediction.description.nodes[0].output_count = 0;
  prediction.description.shapes = {};
  prediction.description.weights = {};
  prediction.description.flows = {};
  cut(prediction.energy.self);
  cut(prediction.energy.total);
  cut(prediction.energy.low);
  cut(prediction.energy.high);
  cut(prediction.seconds);
  cut(prediction.energy.marked);
}

}  // namespace

struct VariantSeries::State {
  models::ModelConfig config;
  models::DescribeOptions base;
  std::vector<VariantMaker> makers;
  std::vector<Axis> axes;
  std::vector<std::string> keys;  // of the axes
  size_t variants = 1;
  size_t next = 0;  // row

  // The last axis changes fastest, like the digits of a number.
  std::vector<std::string> ValuesOf(size_t variant) const {
    std::vector<std::string> chosen;
    size_t period = variants;
    for (const Axis& axis : axes) {
      period /= axis.steps.size();
      const auto& step = axis.steps[variant / period % axis.steps.size()];
      chosen.insert(chosen.end(), step.begin(), step.end());
    }
    return chosen;
  }
};

VariantSeries::VariantSeries(std::unique_ptr<State> state) : state_(std::move(state)) {}
VariantSeries::VariantSeries(VariantSeries&&) noexcept = default;
VariantSeries::~VariantSeries() = default;

Result<VariantSeries> VariantSeries::Of(models::ModelConfig config, models::DescribeOptions base,
                                        const std::vector<std::string>& values,
                                        std::vector<VariantMaker> makers) {
  VariantSeries series(std::make_unique<State>());
  State& state = *series.state_;
  state.axes = TRY(AxesOf(values));
  for (const Axis& axis : state.axes) {
    state.keys.insert(state.keys.end(), axis.keys.begin(), axis.keys.end());
    state.variants *= axis.steps.size();
    // A wrong value is found before the first variant is made.
    for (const auto& step : axis.steps) {
      models::DescribeOptions trial = base;
      for (size_t key = 0; key < step.size(); ++key) TRY(Apply(axis.keys[key], step[key], trial));
    }
  }
  Sweep& head = series.head_;
  head.provenance = MakeProvenance({config.name});
  head.model = config.name;
  head.keys = state.keys;
  if (!makers.front().profile.empty()) head.keys.emplace_back("profile");
  state.config = std::move(config);
  state.base = std::move(base);
  state.makers = std::move(makers);
  return series;
}

size_t VariantSeries::size() const { return state_->variants * state_->makers.size(); }

Result<std::optional<SweepRow>> VariantSeries::Next() {
  State& state = *state_;
  if (state.next == size()) return std::optional<SweepRow>();
  const std::vector<std::string> chosen = state.ValuesOf(state.next / state.makers.size());
  const VariantMaker& maker = state.makers[state.next++ % state.makers.size()];
  SweepRow row;
  row.values = chosen;
  if (!maker.profile.empty()) row.values.push_back(maker.profile);
  models::DescribeOptions options = state.base;
  if (maker.prepare) maker.prepare(options);
  options.follow_hidden_size =
      std::any_of(state.keys.begin(), state.keys.end(), models::IsHiddenSize);
  for (size_t key = 0; key < chosen.size(); ++key) {
    TRY(Apply(state.keys[key], chosen[key], options));
  }
  auto description = models::Describe(state.config, options);
  auto prediction = description ? maker.make(*std::move(description))
                                : Result<DescribedPrediction>(description.error());
  if (prediction) {
    row.prediction = *std::move(prediction);
    KeepRoot(row.prediction);
  } else {
    row.failure = WithoutName(prediction.error().message, state.config.name);
  }
  return std::optional(std::move(row));
}

Result<Sweep> VariantSeries::Rest(WorkWatch* watch) {
  Sweep sweep = head_;
  if (watch != nullptr) watch->Expect(size() - state_->next);
  while (auto row = TRY(Next())) {
    sweep.rows.push_back(*std::move(row));
    if (watch == nullptr) continue;
    watch->DoneOne();
    TRY(watch->CheckGoesOn());
  }
  if (std::all_of(sweep.rows.begin(), sweep.rows.end(),
                  [](const SweepRow& row) { return !row.failure.empty(); })) {
    return InvalidError(fmt::format("{}: none of the {} variants is possible; the first: {}",
                                    sweep.model, sweep.rows.size(), sweep.rows.front().failure));
  }
  return sweep;
}

Result<Sweep> SweepVariants(const models::ModelConfig& config, const models::DescribeOptions& base,
                            const std::vector<std::string>& values,
                            const std::vector<VariantMaker>& makers) {
  auto series = TRY(VariantSeries::Of(config, base, values, makers));
  return series.Rest();
}

}  // namespace beryl::flows
