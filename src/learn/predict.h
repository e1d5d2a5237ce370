// Predicts the energy of nodes that were never measured, from data or from a description.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "types/column.h"
#include "types/dataset.h"
#include "types/described_prediction.h"
#include "types/energy_model.h"

namespace beryl::learn {

// Fails if the model is a datasheet, which cannot predict data. The error says what to do.
Status CheckPredictsData(const EnergyModel& model);

// One column per run, with low and high if the model has bands. NaN: no prediction; `notes` says
// why.
std::vector<Column> Predict(const EnergyModel& model, const Dataset& data,
                            std::vector<Note>& notes);

// Predicts models that were never run: the energy of every node of a description and, if the
// profile has it, the time. The constructor prepares the profile once.
class DescriptionPredictor {
 public:
  explicit DescriptionPredictor(const EnergyModel& model);  // must outlive this object
  ~DescriptionPredictor();
  DescriptionPredictor(const DescriptionPredictor&) = delete;
  DescriptionPredictor& operator=(const DescriptionPredictor&) = delete;

  // Fails if the profile cannot predict from a description.
  Result<DescribedPrediction> Predict(Description description) const;

 private:
  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace beryl::learn
