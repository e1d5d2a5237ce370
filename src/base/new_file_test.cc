#include "base/new_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public testing::TestWithParam<NewFile::Name> {
 protected:
  NewFileTest()
      : folder_(fs::temp_directory_path() / fmt::format("beryl_new_file.{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~NewFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  // Whether the file has a name before it is in place.
  static bool IsNamed() { return GetParam() == NewFile::Name::kFromStart; }

 private:
  fs::path folder_;
};

INSTANTIATE_TEST_SUITE_P(All, NewFileTest,
                         testing::Values(NewFile::Name::kNoneIfPossible,
                                         NewFile::Name::kFromStart));

TEST_P(NewFileTest, IsSeenWhenItIsPlaced) {
  auto file = NewFile::Open(Path("out"), GetParam());
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->Write("one "));
  EXPECT_THAT(Files(), SizeIs(IsNamed() ? 1 : 0));
  EXPECT_FALSE(fs::exists(Path("out")));
  ASSERT_TRUE(file->Place());
  EXPECT_EQ(Content(Path("out")), "one ");
  ASSERT_TRUE(file->Write("two"));
  ASSERT_TRUE(file->Place());
  EXPECT_EQ(Content(Path("out")), "one two");
  EXPECT_THAT(Files(), ElementsAre("out"));
}

TEST_P(NewFileTest, WhatIsNotPlacedLeavesNothing) {
  std::ofstream(Path("out")) << "old";
  {
    auto file = NewFile::Open(Path("out"), GetParam());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Write("new"));
    NewFile moved = std::move(*file);
  }
  EXPECT_THAT(Files(), ElementsAre("out"));
  EXPECT_EQ(Content(Path("out")), "old");
}

// A stranger in a shared folder cannot prepare a link for us to write through.
TEST_P(NewFileTest, TheNameCannotBeGuessed) {
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i) {
    auto file = NewFile::Open(Path("out"), NewFile::Name::kFromStart);
    ASSERT_TRUE(file);
    names.push_back(Files().at(0));
    EXPECT_THAT(names.back(), testing::Not(HasSubstr(std::to_string(::getpid()))));
  }
  EXPECT_NE(names[0], names[1]);
  std::ofstream(Path("victim")) << "precious";
  fs::create_symlink(Path("victim"), Path(fmt::format("out.{}.part", ::getpid())));
  auto file = NewFile::Open(Path("out"), GetParam());
  ASSERT_TRUE(file && file->Write("x") && file->Place());
  EXPECT_EQ(Content(Path("victim")), "precious");
}

TEST_P(NewFileTest, ReplacesTheFileBehindALinkAndKeepsItPrivate) {
  std::ofstream(Path("file")) << "old";
  fs::permissions(Path("file"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("file", Path("link"));
  auto file = NewFile::Open(Path("link"), GetParam());
  ASSERT_TRUE(file && file->Write("new") && file->Place());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Content(Path("file")), "new");
  struct stat info {};
  ASSERT_EQ(::stat(Path("file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_P(NewFileTest, ASignalThatEndsTheProgramLeavesNothing) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGKILL}) {
    if (signal == SIGKILL && IsNamed()) continue;  // this is why it has no name if possible
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      auto file = NewFile::Open(Path("out"), GetParam());
      if (file && file->Write("half")) std::raise(signal);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal;
    EXPECT_THAT(Files(), IsEmpty()) << signal;
  }
}

TEST_P(NewFileTest, AFullDiskIsAnErrorAndLeavesNothing) {
  auto file = NewFile::Open("/dev/full");
  ASSERT_TRUE(file);
  const Status written = file->Write("x");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("/dev/full: cannot write: No space left"));
}

TEST_P(NewFileTest, WhereItCannotBeFailsAtOnce) {
  for (const char* path : {"no/such/folder/out", "", "folder/"}) {
    EXPECT_FALSE(NewFile::Open(*path == '\0' ? "" : Path(path), GetParam())) << path;
  }
}

}  // namespace
}  // namespace beryl
