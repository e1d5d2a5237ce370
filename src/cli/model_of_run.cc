#include "cli/model_of_run.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "learn/learn.h"
#include "models/models.h"
#include "tree/tree.h"

namespace beryl::cli {
namespace {

using Sizes = std::vector<tree::SeenInput::Size>;

// Of several, the one that ran most often, and of those the first.
const tree::SeenInput::Size& MostFrequent(const Sizes& sizes) {
  return *std::max_element(sizes.begin(), sizes.end(),
                           [](const auto& a, const auto& b) { return a.count < b.count; });
}

// Sequences of more than one token that went in, and how often single ones did.
struct Generation {
  Sizes prompts;
  uint64_t rounds = 0;  // how often prompts did
  uint64_t single = 0;
};

Generation GenerationOf(const Sizes& sizes) {
  Generation generation;
  for (const auto& size : sizes) {
    if (size.length == 1) {
      generation.single += size.count;
    } else {
      generation.prompts.push_back(size);
      generation.rounds += size.count;
    }
  }
  return generation;
}

void TakeTokens(const models::ModelTraits& traits, const Sizes& sizes, ModelInput& input) {
  const Generation generation = GenerationOf(sizes);
  input.batch = sizes.front().batch;
  if (generation.prompts.empty()) {
    input.seq = 1;
    return;
  }
  const auto generated = static_cast<int64_t>(generation.single / generation.rounds);
  if (traits.encoder_decoder) {
    // The encoder looks up its tokens first, then the decoder; token by token if it generates.
    if (generation.single > 0) {
      input.prompt = sizes.front().length;
      input.generate = generated - 1;
    } else {
      input.seq = sizes.front().length;
      input.decoder_seq = sizes.back().length;
    }
    return;
  }
  const tree::SeenInput::Size& usual = MostFrequent(generation.prompts);
  input.batch = usual.batch;
  if (traits.generates && generation.single > 0) {
    input.prompt = usual.length;
    input.generate = generated;
  } else {
    input.seq = usual.length;
  }
}

// Whether something went into the run that the described input does not have.
bool HasOtherSizes(const Sizes& sizes, const ModelInput& input) {
  return std::any_of(sizes.begin(), sizes.end(), [&](const tree::SeenInput::Size& size) {
    const bool known = size.length == input.seq || size.length == input.decoder_seq ||
                       size.length == input.prompt || (size.length == 1 && input.prompt > 0);
    return size.batch != input.batch || !known;
  });
}

// What the user said of the input, and for what was not said what the run shows. Returns whether it
// shows anything of it.
bool TakeSeen(const models::ModelTraits& traits, const tree::SeenInput& seen,
              const ModelArguments& arguments, models::DescribeOptions& options) {
  if (arguments.attention.empty() && seen.attention) options.attention = *seen.attention;
  const bool given = arguments.prompt > 0 || arguments.generate > 0 || arguments.context > 0 ||
                     arguments.decoder_seq > 0 || arguments.image_size > 0;
  if (given || (arguments.batch && arguments.seq)) return false;
  const ModelInput said = options.input;
  if (traits.takes_images && !seen.images.empty()) {
    const auto& image = MostFrequent(seen.images);
    options.input.batch = image.batch;
    options.input.image_size = image.length;
  } else if (!traits.takes_images && !seen.tokens.empty()) {
    TakeTokens(traits, seen.tokens, options.input);
  } else {
    return false;
  }
  if (arguments.batch) options.input.batch = said.batch;
  if (arguments.seq) {
    options.input.seq = said.seq;
    options.input.prompt = options.input.generate = 0;
  }
  return true;
}

// The model's class as the run has it, with or without a head; empty: the run does not tell.
std::string ClassThatRan(const models::ModelConfig& config, const ModelTree& run) {
  std::set<std::string_view> tried;
  for (const TreeNode& node : run.nodes) {
    const bool is_new =
        IsModule(node.level) && !node.type.empty() && tried.insert(node.type).second;
    if (is_new && models::IsClassOf(config, node.type)) return node.type;
  }
  return "";
}

std::string SizesText(const Sizes& sizes) {
  std::string text;
  for (const auto& size : sizes) {
    text += fmt::format("{}{}x{} ({} times)", text.empty() ? "" : ", ", size.batch, size.length,
                        size.count);
  }
  return text;
}

}  // namespace

void AddRunModelOptions(Command& command, RunModelArguments& arguments) {
  command
      .add_option("--model", arguments.described.model,
                  "The model that ran: a name that `beryl models` lists, or its config.json; the "
                  "tree takes its names, FLOPs, bytes and parameters")
      ->type_name("NAME|CONFIG");
  command
      .add_option("--profile", arguments.profile,
                  "With --model: predict it too, by a profile's name or a file of beryl train")
      ->type_name("NAME|FILE")
      ->needs(command.get_option("--model"));
  AddSizeOptions(command, arguments.described.batch, arguments.described.seq,
                 "read off the shapes in the trace");
  for (Option* option : AddDescribeOptions(command, arguments.described)) {
    option->needs(command.get_option("--model"));
  }
}

namespace {

// The run as one of a model's classes.
struct Fit {
  Description description;
  bool input_seen = false;
  tree::ModelOfRun model;
  tree::TraceTree built;
  std::vector<Note> notes;
};

// `architecture`: the class; empty: the one that the configuration names.
Result<Fit> FitModel(const RunModelArguments& arguments, const models::ModelConfig& config,
                     const std::string& architecture, const AccountedRun& run) {
  auto traits = models::TraitsOf(config);
  if (!traits) return traits.error();
  if (architecture.ends_with("EncoderModel")) traits->encoder_decoder = false;
  auto options = DescribeOptionsOf(arguments.described);
  if (!options) return options.error();
  options->head = models::HeadChoice::kArchitecture;
  options->architecture = architecture;
  tree::SeenInput seen = tree::SeeInput(run.input.ops, traits->vocabulary);
  // A table may have been made larger than configured.
  if (seen.tokens.empty()) seen = tree::SeeInput(run.input.ops, 0);
  Fit fit;
  fit.input_seen = TakeSeen(*traits, seen, arguments.described, *options);
  auto description = models::Describe(config, *options);
  if (!description) return description.error();
  fit.description = *std::move(description);
  fit.notes = fit.description.notes;
  TreeColumns described = tree::DescribedColumns(fit.description, tree::Detail::kAll);
  if (!arguments.profile.empty()) {
    const auto model = FindModel(arguments.profile);
    if (!model) return model.error();
    const auto prediction = learn::DescriptionPredictor(*model).Predict(fit.description);
    if (!prediction) return prediction.error();
    described.columns.push_back(prediction->energy);
    AppendNotes(fit.notes, prediction->notes);
  }
  if (fit.input_seen && !traits->takes_images &&
      HasOtherSizes(seen.tokens, fit.description.input)) {
    fit.notes.push_back({NoteKind::kInputsOfSeveralSizes, "", {SizesText(seen.tokens)}});
  }
  fit.built = run.built;
  fit.model = tree::AlignModel(run.input.ops, run.footprint, fit.description, described, fit.built);
  return fit;
}

}  // namespace

Result<bool> GiveModel(const RunModelArguments& arguments, AccountedRun& run) {
  if (arguments.described.model.empty()) {
    if (!arguments.described.batch && !arguments.described.seq) return true;
    return MisuseError("--batch and --seq are of the model that ran: name it with --model");
  }
  const auto config = ReadConfig(arguments.described.model);
  if (!config) return config.error();
  const std::string ran = ClassThatRan(*config, run.built.tree);
  auto fit = FitModel(arguments, *config, ran, run);
  if (!fit) return fit.error();
  if (!ran.empty() && !fit->model.alignment.unmatched.empty()) {
    // A class that is not known, or that was not called, may have a head on the one that was seen.
    auto named = FitModel(arguments, *config, "", run);
    if (named && named->model.alignment.not_found.empty() &&
        named->model.alignment.matched_modules > fit->model.alignment.matched_modules) {
      fit = std::move(named);
    }
  }
  run.built = std::move(fit->built);
  run.model = std::move(fit->model);
  run.profile = arguments.profile;
  ModelAlignment& alignment = run.model->alignment;
  alignment.input_seen = fit->input_seen;
  alignment.notes = std::move(fit->notes);
  if (alignment.matched_modules == 0) alignment.notes.emplace_back(NoteKind::kNoModuleFound);
  if (!alignment.other_sizes.empty()) {
    alignment.notes.push_back({NoteKind::kWeightsOfOtherSizes,
                               alignment.other_sizes.front(),
                               {alignment.other_sizes.size(), alignment.matched_modules}});
  }
  run.folded = tree::Fold(run.built, &run.folded_of);
  run.description = std::make_shared<const Description>(std::move(fit->description));
  return true;
}

}  // namespace beryl::cli
