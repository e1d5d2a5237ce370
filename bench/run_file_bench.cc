// What a run file saves, as ratios within one run: accounting it against accounting the compressed
// trace it came from, and the sizes of the two.
//
//   build/release/bench_run_file                               100 thousand and 1 million events
//   BERYL_BENCH_EVENTS=10000000 build/release/bench_run_file   and the run file of 10 million
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "measuring.h"
#include "store/store.h"
#include "training_run.h"

namespace beryl {
namespace {

// Larger traces are not written as text: only their run file is of interest.
constexpr size_t kMostText = 1'000'000;
constexpr int64_t kStart = 1'690'000'000'000'000'000;

// A BERT-like training run: eight CPU threads, three GPU streams, 724 names, 4 ms power readings.
store::StoredRun MakeRun(size_t events) {
  store::StoredRun run;
  std::mt19937_64 random(1);
  auto add_kind = [&](const std::string& scope, const std::string& op, Phase phase) {
    OpKind kind;
    size_t from = 0;
    while (from < scope.size()) {
      const size_t to = std::min(scope.find('/', from), scope.size());
      kind.scope = run.ops.paths.Intern(
          kind.scope, run.ops.strings.Intern(scope.substr(from, to - from)), PathKind::kModule);
      from = to + 1;
    }
    kind.op = kind.type = run.ops.strings.Intern(op);
    kind.path = run.ops.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
    kind.phase = phase;
    run.ops.kinds.push_back(kind);
  };
  for (const auto& pass :
       {std::pair("bert", Phase::kForward), std::pair("gradients/bert", Phase::kBackward)}) {
    ForEachEncoderOperation(pass.first, [&](const std::string& scope, const char* op) {
      add_kind(scope, op, pass.second);
    });
  }
  run.ops.DeviceNumber("CPU:0");
  run.ops.DeviceNumber("GPU:0");
  run.ops.StepNumber("file 1", Nanos{kStart});
  std::vector<int64_t> free_at(11, kStart);
  int64_t end = kStart;
  for (size_t i = 0; i < events; ++i) {
    const bool cpu = random() % 5 < 2;
    const size_t lane = cpu ? random() % 8 : 8 + random() % 3;
    Op op;
    op.start = Nanos{free_at[lane] + 1000 * static_cast<int64_t>(random() % (cpu ? 700 : 120))};
    op.end = op.start + Nanos{1000 * static_cast<int64_t>(1 + random() % 250)};
    op.kind = static_cast<uint32_t>(i % run.ops.kinds.size());
    op.device = cpu ? 0 : 1;
    op.step = 0;
    run.ops.ops.push_back(op);
    free_at[lane] = op.end.value;
    end = std::max(end, op.end.value);
  }
  for (const char* name : {"CPU:0", "GPU:0"}) {
    PowerChannel channel;
    channel.name = name;
    channel.scope = ScopeOfName(name);
    for (int64_t time = kStart - 8'000'000; time < end + 8'000'000; time += 4'000'000) {
      channel.times.push_back(Nanos{time});
      channel.values.push_back(55 + static_cast<double>(random() % 160));
    }
    run.power.channels.push_back(std::move(channel));
  }
  return run;
}

struct Files {
  explicit Files(size_t events) {
    const auto folder = std::filesystem::temp_directory_path() / "beryl-bench";
    std::filesystem::create_directories(folder);
    run = folder / fmt::format("{}.beryl", events);
    text = folder / fmt::format("{}.trace.json", events);
    packed = text.string() + ".gz";
    if (!std::filesystem::exists(run)) Write(events);
  }

  void Write(size_t events) const {
    const store::StoredRun made = MakeRun(events);
    auto file = GrowingFile::Open(run);
    if (!file || !store::Save(made, *file)) std::abort();
    if (events > kMostText) return;
    std::FILE* out = std::fopen(text.c_str(), "w");
    PrintTraceStart(out, 1);
    bool first = true;
    for (const Op& op : made.ops.ops) {
      const OpKind& kind = made.ops.kinds[op.kind];
      const std::string_view type = made.ops.strings.Text(kind.type);
      fmt::print(out,
                 R"({}{{"name": "{}", "cat": "Op", "ph": "X", "ts": {}, "dur": {}, "pid": {}, )"
                 R"("tid": 0, "args": {{"name": "{}", "op": "{}"}}}})",
                 first ? "" : ", ", type, op.start.value / 1000, (op.end - op.start).value / 1000,
                 op.device, made.ops.QualifiedName(kind), type);
      first = false;
    }
    fmt::print(out, "]}}");
    std::fclose(out);
    if (std::system(fmt::format("gzip -kf '{}'", text.string()).c_str()) != 0) std::abort();
  }

  std::filesystem::path run;
  std::filesystem::path text;
  std::filesystem::path packed;
};

double AccountRunFile(const Files& files, int threads) {
  store::StoredRun run;
  auto source = ByteSource::Open(files.run);
  if (!store::Load(*source, {}, run)) std::abort();
  return AccountTrace(run.power, run.ops, threads);
}

// The best of three, in seconds.
template <typename Body>
double Time(Body&& body) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(body());
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

void Report(size_t events) {
  // Made by a separate process, whose memory is freed with it.
  const pid_t child = ::fork();
  if (child == 0) {
    const Files made(events);
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) std::abort();
  const Files files(events);
  const double peak = PeakMemory([&] { return AccountRunFile(files, 1); });
  const double one = Time([&] { return AccountRunFile(files, 1); });
  const double two = Time([&] { return AccountRunFile(files, 2); });
  std::string ratio = "-";
  std::string size = "-";
  if (events <= kMostText) {
    store::StoredRun run;
    auto source = ByteSource::Open(files.run);
    if (!store::Load(*source, {}, run)) std::abort();
    const double packed = Time([&] { return AccountTraceFile(files.packed, run.power, 1); });
    ratio = fmt::format("{:.1f}x", packed / one);
    size =
        fmt::format("{:.2f}x", static_cast<double>(std::filesystem::file_size(files.run)) /
                                   static_cast<double>(std::filesystem::file_size(files.packed)));
  }
  fmt::print("{:>10} {:>9.3f} s {:>9.3f} s {:>10.1f} {:>14} {:>14} {:>9.0f}\n", events, one, two,
             one * 1e9 / static_cast<double>(events), ratio, size, peak);
}

}  // namespace
}  // namespace beryl

int main(int argc, char** argv) {
  if (beryl::OnlyLists(argc, argv)) {
    fmt::print("run_file\n");
    return 0;
  }
  const char* given = std::getenv("BERYL_BENCH_EVENTS");
  const size_t most = given != nullptr ? std::strtoull(given, nullptr, 10) : 1'000'000;
  fmt::print("{:>10} {:>11} {:>11} {:>10} {:>14} {:>14} {:>9}\n", "events", "1 thread", "2 threads",
             "ns/event", "than gzip JSON", "of its size", "peak MiB");
  for (size_t events = 100'000; events <= most; events *= 10) beryl::Report(events);
  return 0;
}
