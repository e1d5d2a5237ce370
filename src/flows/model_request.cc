#include "flows/model_request.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "flows/find_model.h"

namespace beryl::flows {
namespace {

Result<int64_t> WholeOf(const char* subject, std::string_view option, std::optional<double> given,
                        int64_t otherwise) {
  constexpr double kMost = 1e15;  // far above what is described
  if (!given) return otherwise;
  if (std::floor(*given) != *given || *given > kMost) {
    return MisuseError(
        fmt::format("{} {}: not a whole number that a model accepts", subject, *given), {option});
  }
  return static_cast<int64_t>(*given);
}

}  // namespace

Result<models::ModelConfig> ConfigOf(const ModelRequest& request) {
  if (request.config) return *request.config;
  return request.only_names ? models::FindConfig(request.model) : ReadConfig(request.model);
}

ModelThatRan::Given GivenBy(const ModelRequest& request) {
  bool input = false;
  for (const auto& size : {request.prompt, request.generate, request.context, request.decoder_seq,
                           request.image_size}) {
    input = input || size.value_or(0) > 0;
  }
  return {.batch = request.batch.has_value(),
          .seq = request.seq.has_value(),
          .input = input,
          .attention = !request.attention.empty(),
          .dtype = !request.dtype.empty()};
}

void TakeUsualAttention(const EnergyModel* profile, models::DescribeOptions& options) {
  const bool measured = profile != nullptr && profile->described() != nullptr;
  options.attention = measured ? profile->trained_on.attention : AttentionKind::kSdpa;
  options.attention_of = options.attention != AttentionKind::kSdpa ? profile->name : std::string();
}

Result<models::DescribeOptions> DescribeOptionsOf(const ModelRequest& request,
                                                  const EnergyModel* profile) {
  models::DescribeOptions options;
  ModelInput& input = options.input;
  input.batch = TRY(WholeOf("batch size", "batch", request.batch, 1));
  input.seq = TRY(WholeOf("sequence length", "seq", request.seq, 0));
  input.decoder_seq = request.decoder_seq.value_or(0);
  input.image_size = request.image_size.value_or(0);
  input.prompt = request.prompt.value_or(0);
  input.generate = request.generate.value_or(0);
  input.context = request.context.value_or(0);
  input.gpus = request.gpus;
  options.dtype = ParseDtype(request.dtype);
  if (const auto attention = ParseAttention(request.attention)) {
    options.attention = *attention;
  } else {
    TakeUsualAttention(profile, options);
  }
  options.head = request.head      ? models::HeadChoice::kLanguageModel
                 : request.no_head ? models::HeadChoice::kNone
                                   : models::HeadChoice::kUsual;
  if (request.training) {
    options.training = {ParseOptimizer(request.optimizer).value_or(OptimizerKind::kAdamw),
                        request.checkpointing};
  }
  for (const std::string& pair : request.set) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MisuseError(
          fmt::format("setting '{}': expected KEY=VALUE, such as num_hidden_layers=6",
                      Printable(pair)),
          {"set"});
    }
    options.set.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return options;
}

Status GiveModel(const ModelRequest& request, AccountedRun& run) {
  if (request.model.empty()) {
    if (!request.batch && !request.seq) return {};
    return MisuseError(
        "batch size and sequence length describe the model that ran: name that model too",
        {"batch", "seq", "model"});
  }
  auto describe = TRY(DescribeOptionsOf(request));
  return GiveModel(
      {request.model, request.profile, std::move(describe), GivenBy(request), request.only_names},
      run);
}

}  // namespace beryl::flows
