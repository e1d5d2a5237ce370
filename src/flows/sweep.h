// Variants of a model: every combination of values for some keys.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/work_watch.h"
#include "models/models.h"
#include "types/described_prediction.h"

namespace beryl::flows {

// Turns the description of one variant into its result.
using MakeVariant = std::function<Result<DescribedPrediction>(Description)>;

struct VariantMaker {
  std::string profile = {};  // a value of the key "profile"; empty: there is no such key
  std::function<void(models::DescribeOptions&)> prepare = {};  // what the profile decides, if any
  MakeVariant make = {};
};

// The variants one by one: for each, all makers make theirs in turn.
class VariantSeries {
 public:
  // As SweepVariants.
  static Result<VariantSeries> Of(models::ModelConfig config, models::DescribeOptions base,
                                  const std::vector<std::string>& values,
                                  std::vector<VariantMaker> makers);
  VariantSeries(VariantSeries&&) noexcept;
  VariantSeries& operator=(VariantSeries&&) = delete;
  ~VariantSeries();

  // What is known of the sweep before its rows.
  Sweep& head() { return head_; }
  size_t size() const;  // rows in all
  // Nothing: that was all.
  Result<std::optional<SweepRow>> Next();
  // Those that are left, together. A piece of work is a row.
  Result<Sweep> Rest(WorkWatch* watch = nullptr);

 private:
  struct State;
  explicit VariantSeries(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  Sweep head_;
};

// `values`, each KEY[:KEY...]=VALUE[:VALUE...],...: keys that change together, and their values. A
// key is a size of the input, dtype, attention, or a key of the configuration. Each variant is made
// by all `makers` in turn; there is at least one. A variant that contradicts itself has the reason
// in its row. Fails if all variants do, or if a value cannot be parsed.
Result<Sweep> SweepVariants(const models::ModelConfig& config, const models::DescribeOptions& base,
                            const std::vector<std::string>& values,
                            const std::vector<VariantMaker>& makers);

}  // namespace beryl::flows
