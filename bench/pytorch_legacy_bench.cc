// How fast a trace of PyTorch's profiler without Kineto becomes a footprint, as a ratio to simdjson
// alone, which loads the same file and walks the same fields. Of two kinds of traces: a model's,
// whose passes call the same operators, and one that hardly ever calls an operator in the same
// place again: the paths of a million events are then as many as fit in no cache.
//
//   build/release/bench_pytorch_legacy
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "measuring.h"
#include "training_run.h"

namespace beryl {
namespace {

enum class Calls { kTheSame, kDifferent };  // in each pass

// Operators three deep, written in the order they ended, every other one with a kernel.
class Writer {
 public:
  Writer(std::FILE* file, Calls calls, size_t events)
      : file_(file), calls_(calls), events_(events) {}

  void Write() {
    constexpr size_t kEventsOfAPass = 2000;
    std::fputc('[', file_);
    for (size_t passes = 1; written_ < events_; ++passes) {
      if (calls_ == Calls::kTheSame) random_.seed(1);
      while (written_ < std::min(events_, passes * kEventsOfAPass)) Operator(3);
    }
    std::fputc(']', file_);
  }

 private:
  void Event(const char* phase, const std::string& name, int64_t ts, const std::string& more) {
    fmt::print(file_, R"({}{{"name": "{}", "ph": "{}", "ts": {}, {}, "args": {{}}}})",
               written_ == 0 ? "" : ",\n", name, phase, ts, more);
    ++written_;
  }

  void Operator(int depth) {
    const std::string name = fmt::format("aten::operator_{}", random_() % 120);
    const int64_t start = ++now_;
    for (uint64_t inside = depth > 1 ? 1 + random_() % 3 : 0; inside > 0; --inside) {
      Operator(depth - 1);
    }
    now_ += static_cast<int64_t>(random_() % 9);
    const char* host = R"("tid": 1, "pid": "CPU functions")";
    Event("X", name, start, fmt::format(R"("dur": {}, {})", now_ - start, host));
    if (random_() % 2 == 0) return;
    const char* device = R"("tid": 0, "pid": "CUDA functions")";
    const std::string flow = fmt::format(R"("id": {}, "cat": "cpu_to_cuda")", ++flows_);
    free_at_ = std::max(free_at_, now_) + 1;
    Event("s", name, start, fmt::format("{}, {}", host, flow));
    Event("f", name, free_at_, fmt::format("{}, {}", device, flow));
    Event("X", name, free_at_, fmt::format(R"("dur": 4, {})", device));
    free_at_ += 4;
  }

  std::FILE* file_;
  Calls calls_;
  size_t events_;
  size_t written_ = 0;
  uint64_t flows_ = 0;
  int64_t now_ = 0;
  int64_t free_at_ = 0;
  std::mt19937_64 random_{1};
};

struct Input {
  Calls calls;
  const char* name;
};
constexpr std::array<Input, 2> kInputs = {
    {{Calls::kTheSame, "same"}, {Calls::kDifferent, "all_different"}}};

std::filesystem::path TraceOf(const Input& input, size_t events) {
  const auto folder = std::filesystem::temp_directory_path() / "beryl-bench";
  std::filesystem::create_directories(folder);
  const auto path = folder / fmt::format("pytorch-legacy-{}-{}.json", input.name, events);
  if (std::filesystem::exists(path)) return path;
  std::FILE* file = std::fopen(path.c_str(), "w");
  Writer(file, input.calls, events).Write();
  std::fclose(file);
  return path;
}

PowerTrace SteadyPower() {
  PowerTrace power;
  power.clock = "the start of the profile";
  for (const char* name : {"CPU:0", "GPU:0"}) {
    PowerChannel channel;
    channel.name = name;
    channel.scope = ScopeOfName(name);
    for (int64_t second = 0; second < 100; ++second) {
      channel.times.push_back(Nanos{second * 1'000'000'000});
      channel.values.push_back(50);
    }
    power.channels.push_back(std::move(channel));
  }
  return power;
}

double WalkFields(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document = parser.iterate(text);
  double sum = 0;
  for (simdjson::ondemand::object event : document.get_array()) {
    sum += double(std::string_view(event["name"]).size());
    const std::string_view phase = event["ph"];
    sum += double(event["ts"]);
    if (phase == "X") sum += double(event["dur"]);
    sum += double(int64_t(event["tid"]));
    sum += double(std::string_view(event["pid"]).size());
    if (phase != "X") sum += double(int64_t(event["id"]));
  }
  return sum;
}

}  // namespace
}  // namespace beryl

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<size_t> sizes = {100'000, 1'000'000};
  const bool only_listing = beryl::OnlyLists(argc, argv);
  const auto walk_name = [](const beryl::Input& input) {
    return fmt::format("load_and_walk/{}", input.name);
  };
  const auto account_name = [](const beryl::Input& input) {
    return fmt::format("account_1_thread/{}", input.name);
  };
  for (const beryl::Input& input : beryl::kInputs) {
    for (const size_t events : sizes) {
      beryl::AddBenchmark(
          walk_name(input).c_str(), events, 3, [&, events](benchmark::State& state) {
            const std::string path = beryl::TraceOf(input, events);
            for (auto unused : state) {
              const simdjson::padded_string text = simdjson::padded_string::load(path);
              benchmark::DoNotOptimize(beryl::WalkFields(text));
            }
          });
      beryl::AddBenchmark(account_name(input).c_str(), events, 3,
                          [&, events](benchmark::State& state) {
                            const std::string path = beryl::TraceOf(input, events);
                            const beryl::PowerTrace power = beryl::SteadyPower();
                            for (auto unused : state) {
                              benchmark::DoNotOptimize(beryl::AccountTraceFile(path, power, 1));
                            }
                          });
    }
  }
  beryl::BestTimes collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  if (only_listing || collector.empty()) return 0;
  for (const beryl::Input& input : beryl::kInputs) {
    for (const size_t events : sizes) {
      const double one = collector.Seconds(fmt::format("{}/{}", account_name(input), events));
      const double walk = collector.Seconds(fmt::format("{}/{}", walk_name(input), events));
      fmt::print("{:>14} {:>10} events: {:.1f} ns each, {:.2f}x of load and walk\n", input.name,
                 events, one * 1e9 / static_cast<double>(events), one / walk);
    }
  }
  return 0;
}
