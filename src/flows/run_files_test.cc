#include "flows/run_files.h"

#include <cstdio>
#include <fstream>

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(GroupByRank, GivesFilesToTheRankTheyFollow) {
  const RunFiles files = GroupByRank({{"power", "shared.csv"},
                                      {"rank", "0"},
                                      {"ops", "a.json"},
                                      {"threads", "2"},
                                      {"rank", "1"},
                                      {"ops", "b.json"},
                                      {"power", "b.csv"}});
  EXPECT_THAT(files.power, ElementsAre("shared.csv"));
  ASSERT_EQ(files.ranks.size(), 2U);
  EXPECT_EQ(files.ranks[0].rank, "0");
  EXPECT_THAT(files.ranks[0].ops, ElementsAre("a.json"));
  EXPECT_THAT(files.ranks[1].power, ElementsAre("b.csv"));
  EXPECT_THAT(files.All(), ElementsAre("shared.csv", "a.json", "b.json", "b.csv"));
  EXPECT_TRUE(CheckRunFiles(files));
}

TEST(CheckRunFiles, SaysWhatIsMissingOrTooMuch) {
  const auto problem = [](const RunFiles& files) {
    const auto ok = CheckRunFiles(files);
    return ok ? std::string() : ok.error().message;
  };
  EXPECT_THAT(problem({}), HasSubstr("nothing to read"));
  EXPECT_THAT(problem({{"a.beryl"}, {"ops.json"}, {}}), HasSubstr("unexpected run file 'a.beryl'"));
  EXPECT_THAT(problem({{}, {"ops.json"}, {}}), HasSubstr("power trace of the run is missing"));
  EXPECT_THAT(problem({{}, {}, {"p.csv"}}), HasSubstr("operation trace of the run is missing"));
  EXPECT_THAT(problem({{"a.beryl", "a.beryl"}, {}, {}}), HasSubstr("a.beryl is given twice"));
  EXPECT_THAT(problem({{}, {"o.json"}, {"p.csv"}, {{"0", {"a.json"}, {}, {}}}}),
              HasSubstr("comes before the first"));
  EXPECT_THAT(problem({{}, {}, {"p.csv"}, {{"0", {"a.json"}, {}, {}}, {"0", {"b.json"}, {}, {}}}}),
              HasSubstr("rank 0 is given twice"));
  EXPECT_THAT(problem({{}, {}, {"p.csv"}, {{"0", {}, {}, {}}}}),
              HasSubstr("has no operation trace"));
  EXPECT_THAT(problem({{"a.beryl+a.beryl"}, {}, {}}), HasSubstr("a.beryl is given twice"));
  EXPECT_EQ(problem({{"a.beryl", "b.beryl"}, {}, {}}), "");
}

TEST(CheckOneRun, RanksAreJoinedAndOtherRunsAreNot) {
  EXPECT_TRUE(CheckOneRun({{"a.beryl+b.beryl"}, {}, {}}));
  const auto two = CheckOneRun({{"a.beryl", "b.beryl"}, {}, {}});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(two.error().message, HasSubstr("joined by +, a.beryl+b.beryl"));
}

TEST(FilesOfRun, SplitsAtPlusUnlessThatIsInTheName) {
  EXPECT_THAT(FilesOfRun("a.beryl+b.beryl"), ElementsAre("a.beryl", "b.beryl"));
  const std::string odd = testing::TempDir() + "c++.beryl";
  std::ofstream(odd) << "x";
  EXPECT_THAT(FilesOfRun(odd), ElementsAre(odd));
  ::remove(odd.c_str());
}

TEST(LabelRuns, TakesWhatTellsFilesApart) {
  EXPECT_THAT(*LabelRuns({"x/a.beryl", "x/b.beryl"}, ""), ElementsAre("a", "b"));
  EXPECT_THAT(*LabelRuns({"x/run.beryl", "y/run.beryl"}, ""), ElementsAre("x/run", "y/run"));
  EXPECT_THAT(*LabelRuns({"run.beryl", "run.beryl"}, ""), ElementsAre("run #1", "run #2"));
  EXPECT_THAT(*LabelRuns({"x/a.beryl+x/b.beryl", "x/c.beryl"}, ""), ElementsAre("a+b", "c"));
  EXPECT_THAT(*LabelRuns({}, ""), ElementsAre("run"));
  EXPECT_THAT(*LabelRuns({"a", "b"}, "old, new"), ElementsAre("old", "new"));
}

TEST(LabelRuns, RefusesLabelsThatDoNotFit) {
  for (const char* given : {"one", "same,same", "a,", "a,b,c"}) {
    EXPECT_FALSE(LabelRuns({"a", "b"}, given)) << given;
  }
}

}  // namespace
}  // namespace beryl::flows
