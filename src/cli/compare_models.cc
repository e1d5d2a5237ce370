#include "cli/compare_models.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/dataset_arguments.h"
#include "cli/model_of_run.h"
#include "learn/learn.h"
#include "store/store.h"
#include "tree/tree.h"
#include "types/side_by_side.h"
#include "types/unknown.h"
#include "version.h"

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

bool IsRunFile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  auto source = ByteSource::Open(path);
  if (!source) return false;
  const auto first = source->Peek(64);
  return first && store::IsRunFile(*first);
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
    if (!input_) input_ = alignment.input;
    for (const std::string& note : alignment.notes) notes_.push_back(file + ": " + note);
    const AccountReport report = MakeReport(*run, *options);
    Side side;
    side.look.what = fmt::format("{}; one of {:.4g} forward passes, {} of {} modules found",
                                 report.context.energy_source, alignment.passes.value_or(kUnknown),
                                 alignment.matched_modules, alignment.described_modules);
    // The model alone: what stands around it has no counterpart.
    side.folded = tree::CutModel(report.folded, run->folded_of[run->model->root]);
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
    auto description = models::Describe(*config, *options);
    if (!description) return description.error();
    Side side;
    if (operand.profile.empty()) {
      side.look.what = "described from its configuration alone";
      side.folded = tree::Show(tree::DescribedColumns(*description, tree::Detail::kWork)).folded;
      return side;
    }
    const auto model = FindModel(operand.profile);
    if (!model) return model.error();
    const auto prediction = learn::DescriptionPredictor(*model).Predict(*std::move(description));
    if (!prediction) return prediction.error();
    side.look.what =
        fmt::format("{} by {}{}", OriginName(prediction->energy.origin), prediction->energy.by,
                    prediction->machine.empty() ? "" : ", " + prediction->machine);
    for (const std::string& note : prediction->notes)
      notes_.push_back(operand.profile + ": " + note);
    side.folded = tree::Show(tree::PredictedColumns(*prediction)).folded;
    return side;
  }

  // Energy where all have it, of one pass; else the work that all have.
  Result<SideBySide> Set() const {
    const auto energy_of = [](const TreeColumns& tree) {
      return tree.Find("pass") != nullptr ? "pass" : "energy";
    };
    const bool energy = std::all_of(sides_.begin(), sides_.end(), [&](const Side& side) {
      return side.folded.Find(energy_of(side.folded)) != nullptr;
    });
    std::vector<tree::SideToSet> to_set;
    SideBySide set;
    for (const Side& side : sides_) {
      to_set.push_back({side.look.label, &side.folded, energy ? energy_of(side.folded) : "flops"});
      set.sides.push_back(side.look);
    }
    set.tree = tree::SetSideBySide(to_set);
    set.tool = kTool;
    set.notes = notes_;
    if (!energy) {
      set.notes.emplace_back(
          "not all of these have energy: FLOPs are compared (NAME@PROFILE predicts energy)");
    }
    return set;
  }

  const CompareModelArguments& arguments_;
  ModelArguments described_;
  std::optional<ModelInput> input_;
  std::vector<Side> sides_;
  std::vector<std::string> notes_;
};

}  // namespace

bool IsModelOperand(const std::string& operand) {
  return operand != "-" && !operand.ends_with(".beryl") && !IsRunFile(operand);
}

int CompareModels(const CompareModelArguments& arguments, OutputFile& output,
                  const views::ViewOptions& view) {
  const auto set = ModelComparer(arguments).Run();
  if (!set) return Fail(set.error());
  if (auto ok = views::CheckColumns(set->tree, view); !ok) return Fail(ok.error());
  if (auto ok = output.Commit(views::Write(*set, FormatOf(arguments.output.format), view)); !ok) {
    return Fail(ok.error());
  }
  return kSuccess;
}

}  // namespace beryl::cli
