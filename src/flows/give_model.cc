#include "flows/give_model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "flows/find_model.h"
#include "flows/model_request.h"
#include "flows/seen_passes.h"
#include "learn/predict.h"
#include "models/models.h"
#include "tree/tree.h"

namespace beryl::flows {
namespace {

// What the user said of the input, and what the run shows of the rest. Empty: it shows nothing of
// it.
SeenPasses TakeSeen(const models::ModelTraits& traits, const tree::SeenInput& seen,
                    const ModelThatRan::Given& given, models::DescribeOptions& options) {
  if (!given.attention && seen.attention) {
    options.attention = *seen.attention;
    options.attention_of.clear();
  }
  if (!given.dtype && seen.dtype) options.dtype = *seen.dtype;
  if (given.input || (given.batch && given.seq)) return {};
  SeenPasses passes = PassesOf(traits, seen, options.input);
  for (SeenPass& pass : passes.passes) {
    if (given.batch) pass.input.batch = options.input.batch;
    if (given.seq) {
      pass.input.seq = options.input.seq;
      pass.input.prompt = pass.input.generate = 0;
    }
  }
  // What was given is of all passes.
  if ((given.batch || given.seq) && !passes.passes.empty()) {
    passes.passes.resize(1);
    passes.complete = true;
  }
  return passes;
}

// What the class of a model takes and does; empty: the model's own.
models::ModelTraits TraitsOfClass(models::ModelTraits traits, std::string_view architecture) {
  if (architecture.ends_with("EncoderModel")) traits.encoder_decoder = false;
  for (const char* task : {"Classification", "QuestionAnswering"}) {
    if (architecture.find(task) != std::string_view::npos) traits.generates = false;
  }
  return traits;
}

// The model's class in the run, with or without a head; empty if the run does not show it.
std::string ClassThatRan(const models::ModelConfig& config, const ModelTree& run) {
  std::set<std::string_view> tried;
  for (const TreeNode& node : run.nodes) {
    const bool is_new =
        IsModule(node.level) && !node.type.empty() && tried.insert(node.type).second;
    if (is_new && models::IsClassOf(config, node.type)) return node.type;
  }
  return "";
}

// A longer list of inputs is described by its most frequent ones.
constexpr size_t kMostInputs = 4096;

struct DescribedPass {
  Description description;
  std::optional<Column> predicted;
};

// The mean work and prediction of passes that have the same tree, at the first of them.
class MeanPass {
 public:
  bool empty() const { return count_ == 0; }
  bool HasTreeOf(const Description& description) const {
    return description.tree.size() == mean_.description.tree.size();
  }

  void Add(DescribedPass pass, double count) {
    if (empty()) {
      mean_ = pass;
      work_.resize(pass.description.nodes.size());
      runs_.resize(work_.size());
    }
    for (size_t node = 0; node < work_.size(); ++node) {
      work_[node] += pass.description.nodes[node].work * count;
      runs_[node] += pass.description.nodes[node].runs * count;
    }
    for (size_t i = 0; pass.predicted && i < kValues.size(); ++i) {
      const std::vector<double>& values = (*pass.predicted).*kValues[i];
      sums_[i].resize(values.size());
      for (size_t node = 0; node < values.size(); ++node) sums_[i][node] += values[node] * count;
    }
    count_ += count;
  }

  DescribedPass Take() {
    if (empty()) return {};
    for (size_t node = 0; node < work_.size(); ++node) {
      mean_.description.nodes[node].work = work_[node] * (1 / count_);
      mean_.description.nodes[node].runs = runs_[node] / count_;
    }
    for (size_t i = 0; mean_.predicted && i < kValues.size(); ++i) {
      for (double& value : sums_[i]) value /= count_;
      (*mean_.predicted).*kValues[i] = std::move(sums_[i]);
    }
    return std::move(mean_);
  }

 private:
  static constexpr std::array kValues = {&Column::total, &Column::low, &Column::high};

  DescribedPass mean_;
  double count_ = 0;
  std::vector<Work> work_;
  std::vector<double> runs_;
  std::array<std::vector<double>, 3> sums_;
};

// Replaces what the encoder does by that of another pass with the same tree.
void TakeEncoder(const DescribedPass& from, DescribedPass& pass) {
  Description& description = pass.description;
  const ModelTree& tree = description.tree;
  const auto scope = [&](NodeId node) { return description.nodes[node].scope; };
  const auto replace = [&](const auto& value_of) {
    for (NodeId node = 1; node < tree.size(); ++node) {
      if (scope(node) != "encoder" || scope(tree[node].parent) == "encoder") continue;
      auto change = value_of(from, node);
      change += value_of(pass, node) * -1.0;
      for (NodeId around = tree[node].parent;; around = tree[around].parent) {
        value_of(pass, around) += change;
        if (around == 0) break;
      }
      for (NodeId below = node; below < tree[node].end; ++below) {
        value_of(pass, below) = value_of(from, below);
      }
    }
  };
  replace([](auto& of, NodeId node) -> auto& { return of.description.nodes[node].work; });
  if (!pass.predicted) return;
  for (const auto values : {&Column::total, &Column::low, &Column::high}) {
    if (((*pass.predicted).*values).empty()) continue;
    replace([values](auto& of, NodeId node) -> auto& { return ((*of.predicted).*values)[node]; });
  }
}

// Adds what passes of other sizes did not say. The first pass, whose input is shown, says most.
void AddNewNotes(std::vector<Note>& to, const std::vector<Note>& of_pass) {
  const size_t known = to.size();
  for (const Note& note : of_pass) {
    const bool said = std::any_of(
        to.begin(), to.begin() + static_cast<std::ptrdiff_t>(known), [&](const Note& one) {
          return one.kind == note.kind && one.subject == note.subject && one.source == note.source;
        });
    if (!said) to.push_back(note);
  }
}

// The run aligned with one of a model's classes.
struct Fit {
  Description description;  // of the mean pass
  bool input_seen = false;
  tree::ModelOfRun model;
  TraceTree built;
  std::vector<Note> notes;
};

// `architecture`: the class; empty: the one in the configuration. `within`: the parts of the run
// whose input is used; empty: all.
Result<Fit> FitModel(const ModelThatRan& asked, const models::ModelConfig& config,
                     const std::string& architecture, const AccountedRun& run,
                     const std::vector<bool>& within = {}) {
  const auto traits = TraitsOfClass(TRY(models::TraitsOf(config)), architecture);
  models::DescribeOptions options = asked.describe;
  options.head = models::HeadChoice::kArchitecture;
  options.architecture = architecture;
  const auto see = [&](const std::vector<bool>& in) {
    auto seen = tree::SeeInput(run.input.ops, run.built, traits.vocabulary, in);
    // A table may be larger than configured.
    return seen.tokens.empty() ? tree::SeeInput(run.input.ops, run.built, 0, in) : seen;
  };
  const tree::SeenInput seen = see(within);
  std::optional<EnergyModel> profile;
  std::optional<learn::DescriptionPredictor> predictor;
  if (!asked.profile.empty()) {
    profile = TRY(asked.only_names ? FindProfile(asked.profile) : ReadProfile(asked.profile));
    predictor.emplace(*profile);
    if (!asked.given.attention) TakeUsualAttention(&*profile, options);
  }
  Fit fit;
  SeenPasses inputs = TakeSeen(traits, seen, asked.given, options);
  fit.input_seen = !inputs.passes.empty();
  if (!fit.input_seen) inputs.passes.push_back({options.input, 1});
  if (inputs.passes.size() > kMostInputs) {
    inputs.passes.resize(kMostInputs);
    inputs.complete = false;
  }
  const auto describe = [&](const ModelInput& input) -> Result<DescribedPass> {
    options.input = input;
    DescribedPass pass{TRY(models::Describe(config, options)), {}};
    if (predictor) {
      const auto prediction = TRY(predictor->Predict(pass.description));
      pass.predicted = prediction.energy;
      AddNewNotes(fit.notes, prediction.notes);
    }
    return pass;
  };
  MeanPass mean;
  int64_t beams = 1;
  for (const SeenPass& pass : inputs.passes) {
    ModelInput input = pass.input;
    input.batch *= pass.beams;
    auto described = TRY(describe(input));
    if (!mean.empty() && !mean.HasTreeOf(described.description)) {
      inputs.complete = false;  // a generation among passes that are none, or the reverse
      continue;
    }
    AddNewNotes(fit.notes, described.description.notes);
    if (pass.beams > 1) {
      TakeEncoder(TRY(describe(pass.input)), described);
      described.description.input = pass.input;
      beams = std::max(beams, pass.beams);
    }
    mean.Add(std::move(described), static_cast<double>(pass.count));
  }
  if (fit.input_seen && (inputs.passes.size() > 1 || !inputs.complete)) {
    fit.notes.push_back(
        {inputs.complete ? NoteKind::kInputsOfSeveralSizes : NoteKind::kInputsNotDescribed,
         "",
         {SizesText(traits.takes_images ? seen.images : seen.tokens)}});
  }
  if (beams > 1) fit.notes.push_back({NoteKind::kBeamsSeen, "", {beams}});
  if (!inputs.cache_seen) fit.notes.emplace_back(NoteKind::kCacheNotSeen);
  DescribedPass pass = mean.Take();
  fit.description = std::move(pass.description);
  TreeColumns described = tree::DescribedColumns(fit.description, tree::Detail::kAll);
  if (pass.predicted) described.columns.push_back(*std::move(pass.predicted));
  fit.built = run.built;
  fit.model = tree::AlignModel(run.input.ops, run.footprint, fit.description, described, fit.built);
  ModelAlignment& alignment = fit.model.alignment;
  alignment.dtype = fit.description.dtype;
  alignment.dtype_seen = !asked.given.dtype && seen.dtype.has_value();
  // Another model in the run has its own input.
  const std::vector<bool>& found = fit.model.found;
  if (within.empty() && alignment.matched_modules > 0 && see(found) != seen) {
    return FitModel(asked, config, architecture, run, found);
  }
  return fit;
}

// Of the energy inside modules; NaN: not known.
double MatchedShare(const ModelAlignment& alignment) {
  return ValueOrNan(alignment.matched_energy) / ValueOrNan(alignment.module_energy);
}

// Whether so little was found that another model with like parts may have run.
bool IsPoor(const ModelAlignment& alignment) {
  constexpr double kFewest = 0.9;
  return static_cast<double>(alignment.matched_modules) <
             kFewest * static_cast<double>(alignment.described_modules) ||
         MatchedShare(alignment) < kFewest;
}

}  // namespace

Status GiveModel(const ModelThatRan& asked, AccountedRun& run) {
  const auto config =
      TRY(asked.only_names ? models::FindConfig(asked.model) : ReadConfig(asked.model));
  const std::string ran = ClassThatRan(config, run.built.tree);
  auto fit = TRY(FitModel(asked, config, ran, run));
  if (!ran.empty() && !fit.model.alignment.unmatched.empty()) {
    // An unknown class, or one that was not called, may be a head on the class that was seen.
    auto named = FitModel(asked, config, "", run);
    if (named && named->model.alignment.not_found.empty() &&
        named->model.alignment.matched_modules > fit.model.alignment.matched_modules) {
      fit = *std::move(named);
    }
  }
  run.built = std::move(fit.built);
  run.model = std::move(fit.model);
  run.profile = asked.profile;
  ModelAlignment& alignment = run.model->alignment;
  alignment.input_seen = fit.input_seen;
  AppendNotes(fit.notes, alignment.notes);
  alignment.notes = std::move(fit.notes);
  if (alignment.matched_modules == 0) {
    alignment.notes.emplace_back(NoteKind::kNoModuleFound);
  } else if (ran.empty() && IsPoor(alignment)) {
    alignment.notes.push_back(
        {NoteKind::kFewModulesFound,
         "",
         {alignment.matched_modules, alignment.described_modules, MatchedShare(alignment)}});
  }
  if (!alignment.other_sizes.empty()) {
    alignment.notes.push_back({NoteKind::kWeightsOfOtherSizes,
                               alignment.other_sizes.front(),
                               {alignment.other_sizes.size(), alignment.matched_modules}});
  }
  run.folded = Fold(run.built, &run.folded_of);
  run.description = std::make_shared<const Description>(std::move(fit.description));
  return {};
}

}  // namespace beryl::flows
