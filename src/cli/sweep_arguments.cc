// --sweep: from its text to variants.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/model_arguments.h"

namespace beryl::cli {
namespace {

constexpr size_t kMostVariants = 10'000;

// Keys that change together, and the values they take, a list by key for each step.
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
    return MisuseError(fmt::format("--sweep '{}': {}", Printable(text), why));
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return refuse("expected KEY=V1,V2,..., such as num_hidden_layers=2,4,6");
  }
  Axis axis;
  axis.keys = Words(std::string_view(text).substr(0, equals), ':');
  for (const std::string& step : Words(std::string_view(text).substr(equals + 1), ',')) {
    // A value may hold a colon itself where only one key changes.
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

// The member of ModelInput that a key stands for; none: it is one of the configuration.
int64_t* InputOf(const std::string& key, ModelInput& input) {
  if (key == "batch") return &input.batch;
  if (key == "seq") return &input.seq;
  if (key == "prompt") return &input.prompt;
  if (key == "generate") return &input.generate;
  if (key == "context") return &input.context;
  if (key == "gpus") return &input.gpus;
  return nullptr;
}

Result<bool> Apply(const std::string& key, const std::string& value,
                   models::DescribeOptions& options) {
  const auto refuse = [&](const char* why) {
    return MisuseError(fmt::format("--sweep {}={}: {}", Printable(key), Printable(value), why));
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
  } else {
    options.set.emplace_back(key, value);
  }
  return true;
}

Result<std::vector<Axis>> AxesOf(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  std::vector<std::string> keys;
  size_t variants = 1;
  for (const std::string& text : texts) {
    auto axis = AxisOf(text);
    if (!axis) return axis.error();
    for (const std::string& key : axis->keys) {
      if (std::count(keys.begin(), keys.end(), key) > 0) {
        return MisuseError(
            fmt::format("--sweep: '{}' is given twice; give all its values at once, {}=V1,V2,...",
                        Printable(key), Printable(key)));
      }
      keys.push_back(key);
    }
    variants *= axis->steps.size();
    if (variants > kMostVariants) {
      return MisuseError(fmt::format("--sweep: more than {} variants; give fewer values",
                                     FormatCount(kMostVariants)));
    }
    axes.push_back(*std::move(axis));
  }
  return axes;
}

// Whose failure it is, a sweep says once.
std::string WithoutName(const std::string& message, const std::string& name) {
  return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

// Only the whole model is shown of a variant; thousands of trees would not fit into memory.
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
  cut(prediction.energy.self);
  cut(prediction.energy.total);
  cut(prediction.energy.low);
  cut(prediction.energy.high);
  cut(prediction.seconds);
  cut(prediction.energy.marked);
}

}  // namespace

Result<Sweep> SweepVariants(const ModelArguments& arguments, const models::ModelConfig& config,
                            const MakeVariant& make) {
  const auto base = DescribeOptionsOf(arguments);
  if (!base) return base.error();
  const auto axes = AxesOf(arguments.sweep);
  if (!axes) return axes.error();
  Sweep sweep;
  sweep.provenance = MakeProvenance({config.name});
  sweep.model = config.name;
  size_t variants = 1;
  for (const Axis& axis : *axes) {
    sweep.keys.insert(sweep.keys.end(), axis.keys.begin(), axis.keys.end());
    variants *= axis.steps.size();
  }
  size_t failed = 0;
  for (size_t variant = 0; variant < variants; ++variant) {
    SweepRow row;
    // The last axis changes fastest, as digits of a number do.
    size_t period = variants;
    for (const Axis& axis : *axes) {
      period /= axis.steps.size();
      const auto& step = axis.steps[variant / period % axis.steps.size()];
      row.values.insert(row.values.end(), step.begin(), step.end());
    }
    models::DescribeOptions options = *base;
    options.follow_hidden_size =
        std::any_of(sweep.keys.begin(), sweep.keys.end(), models::IsHiddenSize);
    for (size_t key = 0; key < sweep.keys.size(); ++key) {
      if (auto ok = Apply(sweep.keys[key], row.values[key], options); !ok) return ok.error();
    }
    auto description = models::Describe(config, options);
    auto prediction = description ? make(*std::move(description))
                                  : Result<DescribedPrediction>(description.error());
    if (prediction) {
      row.prediction = *std::move(prediction);
      KeepRoot(row.prediction);
    } else {
      row.failure = WithoutName(prediction.error().message, config.name);
      ++failed;
    }
    sweep.rows.push_back(std::move(row));
  }
  if (failed == variants) {
    return InvalidError(fmt::format("{}: none of {} variants is possible; the first: {}",
                                    config.name, variants, sweep.rows.front().failure));
  }
  return sweep;
}

}  // namespace beryl::cli
