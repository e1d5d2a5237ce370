#include "types/op_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(PathTableTest, OneStepForOneNameKindAndTypeBelowOneParent) {
  PathTable paths;
  const PathId a = paths.Intern(kRootPath, 7, PathKind::kModule);
  EXPECT_EQ(paths.Intern(kRootPath, 7, PathKind::kModule), a);
  EXPECT_NE(paths.Intern(kRootPath, 7, PathKind::kOperation), a);
  EXPECT_NE(paths.Intern(kRootPath, 7, PathKind::kModule, 3), a);
  EXPECT_NE(paths.Intern(a, 7, PathKind::kModule), a);
  EXPECT_EQ(paths.size(), 5U);
  for (PathId id = 1; id < paths.size(); ++id) EXPECT_LT(paths[id].parent, id);
}

TEST(PathTableTest, ManyPathsAreFoundAgain) {
  PathTable paths;
  std::vector<PathId> added;
  for (int round = 0; round < 2; ++round) {
    size_t next = 0;
    for (PathId parent = 0; parent < 100; ++parent) {
      for (StringId name = 0; name < 100; ++name, ++next) {
        const PathId path = paths.Intern(parent, name, PathKind::kModule, name % 3);
        if (round == 0) added.push_back(path);
        ASSERT_EQ(path, added[next]);
        ASSERT_EQ(paths[path].parent, parent);
        ASSERT_EQ(paths[path].name, name);
      }
    }
    EXPECT_EQ(paths.size(), 10'001U);
  }
}

TEST(OpTraceTest, QualifiedNameIsTheScopeAndTheOperation) {
  OpTrace trace;
  OpKind kind;
  kind.op = trace.strings.Intern("MatMul");
  EXPECT_EQ(trace.QualifiedName(kind), "MatMul");
  kind.scope = trace.paths.Intern(kRootPath, trace.strings.Intern("bert"), PathKind::kModule);
  kind.scope = trace.paths.Intern(kind.scope, trace.strings.Intern("layer_0"), PathKind::kModule);
  EXPECT_EQ(trace.QualifiedName(kind), "bert/layer_0/MatMul");
  EXPECT_EQ(trace.PathText(kind.scope), "bert/layer_0");
  EXPECT_EQ(trace.PathText(kRootPath), "");
}

// A scope may have an empty name: "a//b" is what the program called it.
TEST(OpTraceTest, EmptyStepsKeepTheirSlash) {
  OpTrace trace;
  PathId path = trace.paths.Intern(kRootPath, trace.strings.Intern("a"), PathKind::kModule);
  path = trace.paths.Intern(path, trace.strings.Intern(""), PathKind::kModule);
  path = trace.paths.Intern(path, trace.strings.Intern("b"), PathKind::kModule);
  EXPECT_EQ(trace.PathText(path), "a//b");
}

TEST(ImportReportTest, NotesAreCountedByKindFromTheFirstByte) {
  ImportReport report;
  report.Count(NoteKind::kMissingDur, 500);
  report.Count(NoteKind::kMissingDur, 100, 4);
  report.Count(NoteKind::kMetadata, 7);
  report.Count(NoteKind::kNoName, 9);
  ASSERT_EQ(report.notes.size(), 3U);
  EXPECT_EQ(report.notes[0].count, 5U);
  EXPECT_EQ(report.notes[0].first_byte, 100U);
  EXPECT_EQ(report.notes[1].count, 1U);
  EXPECT_EQ(report.Total(NoteClass::kDropped), 6U);
  EXPECT_EQ(report.Total(NoteClass::kSkipped), 1U);
}

TEST(OpTraceTest, PhasesHaveNames) {
  EXPECT_EQ(PhaseName(Phase::kForward), "forward");
  EXPECT_EQ(PhaseName(Phase::kBackward), "backward");
  EXPECT_EQ(PhaseName(Phase::kOptimizer), "optimizer");
}

}  // namespace
}  // namespace beryl
