// How long the pictures take, from an accounted run to bytes: a model of 24 layers, and one with
// far too many parts.
//
//   build/release/bench_views
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "analyze/analyze.h"
#include "tree/tree.h"
#include "views/views.h"

namespace beryl {
namespace {

struct Run {
  OpTrace trace;
  Footprint footprint;
  TraceTree built;
  TraceTree folded;
  std::vector<Column> built_columns;
  std::vector<Column> folded_columns;
  AccountReport report;
};

// `layers` encoder layers of sixteen operations each, forward and backward, in a chain.
Run MakeRun(int layers) {
  Run run;
  run.footprint.channels.emplace_back().channel = "GPU:0";
  run.footprint.channels.front().fed_devices = {0};
  run.trace.devices = {"GPU:0"};
  uint32_t before = 0;
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    for (int layer = 0; layer < layers; ++layer) {
      for (int op = 0; op < 16; ++op) {
        OpKind kind;
        for (const std::string& scope :
             {std::string("bert"), std::string("encoder"), fmt::format("layer_{}", layer),
              fmt::format("part{}", "abcd"[op % 4])}) {
          kind.scope = run.trace.paths.Intern(kind.scope, run.trace.strings.Intern(scope),
                                              PathKind::kModule);
        }
        kind.op = run.trace.strings.Intern(fmt::format("MatMul{}", "abcdefghijklmnop"[op]));
        kind.path = run.trace.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
        kind.phase = phase;
        const auto number = static_cast<uint32_t>(run.trace.kinds.size());
        run.trace.kinds.push_back(kind);
        if (number > 0) run.trace.dataflow.push_back({before, number});
        before = number;
        for (uint32_t step = 0; step < 3; ++step) {
          EnergyShare share;
          share.kind = number;
          share.step = step;
          share.energy = Joules{1.0 + (op * 7 + layer) % 13};
          share.busy = Nanos{1'000'000};
          share.count = 1;
          run.footprint.shares.push_back(share);
        }
      }
    }
  }
  run.built = tree::Build(run.trace);
  run.folded = Fold(run.built);
  run.built_columns = tree::Columns(run.trace, run.footprint, run.built);
  run.folded_columns = tree::Columns(run.trace, run.footprint, run.folded);
  run.report.channels = run.footprint.channels;
  run.report.context.ops_files = {"bench"};
  return run;
}

void Diagrams(benchmark::State& state, bool fold) {
  const Run run = MakeRun(static_cast<int>(state.range(0)));
  size_t bytes = 0;
  for (auto _ : state) {
    const auto diagrams =
        analyze::MakeDiagrams(run.trace, fold ? run.folded : run.built,
                              fold ? run.folded_columns : run.built_columns, 0, 3, {});
    bytes = views::Write(run.report, diagrams, views::Format::kSvg, {}).size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(Diagrams, OneByOne, false)->Arg(24)->Arg(500)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Diagrams, Folded, true)->Arg(24)->Arg(500)->Unit(benchmark::kMillisecond);

void Ranking(benchmark::State& state) {
  const Run run = MakeRun(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const OperationRanking ranking =
        analyze::Rank(run.trace, run.footprint, run.folded, {OperationRanking::Kind::kStef, {}, 0});
    benchmark::DoNotOptimize(views::Write(run.report, ranking, views::Format::kSvg, {}));
  }
}
BENCHMARK(Ranking)->Arg(24)->Arg(500)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace beryl
