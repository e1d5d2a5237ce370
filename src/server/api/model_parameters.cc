#include "server/api/model_parameters.h"

#include <algorithm>

#include "flows/option_words.h"

namespace beryl::server {
namespace {

constexpr int64_t kMostOfSize = 1'000'000'000'000;
constexpr int64_t kMostGpus = 1'000'000;

// The command line has KEY=VALUE; in a query, KEY:VALUE needs no escapes.
std::string WithEquals(std::string pair) {
  const size_t colon = pair.find(':');
  if (colon < pair.find('=')) pair[colon] = '=';
  return pair;
}

// The input of a model, and how it runs.
void AskForInput(Parameters& parameters, flows::ModelRequest& asked) {
  asked.batch = parameters.Number("batch", 0);
  asked.seq = parameters.Number("seq", 0);
  asked.prompt = parameters.Whole("prompt", 0, kMostOfSize);
  asked.generate = parameters.Whole("generate", 0, kMostOfSize);
  asked.context = parameters.Whole("context", 0, kMostOfSize);
  asked.decoder_seq = parameters.Whole("decoder_seq", 0, kMostOfSize);
  asked.image_size = parameters.Whole("image_size", 0, kMostOfSize);
  asked.gpus = parameters.Whole("gpus", 1, kMostGpus).value_or(1);
  asked.dtype = parameters.Word("dtype", {"float32", "float16", "bfloat16", "int8", "int4"});
  asked.attention = parameters.Word("attention", {"eager", "sdpa", "flash"});
  for (std::string& pair : parameters.Texts("set")) {
    asked.set.push_back(WithEquals(std::move(pair)));
  }
}

}  // namespace

flows::ModelRequest AskForModel(Parameters& parameters, const HttpRequest& request, bool may_name) {
  flows::ModelRequest asked;
  asked.only_names = true;
  asked.only_whole = true;  // no answer is a table
  if (request.method == "POST" && !(may_name && request.body.empty())) {
    asked.config = models::ModelConfig{"config.json", request.body};
    if (request.body.empty()) parameters.Refuse("body", "a model's config.json is missing");
  } else {
    asked.model = parameters.Text("model");
    parameters.Require("model");
  }
  AskForInput(parameters, asked);
  asked.head = parameters.Flag("head");
  asked.no_head = parameters.Flag("no_head");
  if (asked.head && asked.no_head) parameters.Refuse("no_head", "contradicts head");
  asked.training = parameters.Flag("training");
  asked.optimizer = parameters.Word("optimizer", {"sgd", "adam", "adamw", "adafactor"});
  asked.checkpointing = parameters.Flag("gradient_checkpointing");
  for (const char* name : {"optimizer", "gradient_checkpointing"}) {
    const bool is_given = name[0] == 'o' ? !asked.optimizer.empty() : asked.checkpointing;
    if (is_given && !asked.training) parameters.Refuse(name, "needs training=true");
  }
  return asked;
}

flows::ModelRequest AskForInputOfModels(Parameters& parameters) {
  flows::ModelRequest asked;
  asked.only_names = true;
  AskForInput(parameters, asked);
  return asked;
}

flows::ModelRequest AskForModelThatRan(Parameters& parameters) {
  flows::ModelRequest asked;
  asked.only_names = true;
  asked.model = parameters.Text("model");
  asked.profile = parameters.Text("profile");
  AskForInput(parameters, asked);
  if (asked.model.empty()) {
    for (const char* name : {"profile", "batch", "seq", "prompt", "generate", "context",
                             "decoder_seq", "image_size", "gpus", "dtype", "attention", "set"}) {
      if (parameters.IsGiven(name)) parameters.Refuse(name, "describes a model: name that, too");
    }
  }
  return asked;
}

flows::ElectricityRequest AskForElectricity(Parameters& parameters) {
  flows::ElectricityRequest asked;
  const std::string region = parameters.Text("region");
  if (!region.empty()) asked.region = region;
  asked.price = parameters.Number("price", -1e-9);
  asked.carbon = parameters.Number("carbon", -1e-9);
  return asked;
}

views::ViewOptions AskForCut(Parameters& parameters) {
  views::ViewOptions view;
  if (const auto depth = parameters.Whole("depth", 0, 1000)) view.depth = static_cast<int>(*depth);
  view.level = parameters.Choice("level", flows::LevelWords(), std::optional<Level>());
  return view;
}

views::ViewOptions AskForTree(Parameters& parameters) {
  views::ViewOptions view = AskForCut(parameters);
  view.columns = parameters.List("columns");
  view.fold = parameters.Flag("fold");
  return view;
}

views::Format AskForFormat(Parameters& parameters, views::Formats has) {
  auto named = has.Named();
  std::erase_if(named, [](const auto& pair) { return pair.second == views::Format::kTable; });
  return parameters.Choice("format", named, views::Format::kJson);
}

}  // namespace beryl::server
