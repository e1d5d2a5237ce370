#include "flows/output_check.h"

#include <filesystem>

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

class OutputCheckTest : public testing::Test, protected FolderForTest {
 protected:
  OutputCheckTest() {
    EnterFolder();
    for (const char* name : {"in.csv", "data/a.csv"}) Write(name, "x");
  }

  static bool Collides(const std::string& value, const std::string& output) {
    return !CheckOutput("-o", output, {{value}});
  }
};

TEST_F(OutputCheckTest, AFileIsFoundWhateverItIsCalled) {
  fs::create_symlink("in.csv", "link.csv");
  fs::create_hard_link("in.csv", "hard.csv");
  for (const char* output : {"in.csv", "./in.csv", "data/../in.csv", "link.csv", "hard.csv"}) {
    EXPECT_TRUE(Collides("in.csv", output)) << output;
  }
  EXPECT_FALSE(Collides("in.csv", "out.csv"));
  EXPECT_FALSE(Collides("in.csv", "-"));
  EXPECT_TRUE(Collides("not there yet", "not there yet"));
}

TEST_F(OutputCheckTest, APartOfAValueMayNameAFile) {
  for (const char* value :
       {"run=in.csv", "in.csv@h100", "model@in.csv", "other.csv,in.csv", "in.csv,baud=9600",
        "PATH=in.csv@h100", "r0.beryl+in.csv", "in.csv+r1.beryl"}) {
    EXPECT_TRUE(Collides(value, "in.csv")) << value;
  }
  EXPECT_FALSE(Collides("format={V} {A}", "in.csv"));
}

TEST_F(OutputCheckTest, AFolderStandsForTheFilesInIt) {
  EXPECT_TRUE(Collides("data", "data/a.csv"));
  EXPECT_TRUE(Collides(".", "in.csv"));
  EXPECT_FALSE(Collides("data", "data/new.csv"));
  fs::create_directories("logs/plugins/profile/r1");
  std::ofstream("logs/plugins/profile/r1/host.xplane.pb") << "x";
  EXPECT_TRUE(Collides("logs", "logs/plugins/profile/r1/host.xplane.pb"));
  EXPECT_TRUE(Collides(".", "logs/plugins/profile/r1/host.xplane.pb"));
  EXPECT_FALSE(Collides("data", "logs/plugins/profile/r1/host.xplane.pb"));
  EXPECT_FALSE(Collides("logs/plugins", "in.csv"));
  EXPECT_TRUE(CheckOutput("-o", "data/a.csv", {{"data", false}})) << "a word, and no folder";
}

TEST_F(OutputCheckTest, ARunFileIsNotReplacedByTheWay) {
  fs::copy_file(before_ / "tests/data/recordings/training.beryl", "run.beryl");
  const auto refused = CheckTakesNoRun("-o", "run.beryl", true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().options, ElementsAre("force"));
  EXPECT_THAT(CheckTakesNoRun("-o", "run.beryl", false).error().message, HasSubstr("remove it"));
  EXPECT_TRUE(CheckTakesNoRun("-o", "in.csv", true));
  EXPECT_TRUE(CheckTakesNoRun("-o", "new.beryl", true));
  EXPECT_TRUE(CheckTakesNoRun("-o", "/dev/null", true));
}

}  // namespace
}  // namespace beryl::flows
