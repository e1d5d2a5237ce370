#include "flows/learn_machine.h"

#include <utility>

#include "flows/described_data.h"
#include "flows/read_data.h"
#include "learn/evaluate.h"

namespace beryl::flows {

Result<EnergyModel> TrainMachine(Dataset& data, const learn::TrainOptions& options) {
  if (options.method != Method::kLaw && options.method != Method::kDescribe) {
    return learn::Train(data, options);
  }
  learn::TrainOptions describe = options;
  describe.method = Method::kDescribe;
  describe.seconds = true;
  if (options.method == Method::kDescribe) {
    DescribeRuns(data);
    return learn::Train(data, describe);
  }
  auto law = learn::Train(data, options);
  if (!law) return law;
  DescribeRuns(data);
  if (auto described = learn::Train(data, describe)) law->beside = *described->described();
  return law;
}

Result<EnergyModel> TrainMachine(const TrainingData& from, const learn::TrainOptions& options,
                                 const std::string& machine, std::vector<Note>& notes) {
  auto data = TRY(ReadData(from.path, true, from.models));
  AppendNotes(notes, data.notes);
  return TrainMachine(data, options, machine);
}

Result<EnergyModel> TrainMachine(Dataset& data, const learn::TrainOptions& options,
                                 const std::string& machine) {
  auto model = TRY(TrainMachine(data, options));
  model.trained_on.machine = machine;
  model.provenance = MakeProvenance({data.name});
  return model;
}

Result<Evaluation> EvaluateMethod(const std::string& path, const std::string& test,
                                  const learn::TrainOptions& options, uint64_t seeds,
                                  FoldBy fold_by) {
  auto data = TRY(ReadData(path, true));
  std::optional<Dataset> other;
  if (!test.empty()) other = TRY(ReadData(test, true));
  return EvaluateMethod(std::move(data), std::move(other), options, seeds, fold_by);
}

Result<Evaluation> EvaluateMethod(Dataset data, std::optional<Dataset> test,
                                  const learn::TrainOptions& options, uint64_t seeds,
                                  FoldBy fold_by) {
  if (options.method == Method::kDescribe) {
    DescribeRuns(data);
    if (test) DescribeRuns(*test);
  }
  if (fold_by == FoldBy::kFamily) NameLineages(data);
  auto evaluation = learn::Evaluate(data, test ? &*test : nullptr, options, seeds, fold_by);
  if (evaluation) {
    evaluation->provenance = MakeProvenance({data.name, test ? test->name : std::string()});
  }
  return evaluation;
}

Result<Ablation> AblateMethods(const std::string& path, const learn::TrainOptions& options,
                               uint64_t seeds) {
  const auto data = TRY(ReadData(path, true));
  auto ablation = TRY(learn::Ablate(data, options, seeds));
  ablation.provenance = MakeProvenance({path});
  return ablation;
}

Result<Calibration> CalibrateMachine(const TrainingData& from, const CalibrationPlan& plan) {
  const auto data = TRY(ReadData(from.path, true, from.models));
  auto calibration = TRY(learn::Calibrate(data, plan.rows, plan.seed, plan.draws));
  calibration.provenance = calibration.model.provenance = MakeProvenance({from.path});
  return calibration;
}

}  // namespace beryl::flows
