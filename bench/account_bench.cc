// How fast a trace becomes a footprint, as ratios within one run: machines are noisy, ratios less
// so.
//
//   build/release/bench_account                      10 thousand to 1 million events
//   BERYL_BENCH_EVENTS=10000000 build/release/bench_account    up to 10 million (3 GB of temporary
//   file)
//
// The yardstick is simdjson alone: it loads the same file and walks the same fields of the same
// events, nothing else. The same walk over text in memory is shown too.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "measuring.h"
#include "sources/power_file.h"
#include "training_run.h"

namespace beryl {
namespace {

// A BERT-like training run in TensorFlow's form: eight CPU threads, three GPU streams, 738 names.
class Input {
 public:
  explicit Input(size_t events) : folder_(std::filesystem::temp_directory_path() / "beryl-bench") {
    std::filesystem::create_directories(folder_);
    ops = folder_ / fmt::format("ops-{}.json", events);
    power = folder_ / fmt::format("power-{}.csv", events);
    if (!std::filesystem::exists(power)) Write(events);
  }

  std::filesystem::path ops;
  std::filesystem::path power;

 private:
  static std::vector<std::string> Names() {
    std::vector<std::string> names = {"bert/embeddings/GatherV2", "bert/embeddings/add"};
    ForEachEncoderOperation("bert", [&](const std::string& scope, const char* op) {
      names.push_back(fmt::format("{}/{}", scope, op));
    });
    const size_t forward = names.size();
    for (size_t i = forward; i-- > 0;) names.push_back("gradients/" + names[i] + "_grad");
    return names;
  }

  void Write(size_t events) const {
    std::mt19937_64 random(1);
    const std::vector<std::string> names = Names();
    constexpr int64_t kStart = 1'690'000'000'000'000;
    std::vector<int64_t> free_at(11, kStart);
    std::FILE* file = std::fopen(ops.c_str(), "w");
    PrintTraceStart(file, 2);
    int64_t end = kStart;
    for (size_t i = 0; i < events; ++i) {
      const bool cpu = random() % 5 < 2;
      const size_t lane = cpu ? random() % 8 : 8 + random() % 3;
      const auto start = free_at[lane] + static_cast<int64_t>(random() % (cpu ? 700 : 120));
      const auto duration = static_cast<int64_t>(1 + random() % 250);
      const std::string& name = names[i % names.size()];
      const std::string type = name.substr(name.rfind('/') + 1);
      fmt::print(file,
                 R"({}{{"name": "{}", "cat": "Op", "ph": "X", "ts": {}, "dur": {}, "pid": {}, )"
                 R"("tid": {}, "args": {{"name": "{}", "op": "{}", "input0": "{}"}}}})",
                 i == 0 ? "" : ", ", type, start, duration, cpu ? 0 : 2, lane, name, type,
                 names[(i + 1) % names.size()]);
      free_at[lane] = start + duration;
      end = std::max(end, start + duration);
    }
    fmt::print(file, "]}}");
    std::fclose(file);
    file = std::fopen(power.c_str(), "w");
    fmt::print(file, "timestamp_us,device,power_w\n");
    for (int64_t time = kStart - 8000; time < end + 8000; time += 4000) {
      fmt::print(file, "{},CPU:0,{}\n{},GPU:0,{}\n", time, 55 + random() % 40, time,
                 90 + random() % 160);
    }
    std::fclose(file);
  }

  std::filesystem::path folder_;
};

double WalkFields(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document = parser.iterate(text);
  double sum = 0;
  for (simdjson::ondemand::object event : document["traceEvents"].get_array()) {
    const std::string_view phase = event["ph"];
    if (phase != "X") continue;
    sum += double(int64_t(event["ts"])) + double(int64_t(event["dur"])) +
           double(int64_t(event["pid"])) + double(int64_t(event["tid"]));
    simdjson::ondemand::object arguments = event["args"];
    sum += double(std::string_view(arguments["name"]).size());
    sum += double(std::string_view(arguments["op"]).size());
  }
  return sum;
}

double AccountFile(const Input& input, int threads) {
  auto power_source = ByteSource::Open(input.power);
  auto power = sources::ReadPowerFile(*power_source, {});
  return AccountTraceFile(input.ops, *power, threads);
}

}  // namespace
}  // namespace beryl

int main(int argc, char** argv) {
  using beryl::Input;
  const bool only_listing = beryl::OnlyLists(argc, argv);
  benchmark::Initialize(&argc, argv);
  const char* given = std::getenv("BERYL_BENCH_EVENTS");
  const size_t most = given != nullptr ? std::strtoull(given, nullptr, 10) : 1'000'000;
  std::vector<size_t> sizes;
  for (size_t events = 10'000; events <= most; events *= 10) sizes.push_back(events);

  // A forked process starts as large as this one, so measure peaks while this one is small.
  auto peak_mib = beryl::PeakMemories(
      sizes, only_listing, [](size_t events) { return beryl::AccountFile(Input(events), 1); });

  for (const size_t events : sizes) {
    auto add = [&](const char* name, auto body) {
      beryl::AddBenchmark(name, events, 3, [events, body](benchmark::State& state) {
        body(state, Input(events));
        state.SetItemsProcessed(static_cast<int64_t>(events) * state.iterations());
      });
    };
    add("load_and_walk", [](benchmark::State& state, const Input& input) {
      for (auto unused : state) {
        const simdjson::padded_string text = simdjson::padded_string::load(input.ops.string());
        benchmark::DoNotOptimize(beryl::WalkFields(text));
      }
    });
    add("walk_in_memory", [](benchmark::State& state, const Input& input) {
      const simdjson::padded_string text = simdjson::padded_string::load(input.ops.string());
      for (auto unused : state) benchmark::DoNotOptimize(beryl::WalkFields(text));
    });
    add("account_1_thread", [](benchmark::State& state, const Input& input) {
      for (auto unused : state) benchmark::DoNotOptimize(beryl::AccountFile(input, 1));
    });
    add("account_2_threads", [](benchmark::State& state, const Input& input) {
      for (auto unused : state) benchmark::DoNotOptimize(beryl::AccountFile(input, 2));
    });
  }
  beryl::BestTimes collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  if (collector.empty()) return 0;

  fmt::print("\n{:>10} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10}\n", "events", "events/s",
             "ns/event", "of load+walk", "of walk", "2 threads", "peak MiB");
  for (const size_t events : sizes) {
    auto time = [&](const char* name) {
      return collector.Seconds(fmt::format("{}/{}", name, events));
    };
    const double one = time("account_1_thread");
    fmt::print("{:>10} {:>12.0f} {:>12.1f} {:>11.2f}x {:>11.2f}x {:>11.2f}x {:>10.0f}\n", events,
               static_cast<double>(events) / one, one * 1e9 / static_cast<double>(events),
               one / time("load_and_walk"), one / time("walk_in_memory"),
               one / time("account_2_threads"), peak_mib[events]);
  }
  return 0;
}
