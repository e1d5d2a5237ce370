// How fast a machine is learned, as ratios within one run: IrEne's whole cross-validation against
// the arithmetic it needs node by node, and the law's against reading its data.
//
//   build/release/bench_learn                                  made-up data of the published size
//   BERYL_IRENE_DATA=../shared/data/irene build/release/bench_learn      the published data
//
// The released code takes 108 s for the six folds of end2end (8 epochs, one seed) on two cores.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "datasets/datasets.h"
#include "learn/evaluate.h"
#include "learn/learn_testing.h"
#include "measuring.h"

namespace beryl {
namespace {

constexpr double kReleasedSeconds = 108;

// Six models of 12 like layers at 28 input sizes: about 166 trees, with as many nodes and as few
// distinct measurements as the published data.
Dataset MakeData() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  Dataset data;
  data.name = "made-up";
  for (int model = 0; model < 6; ++model) {
    for (int size = 0; size < 28; ++size) {
      const double batch_size = 8 * (1 + size / 7);
      const double seq_len = 32 * (1 + size % 7);
      learn::RunMaker run(fmt::format("model-{}", model), batch_size, seq_len);
      auto measure = [&](double scale) {
        FeatureRow row = UnknownFeatures();
        for (size_t i = 1; i < kFeatureCount - 1; ++i) row[i] = scale * (1 + 0.2 * uniform(random));
        row[static_cast<size_t>(Feature::kInputSize)] = batch_size * seq_len;
        row[static_cast<size_t>(Feature::kCpu)] = 8.5 + 0.1 * uniform(random);
        const double joules = 1.05 * At(row, Feature::kGpuEnergy) + 98 * At(row, Feature::kSeconds);
        return std::pair(row, joules * (1 + 0.005 * (uniform(random) - 0.5)));
      };
      const auto [root_row, root_joules] = measure(12);
      run.Add(0, Level::kModel, "", "model", root_row, root_joules);
      std::vector<std::pair<FeatureRow, double>> like;
      for (int i = 0; i < 14; ++i) like.push_back(measure(0.1 + 0.1 * i));
      for (int layer = 0; layer < 12; ++layer) {
        const NodeId at = run.Add(0, Level::kModule, fmt::format("layer.{}", layer), "Layer",
                                  like[0].first, like[0].second);
        for (size_t part = 0; part < 3; ++part) {
          const NodeId inner = run.Add(at, Level::kModule, fmt::format("part{}", part), "Part",
                                       like[1 + part].first, like[1 + part].second);
          for (size_t leaf = 0; leaf < 3; ++leaf) {
            const auto& [row, joules] = like[4 + 3 * part + leaf];
            run.Add(inner, Level::kMl, fmt::format("op{}", leaf), fmt::format("Type{}", leaf), row,
                    joules);
          }
        }
      }
      data.runs.push_back(run.Take());
    }
  }
  return data;
}

std::string Published() {
  return std::getenv("BERYL_IRENE_DATA") == nullptr ? "" : learn::PublishedData();
}

const Dataset& Data() {
  static const Dataset kData = [] {
    if (Published().empty()) return MakeData();
    auto read = datasets::ReadDataset(Published(), {});
    if (!read) {
      std::fprintf(stderr, "%s\n", read.error().message.c_str());
      std::exit(1);
    }
    return *std::move(read);
  }();
  return kData;
}

void Evaluate(benchmark::State& state, Method method, int threads) {
  learn::TrainOptions options;
  options.method = method;
  options.threads = threads;
  for (auto unused : state) {
    benchmark::DoNotOptimize(learn::Evaluate(Data(), nullptr, options, 1));
  }
}

// A row of terms for each node, forwards and backwards, in every epoch of every fold: the cost of
// training if like layers are not recognised. Times one epoch of one fold.
constexpr int kEpochs = 8;
constexpr int kFolds = 6;
void NodeByNode(benchmark::State& state) {
  constexpr size_t kTerms = 560;
  size_t nodes = 0;
  for (const ModelRun& run : Data().runs) nodes += run.tree.nodes.size();
  nodes = nodes * (kFolds - 1) / kFolds;
  const std::vector<float> terms(nodes * kTerms, 0.5F);
  const std::vector<float> weights(kTerms, 1e-6F);
  std::vector<float> gradient(kTerms, 0);
  for (auto unused : state) {
    for (size_t node = 0; node < nodes; ++node) {
      const float* row = &terms[node * kTerms];
      std::array<float, 8> sums = {};
      for (size_t i = 0; i < kTerms; i += sums.size()) {
        for (size_t lane = 0; lane < sums.size(); ++lane) {
          sums[lane] += row[i + lane] * weights[i + lane];
        }
      }
      float score = 0;
      for (const float sum : sums) score += sum;
      for (size_t i = 0; i < kTerms; ++i) gradient[i] += score * row[i];
    }
    benchmark::DoNotOptimize(gradient.data());
  }
}

}  // namespace
}  // namespace beryl

int main(int argc, char** argv) {
  using beryl::Method;
  benchmark::Initialize(&argc, argv);
  auto add = [](const char* name, auto body) {
    benchmark::RegisterBenchmark(name, body)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Repetitions(3)
        ->MinTime(0.2);
  };
  for (const int threads : {1, 2}) {
    add(fmt::format("end2end_{}", threads).c_str(),
        [threads](benchmark::State& state) { beryl::Evaluate(state, Method::kEnd2End, threads); });
    add(fmt::format("law_{}", threads).c_str(),
        [threads](benchmark::State& state) { beryl::Evaluate(state, Method::kLaw, threads); });
  }
  add("node_by_node", beryl::NodeByNode);
  const std::string published = beryl::Published();
  if (!published.empty()) {
    add("read", [published](benchmark::State& state) {
      for (auto unused : state) {
        benchmark::DoNotOptimize(beryl::datasets::ReadDataset(published, {}));
      }
    });
  }
  beryl::BestTimes times;
  benchmark::RunSpecifiedBenchmarks(&times);
  if (times.empty()) return 0;

  const double arithmetic = times.Seconds("node_by_node") * beryl::kEpochs * beryl::kFolds;
  for (const char* threads : {"1", "2"}) {
    const double end2end = times.Seconds(fmt::format("end2end_{}", threads));
    const double law = times.Seconds(fmt::format("law_{}", threads));
    fmt::print(
        "\n{} thread(s): end2end, six folds, {:.1f} ms: {:.0f}x faster than the released code's "
        "{} s, {:.1f}x than its arithmetic node by node\n",
        threads, 1e3 * end2end, beryl::kReleasedSeconds / end2end, beryl::kReleasedSeconds,
        arithmetic / end2end);
    fmt::print("{} thread(s): law, six folds, {:.1f} ms", threads, 1e3 * law);
    if (!published.empty()) {
      const double read = times.Seconds("read");
      fmt::print(", with reading {:.1f} ms, of which reading {:.0f} %", 1e3 * (law + read),
                 100 * read / (law + read));
    }
    fmt::print("\n");
  }
  return 0;
}
