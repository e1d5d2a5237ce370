// Input that is cut short, damaged or empty: it is said, and no gate takes it for the whole.
#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"
#include "flows/analyse_run.h"
#include "flows/compare_runs.h"
#include "flows/measure_run.h"
#include "flows/run_files.h"

namespace beryl::flows {
namespace {

constexpr const char* kTrace = "tests/golden/tensorflow-two-steps/ops.json";
constexpr const char* kPower = "tests/golden/tensorflow-two-steps/power.csv";
constexpr const char* kRecording = "tests/data/recordings/estimate.beryl";

class IncompleteTest : public ::testing::Test, protected FolderForTest {
 protected:
  // The first part of a file.
  std::string Cut(const std::string& from, const std::string& name, double share) {
    const std::string text = Content(from);
    return Write(name,
                 text.substr(0, static_cast<size_t>(share * static_cast<double>(text.size()))));
  }
  // Writes a run file of a trace.
  std::string Import(const std::string& trace, const std::string& name) {
    auto run = ReadRunOf({{}, {trace}, {kPower}}, {});
    const std::string path = (folder_ / name).string();
    auto file = GrowingFile::Open(path);
    EXPECT_TRUE(store::Save(*run, *file));
    return path;
  }

  struct Accounted {
    AccountedRun run;
    AccountReport report;
  };
  static Accounted Account(const RunFiles& files) {
    auto run = AccountRunOf(files, {});
    EXPECT_TRUE(run) << run.error().message;
    Accounted accounted{*std::move(run), {}};
    accounted.report = MakeReport(accounted.run, {});
    return accounted;
  }
  // Whether a budget that no run exceeds is kept.
  static bool KeepsBudget(const Accounted& of, bool allow_incomplete) {
    BudgetLine line;
    line.pattern = "total";
    line.whole_run = true;
    line.limit_energy = Joules{1e9};
    return CheckBudget({line}, of.run, of.report, allow_incomplete).front().passed;
  }
  static bool KeepsBudget(const Measurement& of, bool allow_incomplete) {
    BudgetLine line;
    line.pattern = "total";
    line.whole_run = true;
    line.limit_energy = Joules{1e9};
    return CheckBudget({line}, of, allow_incomplete).front().passed;
  }
  static std::vector<std::string> Missing(const Provenance& provenance) {
    std::vector<std::string> kinds;
    for (const Note& note : provenance.incomplete) kinds.emplace_back(NoteKindName(note.kind));
    return kinds;
  }
};

TEST_F(IncompleteTest, ATraceCutShortKeepsNoBudget) {
  const Accounted whole = Account({{}, {kTrace}, {kPower}});
  EXPECT_THAT(whole.report.provenance.incomplete, IsEmpty());
  EXPECT_TRUE(KeepsBudget(whole, false));
  const std::string trace = Cut(kTrace, "cut.json", 0.6);
  const Accounted cut = Account({{}, {trace}, {kPower}});
  EXPECT_THAT(Missing(cut.report.provenance), ElementsAre("file_cut_short"));
  EXPECT_EQ(cut.report.provenance.incomplete[0].source, trace);
  EXPECT_FALSE(KeepsBudget(cut, false));
  EXPECT_TRUE(KeepsBudget(cut, true));
  // A run file remembers what its trace was.
  const Accounted imported = Account({{Import(trace, "cut.beryl")}, {}, {}});
  EXPECT_THAT(Missing(imported.report.provenance), ElementsAre("file_cut_short"));
  EXPECT_FALSE(KeepsBudget(imported, false));
}

TEST_F(IncompleteTest, ARunFileCutShortPassesNoGate) {
  const std::string whole = Import(kTrace, "whole.beryl");
  const std::string cut = Cut(whole, "cut.beryl", 0.99);
  const Accounted run = Account({{cut}, {}, {}});
  EXPECT_THAT(run.report.provenance.incomplete, SizeIs(1));
  EXPECT_FALSE(KeepsBudget(run, false));
  analyze::CompareOptions options;
  options.gates = {{"", 10}};
  for (const auto& files : {std::vector<std::string>{whole, cut}, {cut, whole}}) {
    auto comparison = CompareRuns({files, {}, {}}, {{"first", "second"}}, {}, options);
    ASSERT_TRUE(comparison) << comparison.error().message;
    EXPECT_THAT(comparison->provenance.incomplete, SizeIs(1));
    EXPECT_TRUE(KeepsGates(*comparison));
    FailIncomplete(*comparison);
    EXPECT_FALSE(KeepsGates(*comparison));
    ASSERT_TRUE(comparison->gates[0].reason);
    EXPECT_EQ(*comparison->gates[0].reason, run.report.provenance.incomplete.front());
  }
  auto same =
      CompareRuns({{whole, Import(kTrace, "again.beryl")}, {}, {}}, {{"a", "b"}}, {}, options);
  FailIncomplete(*same);
  EXPECT_TRUE(KeepsGates(*same));
}

TEST_F(IncompleteTest, WhereverARunFileIsCutItPassesNoGate) {
  const std::string whole = Content(Import(kTrace, "whole.beryl"));
  size_t accounted = 0;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string cut = Write("cut.beryl", whole.substr(0, bytes));
    const auto run = AccountRunOf({{cut}, {}, {}}, {});
    if (!run) continue;
    ++accounted;
    EXPECT_FALSE(KeepsBudget(Account({{cut}, {}, {}}), false)) << bytes;
  }
  EXPECT_GT(accounted, 0U);
}

TEST_F(IncompleteTest, WhatIsLeftOfARunFileIsNotTakenForARecording) {
  auto run = ReadRunOf({{}, {kTrace}, {kRecording}}, {});
  ASSERT_TRUE(run) << run.error().message;
  const std::string path = (folder_ / "whole.beryl").string();
  auto file = GrowingFile::Open(path);
  ASSERT_TRUE(store::Save(*run, *file));
  // The recording is in front of the operations.
  bool is_said = false;
  for (double share = 0.98; share > 0.2 && !is_said; share -= 0.02) {
    const auto left = AccountRunOf({{Cut(path, "cut.beryl", share)}, {}, {}}, {});
    if (left) continue;
    is_said = left.error().message.find(
                  "what is left of this incomplete run file has no "
                  "operations") != std::string::npos;
  }
  EXPECT_TRUE(is_said);
}

TEST_F(IncompleteTest, AnEmptyTraceAmongOthersIsSaid) {
  const std::string empty = Write("empty.json", R"({"traceEvents": []})");
  RunOptions options;
  options.import.format = "tensorflow-timeline";
  auto run = AccountRunOf({{}, {kTrace, empty}, {kPower}}, options);
  ASSERT_TRUE(run) << run.error().message;
  const AccountReport report = MakeReport(*run, options);
  EXPECT_THAT(Missing(report.provenance), ElementsAre("no_events"));
}

TEST_F(IncompleteTest, TheReadingsOfARecordingCutShortAreIncomplete) {
  const std::string power = Cut(kRecording, "cut.beryl", 0.8);
  const auto read = ReadRunOf({{}, {kTrace}, {power}}, {});
  ASSERT_TRUE(read) << read.error().message;
  Provenance provenance;
  AddIncomplete(read->notes, "", provenance);
  EXPECT_THAT(Missing(provenance), Contains(StartsWith("run_file")));
  EXPECT_THAT(ReadMeasurement(power, {})->provenance.incomplete, Not(IsEmpty()));
  EXPECT_THAT(ReadMeasurement(kRecording, {})->provenance.incomplete, IsEmpty());
}

TEST_F(IncompleteTest, ARecordingCutShortKeepsNoBudget) {
  const auto whole = ReadMeasurement(kRecording, {});
  EXPECT_TRUE(KeepsBudget(*whole, false));
  const auto cut = ReadMeasurement(Cut(kRecording, "cut.beryl", 0.8), {});
  EXPECT_FALSE(KeepsBudget(*cut, false));
  EXPECT_TRUE(KeepsBudget(*cut, true));
}

TEST_F(IncompleteTest, WhereverARecordingIsCutItKeepsNoBudget) {
  const std::string whole = Content(kRecording);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto cut = ReadMeasurement(Write("cut.beryl", whole.substr(0, bytes)), {});
    if (cut) EXPECT_FALSE(KeepsBudget(*cut, false)) << bytes;
  }
}

TEST_F(IncompleteTest, ARecordingCutShortPassesNoGate) {
  analyze::CompareOptions options;
  options.gates = {{"", 10}};
  const std::string cut = Cut(kRecording, "cut.beryl", 0.8);
  auto comparison = CompareRuns({{kRecording, cut}, {}, {}}, {{"whole", "cut"}}, {}, options);
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_TRUE(KeepsGates(*comparison));
  EXPECT_THAT(Missing(comparison->provenance), Contains(StartsWith("run_file")));
  FailIncomplete(*comparison);
  EXPECT_FALSE(KeepsGates(*comparison));
}

}  // namespace
}  // namespace beryl::flows
