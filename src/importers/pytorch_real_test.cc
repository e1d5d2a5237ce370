// Traces of real programs, where they are at hand.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/event_stream.h"
#include "base/text.h"
#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

class RealTrace {
 public:
  explicit RealTrace(const std::string& path) {
    auto source = ByteSource::Open(path);
    if (!source) {
      missing_ = "the sample traces are not here: " + source.error().message;
      return;
    }
    auto ok = Import(*source, {}, imported.trace);
    if (!ok) imported.error = ok.error().message;
  }
  const std::string& missing() const { return missing_; }
  Imported imported;

 private:
  std::string missing_;
};

TEST(PyTorchTest, RealTrainingOnAGpuIsTied) {
  const RealTrace real("../shared/data/kineto/gpu_training_cuda.pt.trace.json.gz");
  if (!real.missing().empty()) GTEST_SKIP() << real.missing();
  ASSERT_EQ(real.imported.error, "");
  const ImportReport& report = real.imported.report();
  EXPECT_EQ(report.format, "pytorch-kineto");
  ExpectEventsAddUp(report);
  EXPECT_GT(report.with_correlation, 1000u);
  EXPECT_GE(static_cast<double>(report.tied), 0.99 * static_cast<double>(report.with_correlation));
}

// Every module frame of a thread, as the trace itself shows it, found without the importer.
struct Frame {
  std::string name;
  int64_t start;
  int64_t end;
};

class FrameCollector : public EventVisitor {
 public:
  explicit FrameCollector(std::map<std::string, std::vector<Frame>>& frames_of_thread)
      : frames_of_thread_(frames_of_thread) {}

  bool Event(json::Value event, uint64_t /*offset*/) override {
    std::map<std::string, std::string> fields;
    const bool ok = event.ForEachMember([&](json::Key key, json::Value value) {
      fields[std::string(key.Text())] = value.String().value_or(value.Token());
    });
    constexpr std::string_view kPrefix = "nn.Module: ";
    if (ok && fields["cat"] == "python_function" && fields["name"].starts_with(kPrefix)) {
      const int64_t start = ParseMicros(fields["ts"])->value;
      frames_of_thread_[fields["tid"]].push_back({fields["name"].substr(kPrefix.size()), start,
                                                  start + ParseMicros(fields["dur"])->value});
    }
    return ok;
  }
  void Member(json::Key /*key*/, json::Value /*value*/) override {}
  std::unique_ptr<EventBatch> Take() override { return std::make_unique<EventBatch>(); }

 private:
  std::map<std::string, std::vector<Frame>>& frames_of_thread_;
};

TEST(PyTorchTest, RealOperationsInsideModuleFramesAreUnderThatModule) {
  const std::string path = "../shared/data/pytorch/bert_train_torch2.15_stack.json.gz";
  const RealTrace real(path);
  if (!real.missing().empty()) GTEST_SKIP() << real.missing();
  ASSERT_EQ(real.imported.error, "");
  const OpTrace& trace = real.imported.trace;
  ExpectEventsAddUp(real.imported.report());

  std::map<std::string, std::vector<Frame>> frames_of_thread;
  auto source = ByteSource::Open(path);
  ASSERT_TRUE(source);
  ASSERT_TRUE(WalkEvents(
      *source, {}, [&](int) { return std::make_unique<FrameCollector>(frames_of_thread); },
      [](std::unique_ptr<EventBatch>, int, bool) {}));
  ASSERT_THAT(frames_of_thread, SizeIs(1)) << "the modules of this trace run on one thread";
  std::vector<Frame>& frames = frames_of_thread.begin()->second;
  std::stable_sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
    return std::pair(a.start, -a.end) < std::pair(b.start, -b.end);
  });

  ASSERT_THAT(trace.anchors, SizeIs(1));
  const int64_t base = trace.anchors[0].epoch.value;
  std::set<Phase> phases;
  uint64_t inside = 0;
  for (const Op& op : trace.ops) {
    phases.insert(trace.kinds[op.kind].phase);
    std::string expected;
    for (const Frame& frame : frames) {
      if (frame.start > op.start.value - base || frame.end < op.end.value - base) continue;
      // What ends where an operation starts is over.
      if (frame.end == op.start.value - base) continue;
      // The loss is made anew in every step, and is one module.
      const bool is_loss = frame.name.starts_with("CrossEntropyLoss_");
      expected += (expected.empty() ? "" : "/") + (is_loss ? "CrossEntropyLoss_0" : frame.name);
    }
    if (expected.empty()) continue;
    ++inside;
    ASSERT_EQ(trace.PathText(trace.kinds[op.kind].scope), expected)
        << trace.QualifiedName(trace.kinds[op.kind]) << " at " << op.start.value - base;
  }
  EXPECT_GT(inside, 100u);
  EXPECT_EQ(phases.size(), 3u);
  EXPECT_GT(real.imported.report().outside_modules, 0u);
}

TEST(PyTorchTest, RealTracesAddUp) {
  for (const char* path : {"../shared/data/kineto/gpu_sampled_rank0.pt.trace.json.gz",
                           "../shared/data/pytorch/gpt2_infer_torch2.15.json"}) {
    const RealTrace real(path);
    if (!real.missing().empty()) GTEST_SKIP() << real.missing();
    ASSERT_EQ(real.imported.error, "") << path;
    EXPECT_EQ(real.imported.report().format, "pytorch-kineto");
    EXPECT_GT(real.imported.report().operations, 100u);
    ExpectEventsAddUp(real.imported.report());
  }
}

}  // namespace
}  // namespace beryl::importers
