// How fast an XPlane file is read, as a ratio within one run: machines are noisy, ratios less so.
//
//   build/release/bench_xplane                                     a training run made up here
//   BERYL_BENCH_XPLANE=host.xplane.pb build/release/bench_xplane   a real file
//
// Larger inputs are the same message several times over, which is a valid XSpace again. The
// yardstick is protobuf's wire reader alone: the same file, every field of planes, lines, events,
// stats, names and programs visited once, nothing kept.
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/wire_for_test.h"
#include "importers/importers.h"
#include "measuring.h"

namespace beryl {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::FileInputStream;

std::string Name(uint32_t table, int id, const std::string& name) {
  return WireBytes(table, WireNumber(1, id) + WireBytes(2, WireNumber(1, id) + WireBytes(2, name)));
}

// A step like TensorFlow's: four threads, operations among machinery with stats, and a thread of
// XLA's instructions.
std::string MakeSpace() {
  std::string lines;
  for (int thread = 0; thread < 5; ++thread) {
    std::string events;
    int64_t at_ps = 0;
    for (int i = 0; i < 4000; ++i) {
      const int name = thread == 4 ? 501 + i % 200 : i % 3 == 0 ? 1 + i % 500 : 701 + i % 3;
      std::string event = WireNumber(1, name) + WireNumber(2, at_ps) + WireNumber(3, 2'500'000);
      auto stat = [&](int id, int64_t value, uint32_t form) {
        event += WireBytes(4, WireNumber(1, id) + WireNumber(form, value));
      };
      if (thread == 4) {
        stat(1, 300 + i % 200, 7);
        stat(2, 299, 7);
        stat(3, 154, 4);
        stat(4, 1'843'890'760, 4);
        stat(5, 0, 4);
      } else if (name > 700) {
        stat(6, -4'892'768'936'449'916'698, 4);
        stat(7, i % 4, 4);
        stat(8, 2, 4);
        stat(9, 8'589'934'592 + i, 3);
      }
      events += WireBytes(4, event);
      at_ps += 3'000'000 + i % 7 * 100'000;
    }
    lines += WireBytes(3, WireNumber(1, thread + 1) +
                              WireBytes(2, fmt::format("tf_Compute/{}", thread)) +
                              WireNumber(3, 6272) + events);
  }
  std::string names;
  for (int id = 1; id <= 500; ++id) {
    names += Name(
        4, id,
        fmt::format("StatefulPartitionedCall/net/layer_{}/dense/MatMul_{}:MatMul", id / 20, id));
  }
  for (int id = 501; id <= 700; ++id) names += Name(4, id, fmt::format("fusion.{}", id - 501));
  for (int id = 701; id <= 703; ++id) names += Name(4, id, "ExecutorState::Process");
  const char* stats[] = {"hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal",
                         "id",     "iter_num",   "_ct",        "_c"};
  for (int id = 1; id <= 9; ++id) names += Name(5, id, stats[id - 1]);
  names += Name(5, 299, "jit_train_step");
  for (int id = 300; id < 500; ++id) names += Name(5, id, fmt::format("fusion.{}", id - 300));
  return WireBytes(1, WireBytes(2, "/host:CPU") + lines + names);
}

class Input {
 public:
  explicit Input(size_t copies)
      : path(std::filesystem::temp_directory_path() / "beryl-bench" /
             fmt::format("{}.xplane.pb", copies)) {
    std::filesystem::create_directories(path.parent_path());
    const std::string space = Space();
    bytes = space.size() * copies;
    std::error_code missing;
    if (std::filesystem::file_size(path, missing) == bytes) return;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    for (size_t i = 0; i < copies; ++i) std::fwrite(space.data(), 1, space.size(), file);
    std::fclose(file);
  }

  std::filesystem::path path;
  size_t bytes = 0;

 private:
  static std::string Space() {
    const char* given = std::getenv("BERYL_BENCH_XPLANE");
    if (given == nullptr) return MakeSpace();
    auto source = ByteSource::Open(given);
    if (!source) std::abort();
    auto bytes = ReadAll(*source, size_t{1} << 30);
    if (!bytes) std::abort();
    return *bytes;
  }
};

// Which fields of a message are messages, and which.
enum class Message : uint8_t {
  kNone,
  kSpace,
  kPlane,
  kLine,
  kEvent,
  kStat,
  kEntry,
  kName,
  kProgram,
  kModule,
  kComputation,
  kInstruction,
  kOrigin,
};
Message Inside(Message message, uint32_t field) {
  struct Member {
    Message in;
    uint32_t field;
    Message is;
  };
  static constexpr Member kMembers[] = {
      {Message::kEvent, 4, Message::kStat},
      {Message::kLine, 4, Message::kEvent},
      {Message::kPlane, 3, Message::kLine},
      {Message::kPlane, 4, Message::kEntry},
      {Message::kPlane, 5, Message::kEntry},
      {Message::kPlane, 6, Message::kStat},
      {Message::kEntry, 2, Message::kName},
      {Message::kName, 5, Message::kStat},
      {Message::kSpace, 1, Message::kPlane},
      {Message::kStat, 6, Message::kProgram},
      {Message::kProgram, 1, Message::kModule},
      {Message::kModule, 3, Message::kComputation},
      {Message::kComputation, 2, Message::kInstruction},
      {Message::kInstruction, 7, Message::kOrigin},
  };
  for (const Member& member : kMembers) {
    if (member.in == message && member.field == field) return member.is;
  }
  return Message::kNone;
}

uint64_t Walk(CodedInputStream& input, Message message) {
  uint64_t sum = 0;
  while (const uint32_t tag = input.ReadTag()) {
    uint64_t number = 0;
    switch (tag & 7) {
      case 0:
        if (!input.ReadVarint64(&number)) return sum;
        sum += number;
        break;
      case 1:
        if (!input.ReadLittleEndian64(&number)) return sum;
        sum += number;
        break;
      case 2: {
        uint32_t length = 0;
        if (!input.ReadVarint32(&length)) return sum;
        const Message inside = Inside(message, tag >> 3);
        if (inside == Message::kNone) {
          if (!input.Skip(static_cast<int>(length))) return sum;
          break;
        }
        const auto limit = input.PushLimit(static_cast<int>(length));
        sum += Walk(input, inside);
        input.Skip(input.BytesUntilLimit());
        input.PopLimit(limit);
        break;
      }
      default:
        return sum;
    }
  }
  return sum;
}

uint64_t WalkFile(const Input& input) {
  const int fd = ::open(input.path.c_str(), O_RDONLY | O_CLOEXEC);
  FileInputStream file(fd, 256 << 10);
  file.SetCloseOnDelete(true);
  CodedInputStream coded(&file);
  return Walk(coded, Message::kSpace);
}

struct Imported {
  uint64_t events = 0;
  uint64_t operations = 0;
};
Imported ImportFile(const Input& input) {
  auto source = ByteSource::Open(input.path);
  OpTrace trace;
  importers::ImportOptions options;
  options.format = "xplane";
  if (!importers::Import(*source, options, trace)) std::abort();
  return {trace.reports.back().events, trace.reports.back().operations};
}

}  // namespace
}  // namespace beryl

int main(int argc, char** argv) {
  using beryl::Input;
  const bool only_listing = beryl::OnlyLists(argc, argv);
  benchmark::Initialize(&argc, argv);
  const std::vector<size_t> sizes = {1, 10, 100};
  auto peak_mib = beryl::PeakMemories(
      sizes, only_listing, [](size_t copies) { return beryl::ImportFile(Input(copies)); });
  for (const size_t copies : sizes) {
    auto add = [&](const char* name, auto body) {
      beryl::AddBenchmark(name, copies, 5, [copies, body](benchmark::State& state) {
        const Input input(copies);
        for (auto unused : state) benchmark::DoNotOptimize(body(input));
        state.SetBytesProcessed(static_cast<int64_t>(input.bytes) * state.iterations());
      });
    };
    add("walk", beryl::WalkFile);
    add("import", beryl::ImportFile);
  }
  beryl::BestTimes collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  if (collector.empty()) return 0;

  fmt::print("\n{:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "copies", "MB", "events",
             "events/s", "MB/s", "of walk", "peak MiB");
  for (const size_t copies : sizes) {
    const Input input(copies);
    auto time = [&](const char* name) {
      return collector.Seconds(fmt::format("{}/{}", name, copies));
    };
    const auto events = static_cast<double>(beryl::ImportFile(input).events);
    fmt::print("{:>8} {:>10.1f} {:>10.0f} {:>10.0f} {:>10.0f} {:>9.2f}x {:>10.0f}\n", copies,
               static_cast<double>(input.bytes) / 1e6, events, events / time("import"),
               static_cast<double>(input.bytes) / 1e6 / time("import"),
               time("import") / time("walk"), peak_mib[copies]);
  }
  return 0;
}
