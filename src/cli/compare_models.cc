#include "cli/compare_models.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/dataset_arguments.h"
#include "cli/model_of_run.h"
#include "cli/run_data.h"
#include "learn/learn.h"
#include "tree/tree.h"
#include "types/side_by_side.h"
#include "types/unknown.h"

namespace beryl::cli {
namespace {

// "bert.json@h100-sxm": a model, and what predicts it, if anything.
struct ModelOperand {
  std::string model;
  std::string profile;
};

ModelOperand SplitOperand(const std::string& operand) {
  const size_t at = operand.rfind('@');
  if (at == std::string::npos) return {operand, ""};
  return {operand.substr(0, at), operand.substr(at + 1)};
}

struct Side {
  SideBySide::Side look;
  TreeColumns folded;
};

class ModelComparer {
 public:
  explicit ModelComparer(const CompareModelArguments& arguments)
      : arguments_(arguments), described_(arguments.described) {}

  Result<SideBySide> Run() {
    const auto labels = LabelsOf(arguments_.run, arguments_.labels);
    if (!labels) return labels.error();
    // Runs first: what went into them is what the models are asked for.
    const std::vector<std::string>& operands = arguments_.run.runs;
    sides_.resize(operands.size());
    for (const bool models : {false, true}) {
      for (size_t i = 0; i < operands.size(); ++i) {
        if (IsModelOperand(operands[i]) != models) continue;
        auto side = models ? OfModel(SplitOperand(operands[i])) : OfRun(operands[i]);
        if (!side) return side.error();
        sides_[i] = *std::move(side);
        sides_[i].look.label = (*labels)[i];
      }
    }
    return Set();
  }

 private:
  // A run takes the names of the first model that it is set beside.
  Result<Side> OfRun(const std::string& file) {
    RunArguments one = arguments_.run;
    one.runs = {file};
    const auto options = ReadOptions(one);
    if (!options) return options.error();
    auto run = AccountRunOf(one, *options);
    if (!run) return run.error();
    RunModelArguments model;
    model.described = described_;
    for (const std::string& operand : arguments_.run.runs) {
      if (model.described.model.empty() && IsModelOperand(operand)) {
        model.described.model = SplitOperand(operand).model;
      }
    }
    if (auto ok = GiveModel(model, *run); !ok) return ok.error();
    const ModelAlignment& alignment = run->model->alignment;
    if (alignment.matched_modules == 0) {
      return InvalidError(
          fmt::format("{}: no module of {} was found in it, so there is nothing to "
                      "set side by side",
                      file, alignment.model));
    }
    if (!input_) {
      input_ = alignment.input;
      attention_ = run->description->attention;
      // With the head that it ran with, which its configuration need not name.
      ran_ = {model.described.model, run->description->tree[0].type};
    }
    std::vector<Note> notes = alignment.notes;
    std::erase_if(notes,
                  [](const Note& note) { return ClassOf(note.kind) == NoteClass::kAssumed; });
    AppendNotes(notes_, notes, file);
    const AccountReport report = MakeReport(*run, *options);
    Side side;
    side.look.what = fmt::format("{}; one of {:.4g} forward passes, {} of {} modules found",
                                 report.context.energy_source, alignment.passes.value_or(kUnknown),
                                 alignment.matched_modules, alignment.described_modules);
    // The model alone: what stands around it has no counterpart.
    side.folded = tree::OnePass(tree::CutModel(report.folded, run->folded_of[run->model->root]));
    return side;
  }

  // Whoever named a file may have meant a run.
  static Error NoModel(const Error& error, const std::string& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return error;
    return {error.code, fmt::format("{}; nor is it a run file, which beryl import makes from --ops "
                                    "and --power",
                                    error.message)};
  }

  Result<Side> OfModel(const ModelOperand& operand) {
    const auto config = ReadConfig(operand.model);
    if (!config) return NoModel(config.error(), operand.model);
    if (const auto traits = models::TraitsOf(*config); !traits) {
      return NoModel(traits.error(), operand.model);
    }
    auto options = DescribeOptionsOf(described_);
    if (!options) return options.error();
    options->head = models::HeadChoice::kArchitecture;
    if (input_) options->input = *input_;
    if (operand.model == ran_.first) options->architecture = ran_.second;
    if (attention_ && described_.attention.empty()) options->attention = *attention_;
    auto description = models::Describe(*config, *options);
    if (!description) return description.error();
    Side side;
    if (operand.profile.empty()) {
      side.look.what = "described from its configuration alone";
      side.folded = Shown(*description, tree::DescribedColumns(*description, tree::Detail::kWork));
      return side;
    }
    const auto model = FindModel(operand.profile);
    if (!model) return model.error();
    const auto prediction = learn::DescriptionPredictor(*model).Predict(*std::move(description));
    if (!prediction) return prediction.error();
    side.look.what =
        fmt::format("{} by {}{}", OriginName(prediction->energy.origin), prediction->energy.by,
                    prediction->machine.empty() ? "" : ", " + prediction->machine);
    AppendNotes(notes_, prediction->notes, operand.profile);
    side.folded = Shown(prediction->description, tree::PredictedColumns(*prediction));
    return side;
  }

  Provenance MakeStamp() const {
    std::vector<std::string> sources;
    std::vector<std::string> profiles;
    for (const std::string& operand : arguments_.run.runs) {
      const ModelOperand model =
          IsModelOperand(operand) ? SplitOperand(operand) : ModelOperand{operand, ""};
      sources.push_back(model.model);
      const bool known = std::count(profiles.begin(), profiles.end(), model.profile) > 0;
      if (!model.profile.empty() && !known) profiles.push_back(model.profile);
    }
    return MakeProvenance(std::move(sources), fmt::format("{}", fmt::join(profiles, ", ")));
  }

  // Beside a run, which does not tell prefill from decode, a generation is one tree.
  TreeColumns Shown(const Description& description, TreeColumns tree) const {
    if (input_) tree = tree::WithoutPhases(description, std::move(tree));
    return tree::Show(std::move(tree)).folded;
  }

  // The columns that were asked for; else energy where all have it, and the work where not.
  Result<SideBySide> Set() const {
    std::vector<tree::SideToSet> to_set;
    SideBySide set;
    for (const Side& side : sides_) {
      to_set.push_back({side.look.label, &side.folded});
      set.sides.push_back(side.look);
    }
    const std::vector<std::string> common = tree::CommonColumns(to_set);
    const auto all_have = [&](const std::string& name) {
      return std::find(common.begin(), common.end(), name) != common.end();
    };
    set.notes = notes_;
    std::vector<std::string> columns = arguments_.columns;
    if (columns.empty()) {
      columns = {all_have("energy") ? "energy" : "flops"};
      if (!all_have("energy")) set.notes.emplace_back(NoteKind::kComparedByFlops);
    }
    for (const std::string& name : columns) {
      if (all_have(name)) continue;
      return MisuseError(fmt::format("--columns '{}': not all of these have it; all have {}", name,
                                     fmt::join(common, ", ")));
    }
    set.tree = tree::SetSideBySide(to_set, columns);
    set.provenance = MakeStamp();
    return set;
  }

  const CompareModelArguments& arguments_;
  ModelArguments described_;
  std::optional<ModelInput> input_;  // of the first run
  std::optional<AttentionKind> attention_;
  std::pair<std::string, std::string> ran_;  // the model that it is of, and its class
  std::vector<Side> sides_;
  std::vector<Note> notes_;
};

}  // namespace

bool IsModelOperand(const std::string& operand) {
  return operand != "-" && !operand.ends_with(".beryl") && !IsRunFile(operand);
}

int CompareModels(const CompareModelArguments& arguments, OutputFile& output,
                  const views::ViewOptions& view) {
  const auto set = ModelComparer(arguments).Run();
  if (!set) return Fail(set.error());
  if (auto ok = views::CheckLabels(set->tree); !ok) return Fail(ok.error());
  if (auto ok = output.Commit(views::Write(*set, FormatOf(arguments.output.format), view)); !ok) {
    return Fail(ok.error());
  }
  return kSuccess;
}

}  // namespace beryl::cli
