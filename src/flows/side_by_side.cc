#include "flows/side_by_side.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyze/analyze.h"
#include "flows/find_model.h"
#include "flows/model_request.h"
#include "flows/run_data.h"
#include "learn/predict.h"
#include "tree/tree.h"

namespace beryl::flows {
namespace {

struct Side {
  SideBySide::Side look;
  TreeColumns folded;
};

// What the numbers of an aligned run are of: "; one of 4 forward passes". Empty: not known.
std::string PassOf(const ModelAlignment& alignment) {
  if (!alignment.passes) return "";
  const std::string_view pass = alignment.input.prompt > 0 ? "generation" : "forward pass";
  if (*alignment.passes == 1) return fmt::format("; one {}", pass);
  return fmt::format("; one of {:.4g} {}{}", *alignment.passes, pass,
                     pass.ends_with('s') ? "es" : "s");
}

class ModelComparer {
 public:
  ModelComparer(const std::vector<Operand>& operands, const SideBySideOptions& options)
      : operands_(operands), options_(options) {}

  Result<SideBySide> Run() {
    // Runs first, because models are described with their input.
    sides_.resize(operands_.size());
    for (const bool models : {false, true}) {
      for (size_t i = 0; i < operands_.size(); ++i) {
        const Operand& operand = operands_[i];
        if (operand.run.empty() != models) continue;
        auto side = TRY(models ? OfModel(operand) : OfRun(operand));
        sides_[i] = std::move(side);
        sides_[i].look.label = operand.label;
      }
    }
    return Set();
  }

 private:
  // A run gets the names of the first model it is compared with; without one it stays as it is.
  Result<Side> OfRun(const Operand& operand) {
    const std::string& file = operand.run;
    auto input = TRY(operand.read ? operand.read() : ReadRunFiles(file));
    auto run = TRY(AccountRun(std::move(input), options_.run));
    const auto first_model = std::find_if(operands_.begin(), operands_.end(),
                                          [](const Operand& one) { return one.run.empty(); });
    if (first_model == operands_.end()) {
      AccountReport report = MakeReport(run, options_.run);
      AppendNotes(incomplete_, report.provenance.incomplete);
      Side side;
      side.look.what = report.context.energy_source;
      side.folded = std::move(report.folded);
      return side;
    }
    const std::string& model = first_model->model;
    TRY(GiveModel({model, "", options_.describe, options_.given, options_.only_names}, run));
    const ModelAlignment& alignment = run.model->alignment;
    if (alignment.matched_modules == 0) {
      return InvalidError(fmt::format("{}: it has no module of {}, so there is nothing to compare",
                                      file, alignment.model));
    }
    if (!input_) {
      input_ = alignment.input;
      attention_ = run.description->attention;
      dtype_ = run.description->dtype;
      // With the head that ran, which its configuration may not name.
      ran_ = {model, run.description->tree[0].type};
    }
    std::vector<Note> notes = alignment.notes;
    std::erase_if(notes,
                  [](const Note& note) { return ClassOf(note.kind) == NoteClass::kAssumed; });
    AppendNotes(notes_, notes, file);
    const AccountReport report = MakeReport(run, options_.run);
    AppendNotes(incomplete_, report.provenance.incomplete);
    Side side;
    side.look.what =
        fmt::format("{}{}; {} of {} modules found", report.context.energy_source, PassOf(alignment),
                    alignment.matched_modules, alignment.described_modules);
    // The model alone: the nodes around it have no counterpart.
    side.folded = tree::OnePass(tree::CutModel(report.folded, run.folded_of[run.model->root]));
    return side;
  }

  // A wrong file name may have been meant as a run.
  static Error NoModel(Error error, const std::string& file) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) {
      error.message += "; nor is it a run file, which beryl import writes from traces";
      error.options = {"ops", "power"};
    }
    return error;
  }

  Result<Side> OfModel(const Operand& operand) {
    const auto config =
        options_.only_names ? models::FindConfig(operand.model) : ReadConfig(operand.model);
    if (!config && options_.only_names) return config.error();
    if (!config) return NoModel(config.error(), operand.model);
    if (const auto traits = models::TraitsOf(*config); !traits) {
      return NoModel(traits.error(), operand.model);
    }
    models::DescribeOptions options = options_.describe;
    options.head = models::HeadChoice::kArchitecture;
    if (input_) options.input = *input_;
    if (operand.model == ran_.first) options.architecture = ran_.second;
    std::optional<EnergyModel> model;
    if (!operand.profile.empty()) {
      model =
          TRY(options_.only_names ? FindProfile(operand.profile) : ReadProfile(operand.profile));
    }
    if (!options_.given.attention) {
      TakeUsualAttention(model ? &*model : nullptr, options);
      if (attention_) {
        options.attention = *attention_;
        options.attention_of.clear();
      }
    }
    if (dtype_ && !options_.given.dtype) options.dtype = *dtype_;
    auto description = TRY(models::Describe(*config, options));
    Side side;
    if (!model) {
      side.look.what = "described from its configuration alone";
      side.folded = Shown(description, tree::DescribedColumns(description, tree::Detail::kWork));
      return side;
    }
    const auto prediction =
        TRY(learn::DescriptionPredictor(*model).Predict(std::move(description)));
    side.look.what =
        fmt::format("{} by {}{}", OriginName(prediction.energy.origin), prediction.energy.by,
                    prediction.machine.empty() ? "" : ", " + prediction.machine);
    AppendNotes(notes_, prediction.notes, operand.profile);
    side.folded = Shown(prediction.description, tree::PredictedColumns(prediction));
    return side;
  }

  Provenance MakeStamp() const {
    std::vector<std::string> sources;
    std::vector<std::string> profiles;
    for (const Operand& operand : operands_) {
      sources.push_back(operand.run.empty() ? operand.model : operand.run);
      const bool known = std::count(profiles.begin(), profiles.end(), operand.profile) > 0;
      if (!operand.profile.empty() && !known) profiles.push_back(operand.profile);
    }
    return MakeProvenance(std::move(sources), fmt::format("{}", fmt::join(profiles, ", ")));
  }

  // Next to a run, which does not separate prefill from decode, a generation is one tree.
  TreeColumns Shown(const Description& description, TreeColumns tree) const {
    if (input_) tree = tree::WithoutPhases(description, std::move(tree));
    return tree::Show(std::move(tree)).folded;
  }

  // The requested columns; otherwise energy if all sides have it, and the work if not.
  Result<SideBySide> Set() const {
    std::vector<analyze::SideToSet> to_set;
    SideBySide set;
    for (const Side& side : sides_) {
      to_set.push_back({side.look.label, &side.folded});
      set.sides.push_back(side.look);
    }
    const std::vector<std::string> common = analyze::CommonColumns(to_set);
    const auto all_have = [&](const std::string& name) {
      return std::find(common.begin(), common.end(), name) != common.end();
    };
    set.notes = notes_;
    std::vector<std::string> columns = options_.columns;
    if (columns.empty()) {
      columns = {all_have("energy") ? "energy" : "flops"};
      if (!all_have("energy")) set.notes.emplace_back(NoteKind::kComparedByFlops);
    }
    for (const std::string& name : columns) {
      if (all_have(name)) continue;
      return MisuseError(fmt::format("column '{}': not all operands have it; all have {}", name,
                                     fmt::join(common, ", ")),
                         {"columns"});
    }
    set.tree = analyze::SetSideBySide(to_set, columns);
    set.provenance = MakeStamp();
    AddIncomplete(incomplete_, "", set.provenance);
    return set;
  }

  const std::vector<Operand>& operands_;
  const SideBySideOptions& options_;
  std::optional<ModelInput> input_;  // of the first run
  std::optional<AttentionKind> attention_;
  std::optional<Dtype> dtype_;               // likewise
  std::pair<std::string, std::string> ran_;  // the model of the first run, and its class
  std::vector<Side> sides_;
  std::vector<Note> notes_;
  std::vector<Note> incomplete_;
};

}  // namespace

Operand ReadOperand(const std::string& text) {
  const std::vector<std::string> files = FilesOfRun(text);
  const bool is_run =
      text == "-" || text.ends_with(".beryl") || std::all_of(files.begin(), files.end(), IsRunFile);
  if (is_run) return {.run = text};
  const size_t at = text.rfind('@');
  if (at == std::string::npos) return {.model = text};
  return {.model = text.substr(0, at), .profile = text.substr(at + 1)};
}

Result<SideBySide> CompareWithModels(const std::vector<Operand>& operands,
                                     const SideBySideOptions& options) {
  return ModelComparer(operands, options).Run();
}

}  // namespace beryl::flows
