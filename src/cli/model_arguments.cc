#include "cli/model_arguments.h"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

constexpr size_t kLargestConfig = size_t{1} << 20;

Result<int64_t> WholeOf(const char* option, std::optional<double> given, int64_t otherwise) {
  constexpr double kMost = 1e15;  // far above what is described
  if (!given) return otherwise;
  if (std::floor(*given) != *given || *given > kMost) {
    return MisuseError(
        fmt::format("{} {}: is not a whole number that a model can take", option, *given));
  }
  return static_cast<int64_t>(*given);
}

Result<models::ModelConfig> ReadConfigFile(const std::string& path) {
  auto source = ByteSource::Open(path);
  if (!source) return source.error();
  auto text = ReadAll(*source, kLargestConfig);
  if (!text) return text.error();
  const std::string& name = source->name();
  if (Trim(*text).empty()) {
    return InvalidError(fmt::format("{}: is empty; a model's config.json was expected", name));
  }
  return models::ModelConfig{name, *std::move(text)};
}

}  // namespace

std::vector<Option*> AddDescribeOptions(Command& command, ModelArguments& arguments) {
  std::vector<Option*> added;
  auto number = [&](const char* name, int64_t& value, const char* type, const char* text) {
    added.push_back(
        command.add_option(name, value, text)->check(NonNegativeNumber())->type_name(type));
  };
  number("--prompt", arguments.prompt, "P", "Tokens of the prompt of a generation");
  number("--generate", arguments.generate, "G", "Tokens that are generated after it, one by one");
  number("--context", arguments.context, "C", "Tokens that are in the cache already; default 0");
  number("--decoder-seq", arguments.decoder_seq, "S",
         "Tokens of the decoder of an encoder-decoder model; default: as --seq");
  number("--image-size", arguments.image_size, "N", "Pixels a side; default: as configured");
  number("--gpus", arguments.gpus, "N", "GPUs that the model is split over (tensor parallel)");
  added.push_back(command
                      .add_option("--dtype", arguments.dtype,
                                  "Of weights and activations; default float32. int8 and int4: of "
                                  "the weights of matrix products")
                      ->check(IsMember({"float32", "float16", "bfloat16", "int8", "int4"})));
  added.push_back(
      command.add_option("--attention", arguments.attention, "How it is computed; default eager")
          ->check(IsMember({"eager", "sdpa", "flash"})));
  added.push_back(command
                      .add_option("--set", arguments.set,
                                  "Change a key of the configuration; may be given several times")
                      ->allow_extra_args(false)
                      ->type_name("KEY=VALUE"));
  return added;
}

std::vector<Option*> AddModelOptions(Command& command, ModelArguments& arguments) {
  std::vector<Option*> added;
  added.push_back(command
                      .add_option("name", arguments.model,
                                  "A name that `beryl models` lists, a config.json, a folder with "
                                  "one, or - for standard input")
                      ->type_name("NAME|CONFIG"));
  for (Option* option : AddDescribeOptions(command, arguments)) added.push_back(option);
  added.push_back(command.add_flag("--head", arguments.head,
                                   "With the language model's head, on the last token"));
  added.push_back(
      command
          .add_option("--sweep", arguments.sweep,
                      "Try these values of a key of the configuration or of batch, seq, prompt, "
                      "generate, context, gpus, dtype, attention; a line for each. Several: every "
                      "combination. Keys joined by ':' change together, A:B=1:2,3:4")
          ->allow_extra_args(false)
          ->type_name("KEY=V1,V2,..."));
  return added;
}

Result<models::ModelConfig> ReadConfig(const std::string& model) {
  std::error_code ignored;
  if (model == "-") return ReadConfigFile(model);
  if (std::filesystem::is_directory(model, ignored)) {
    const std::string inside = (std::filesystem::path(model) / "config.json").string();
    if (std::filesystem::exists(inside, ignored)) return ReadConfigFile(inside);
    // A folder of results may be called like a model.
    if (auto known = models::FindConfig(model)) return known;
    return InvalidError(fmt::format(
        "{}: is a folder without a config.json; a model that was downloaded has one", model));
  }
  if (std::filesystem::exists(model, ignored)) return ReadConfigFile(model);
  return models::FindConfig(model);
}

Result<models::DescribeOptions> DescribeOptionsOf(const ModelArguments& arguments) {
  models::DescribeOptions options;
  const auto batch = WholeOf("--batch", arguments.batch, 1);
  if (!batch) return batch.error();
  const auto seq = WholeOf("--seq", arguments.seq, 0);
  if (!seq) return seq.error();
  ModelInput& input = options.input;
  input.batch = *batch;
  input.seq = *seq;
  input.decoder_seq = arguments.decoder_seq;
  input.image_size = arguments.image_size;
  input.prompt = arguments.prompt;
  input.generate = arguments.generate;
  input.context = arguments.context;
  input.gpus = arguments.gpus;
  options.dtype = *ParseDtype(arguments.dtype);
  options.attention = ParseAttention(arguments.attention).value_or(AttentionKind::kEager);
  options.head = arguments.head ? models::HeadChoice::kLanguageModel : models::HeadChoice::kNone;
  for (const std::string& pair : arguments.set) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MisuseError(fmt::format("--set '{}': expected KEY=VALUE, such as num_hidden_layers=6",
                                     Printable(pair)));
    }
    options.set.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return options;
}

}  // namespace beryl::cli
