#include "learn/describe/shape_correction.h"

#include <cmath>

#include <gtest/gtest.h>

namespace beryl::learn {
namespace {

// Costs that rise by 10 % around a size of 1000.
std::vector<CorrectionSample> Bump() {
  std::vector<CorrectionSample> samples;
  for (double rows = 100; rows < 20000; rows *= 1.3) {
    const double off = std::log(rows / 1000);
    samples.push_back({"Linear", {1, rows, 64, 64}, 0.1 * std::exp(-off * off), 0});
  }
  return samples;
}

TEST(ShapeCorrection, GivesBackWhatWasMeasured) {
  const ShapeCorrection correction = FitCorrection(Bump());
  const CorrectionModel model(correction);
  for (const CorrectionSample& sample : Bump()) {
    const auto answer = model.Ask(sample.type, sample.sizes);
    EXPECT_NEAR(answer.correction, sample.correction, 0.01);
    EXPECT_EQ(answer.distance, 0);
  }
}

TEST(ShapeCorrection, FadesAndDoubtsAwayFromWhatWasMeasured) {
  const ShapeCorrection correction = FitCorrection(Bump());
  const CorrectionModel model(correction);
  const auto near = model.Ask("Linear", {1, 1000, 64, 64});
  const auto far = model.Ask("Linear", {1, 1000, 65536, 65536});
  EXPECT_GT(near.correction, 0.05);
  EXPECT_LT(std::abs(far.correction), 0.05);
  EXPECT_GT(far.deviation, near.deviation);
  EXPECT_GT(far.distance, 5);
  const auto other = model.Ask("Conv1D", {1, 1000, 64, 64});
  EXPECT_GT(other.deviation, near.deviation) << "of another type, less is known";
}

// It may be off by as much as shapes are, and no more.
TEST(ShapeCorrection, DoubtsATypeThatWasNeverMeasuredByTheSpreadOfShapes) {
  const ShapeCorrection correction = FitCorrection(Bump());
  const CorrectionModel model(correction);
  const auto unmeasured = model.Ask("Conv1D", {1, 1000, 64, 64});
  EXPECT_GT(unmeasured.deviation, correction.spread);
  EXPECT_LT(unmeasured.deviation, std::sqrt(2.0) * correction.spread);
  const auto far = model.Ask("Conv1D", {1, 1000, 65536, 65536});
  EXPECT_NEAR(far.deviation, std::sqrt(2.0) * correction.spread, 0.1 * correction.spread);
}

TEST(ShapeCorrection, MergesMeasurementsOfOneShape) {
  std::vector<CorrectionSample> samples = Bump();
  const size_t shapes = samples.size();
  for (size_t i = 0; i < shapes; ++i) {
    CorrectionSample again = samples[i];
    again.correction += 0.02;
    samples.push_back(again);
  }
  const ShapeCorrection correction = FitCorrection(samples);
  EXPECT_EQ(correction.points.size(), shapes);
  EXPECT_NEAR(correction.points[0].correction, samples[0].correction + 0.01, 1e-9);
  EXPECT_GE(correction.noise, 0.01);
}

TEST(ShapeCorrection, OfNothingIsNothing) {
  const ShapeCorrection correction;
  EXPECT_TRUE(CorrectionModel(correction).empty());
}

}  // namespace
}  // namespace beryl::learn
