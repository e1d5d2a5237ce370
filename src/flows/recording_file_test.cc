#include "flows/recording_file.h"

#include <filesystem>
#include <iterator>

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

class RecordingFileTest : public testing::Test, protected FolderForTest {
 protected:
  RecordingFileTest() { EnterFolder(); }

  static size_t Files() {
    return static_cast<size_t>(std::distance(fs::directory_iterator("."), {}));
  }
};

TEST_F(RecordingFileTest, WithoutANameItTakesAFreeOne) {
  {
    auto first = RecordingFile::Open("", false);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->path(), "run.beryl");
    EXPECT_EQ(Files(), 0u) << "nothing to be seen yet";
    ASSERT_TRUE(first->file().Append("bytes"));
    ASSERT_TRUE(first->file().Show());
    const auto second = RecordingFile::Open("", false);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->path(), "run-2.beryl") << "the first is taken";
    ASSERT_TRUE(first->Keep());
    ASSERT_TRUE(first->Keep());
  }
  EXPECT_EQ(Content("run.beryl"), "bytes");
  EXPECT_EQ(Files(), 1u) << "the second was not kept";
}

TEST_F(RecordingFileTest, OfSeveralThatBeginAtOnceEachHasItsOwn) {
  for (const char* const given : {"", "mine.beryl"}) {
    auto first = RecordingFile::Open(given, false);
    auto second = RecordingFile::Open(given, false);
    auto third = RecordingFile::Open(given, false);
    auto fourth = RecordingFile::Open(given, false);
    ASSERT_TRUE(first && second && third && fourth);
    for (auto* file : {&*first, &*second, &*third}) {
      ASSERT_TRUE(file->file().Append(file->path()));
      ASSERT_TRUE(file->file().Show());
    }
    ASSERT_TRUE(first->Keep() && third->Keep());  // the second does not begin after all
  }
  EXPECT_EQ(Content("run.beryl"), "run.beryl");
  EXPECT_EQ(Content("run-3.beryl"), "run.beryl") << "what the third was to be called";
  EXPECT_TRUE(fs::exists("mine.beryl") && fs::exists("mine-3.beryl"));
  EXPECT_EQ(Files(), 4u);
}

TEST_F(RecordingFileTest, WhatExistsIsReplacedOnlyOnRequestAndOnlyWhenKept) {
  Write("old.beryl", "old");
  fs::permissions("old.beryl", fs::perms::owner_read | fs::perms::owner_write);
  const auto refused = RecordingFile::Open("old.beryl", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kMisuse);
  for (const bool keep : {false, true}) {
    auto file = RecordingFile::Open("old.beryl", true);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->file().Append("new"));
    ASSERT_TRUE(file->file().Show());
    EXPECT_EQ(Content("old.beryl"), "old");
    EXPECT_EQ(file->path(), "old.beryl") << "said as it was given";
    if (keep) ASSERT_TRUE(file->Keep());
    ASSERT_TRUE(file->file().Append("er"));
  }
  EXPECT_EQ(Content("old.beryl"), "newer");
  EXPECT_EQ(fs::status("old.beryl").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(RecordingFileTest, AnEmptyFileHasNothingToLoseAndALinkStays) {
  Write("empty", "");
  fs::create_symlink("empty", "link");
  {
    auto file = RecordingFile::Open("link", false);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->file().Append("new"));
    ASSERT_TRUE(file->file().Show());
  }
  EXPECT_EQ(Content("empty"), "");
  {
    auto file = RecordingFile::Open("link", false);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->file().Append("new"));
    ASSERT_TRUE(file->file().Show());
    ASSERT_TRUE(file->Keep());
  }
  EXPECT_TRUE(fs::is_symlink("link"));
  EXPECT_EQ(Content("empty"), "new");
}

TEST_F(RecordingFileTest, DevicesAndFoldersAreTakenAsTheyAre) {
  EXPECT_TRUE(RecordingFile::Open("/dev/null", false));
  EXPECT_TRUE(RecordingFile::Open("-", false));
  EXPECT_FALSE(RecordingFile::Open(".", false));
  EXPECT_FALSE(RecordingFile::Open("no/such/folder/run.beryl", false));
}

}  // namespace
}  // namespace beryl::flows
