// How long a model's description takes, compared with copying as many nodes, the minimum for a tree
// of its size.
#include <benchmark/benchmark.h>

#include "learn/predict.h"
#include "learn/profiles.h"
#include "models/models.h"
#include "views/views.h"

namespace beryl {
namespace {

Description Described(const char* name, const models::DescribeOptions& options) {
  return *models::Describe(*models::FindConfig(name), options);
}

void DescribeModel(benchmark::State& state, const char* name,
                   const models::DescribeOptions& options) {
  const auto config = models::FindConfig(name);
  size_t nodes = 0;
  for (auto _ : state) {
    const auto description = models::Describe(*config, options);
    nodes = description->nodes.size();
    benchmark::DoNotOptimize(description);
  }
  state.counters["nodes"] = static_cast<double>(nodes);
}

void CopyModel(benchmark::State& state, const char* name, const models::DescribeOptions& options) {
  const Description description = Described(name, options);
  for (auto _ : state) {
    const Description copy = description;
    benchmark::DoNotOptimize(copy);
  }
}

// Tree, features, energy with intervals, and JSON: everything for one answer once the profile is
// read.
void PredictModel(benchmark::State& state, const char* name, const char* profile,
                  const models::DescribeOptions& options) {
  const auto config = models::FindConfig(name);
  const auto model = learn::FindProfile(profile);
  const learn::DescriptionPredictor predictor(*model);
  size_t bytes = 0;
  for (auto _ : state) {
    auto description = models::Describe(*config, options);
    const auto prediction = predictor.Predict(*std::move(description));
    bytes = views::Write(*prediction, views::Format::kJson, {}).size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}

const models::DescribeOptions kBert = {.input = {.batch = 8, .seq = 128}};
const models::DescribeOptions kLlama = {.input = {.prompt = 512, .generate = 128},
                                        .dtype = Dtype::kBfloat16};

BENCHMARK_CAPTURE(DescribeModel, bert_base, "bert-base-uncased", kBert);
BENCHMARK_CAPTURE(CopyModel, bert_base, "bert-base-uncased", kBert);
BENCHMARK_CAPTURE(PredictModel, bert_base, "bert-base-uncased", "gtx1080ti-i9-7900x", kBert);
BENCHMARK_CAPTURE(PredictModel, llama_70b_generation, "meta-llama/Meta-Llama-3-70B", "h100-sxm",
                  kLlama);
BENCHMARK_CAPTURE(PredictModel, llama_70b_generation_trained, "meta-llama/Meta-Llama-3-70B",
                  "gtx1080ti-i9-7900x", kLlama);
BENCHMARK_CAPTURE(DescribeModel, llama_70b_generation, "meta-llama/Meta-Llama-3-70B", kLlama);
BENCHMARK_CAPTURE(CopyModel, llama_70b_generation, "meta-llama/Meta-Llama-3-70B", kLlama);

}  // namespace
}  // namespace beryl
