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

// How often sequences of more than one token went in, and how often single ones.
struct Generation {
  tree::SeenInput::Size prompt;
  uint64_t single = 0;
};

Generation GenerationOf(const Sizes& sizes) {
  Generation generation;
  Sizes prompts;
  for (const auto& size : sizes) {
    if (size.length == 1) {
      generation.single += size.count;
    } else {
      prompts.push_back(size);
    }
  }
  if (!prompts.empty()) generation.prompt = MostFrequent(prompts);
  return generation;
}

void TakeTokens(const models::ModelTraits& traits, const Sizes& sizes, ModelInput& input) {
  const Generation generation = GenerationOf(sizes);
  const auto rounds = std::max<uint64_t>(1, generation.prompt.count);
  input.batch = sizes.front().batch;
  if (generation.prompt.count == 0) {
    input.seq = 1;
  } else if (traits.encoder_decoder) {
    // The encoder looks up its tokens first, then the decoder; token by token if it generates.
    input.batch = sizes.front().batch;
    const bool generates = generation.single > 0;
    if (generates) {
      input.prompt = sizes.front().length;
      input.generate = static_cast<int64_t>(generation.single / rounds) - 1;
    } else {
      input.seq = sizes.front().length;
      input.decoder_seq = sizes.back().length;
    }
  } else if (traits.generates && generation.single > 0) {
    input.batch = generation.prompt.batch;
    input.prompt = generation.prompt.length;
    input.generate = static_cast<int64_t>(generation.single / rounds);
  } else {
    input.batch = generation.prompt.batch;
    input.seq = generation.prompt.length;
  }
}

bool IsGiven(const ModelArguments& arguments) {
  return arguments.batch || arguments.seq || arguments.prompt > 0 || arguments.generate > 0 ||
         arguments.context > 0 || arguments.decoder_seq > 0 || arguments.image_size > 0;
}

// What the user said of the input, else what the run shows of it. Returns whether it does.
bool TakeSeen(const models::ModelTraits& traits, const tree::SeenInput& seen,
              const ModelArguments& arguments, models::DescribeOptions& options) {
  if (arguments.attention.empty() && seen.attention) options.attention = *seen.attention;
  if (IsGiven(arguments)) return false;
  if (traits.takes_images && !seen.images.empty()) {
    const auto& image = MostFrequent(seen.images);
    options.input.batch = image.batch;
    options.input.image_size = image.length;
    return true;
  }
  if (traits.takes_images || seen.tokens.empty()) return false;
  TakeTokens(traits, seen.tokens, options.input);
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

Result<bool> GiveModel(const RunModelArguments& arguments, AccountedRun& run) {
  if (arguments.described.model.empty()) return true;
  const auto config = ReadConfig(arguments.described.model);
  if (!config) return config.error();
  const auto traits = models::TraitsOf(*config);
  if (!traits) return traits.error();
  auto options = DescribeOptionsOf(arguments.described);
  if (!options) return options.error();
  options->head = models::HeadChoice::kArchitecture;
  options->architecture = ClassThatRan(*config, run.built.tree);
  tree::SeenInput seen = tree::SeeInput(run.input.ops, traits->vocabulary);
  // A table may have been made larger than configured.
  if (seen.tokens.empty()) seen = tree::SeeInput(run.input.ops, 0);
  const bool input_seen = TakeSeen(*traits, seen, arguments.described, *options);
  auto description = models::Describe(*config, *options);
  if (!description) return description.error();

  TreeColumns described = tree::DescribedColumns(*description, tree::Detail::kAll);
  std::vector<Note> notes = description->notes;
  if (!arguments.profile.empty()) {
    const auto model = FindModel(arguments.profile);
    if (!model) return model.error();
    const auto prediction = learn::DescriptionPredictor(*model).Predict(*description);
    if (!prediction) return prediction.error();
    described.columns.push_back(prediction->energy);
    AppendNotes(notes, prediction->notes);
  }
  run.model = tree::AlignModel(run.input.ops, run.footprint, *description, described, run.built);
  ModelAlignment& alignment = run.model->alignment;
  alignment.input_seen = input_seen;
  if (input_seen && seen.tokens.size() > 2 && !traits->takes_images) {
    notes.push_back({NoteKind::kInputsOfSeveralSizes, "", {SizesText(seen.tokens)}});
  }
  if (alignment.matched_modules == 0) notes.push_back(NoteKind::kNoModuleFound);
  alignment.notes = std::move(notes);
  run.folded = tree::Fold(run.built, &run.folded_of);
  run.description = std::make_shared<const Description>(*std::move(description));
  return true;
}

}  // namespace beryl::cli
