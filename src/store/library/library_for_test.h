// Libraries for tests: in a folder, and in a PostgreSQL server that the test program starts for
// itself, without a port, in a folder of its own.
#pragma once

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "store/library.h"

namespace beryl::store {

// A folder that goes with it.
class TestFolder : private FolderForTest {
 public:
  std::string path() const { return folder_.string(); }
};

// One server for the test program; it ends with it, however that ends.
class TestPostgres {
 public:
  static bool IsInstalled() { return !Programs().empty(); }
  // Null if it does not start.
  static TestPostgres* Get() {
    static const std::unique_ptr<TestPostgres> kServer = Start();
    return kServer.get();
  }
  ~TestPostgres() {
    if (server_ <= 0) return;
    ::kill(server_, SIGQUIT);
    ::waitpid(server_, nullptr, 0);
  }

  // The URL of a new, empty database.
  std::string NewDatabase() {
    const std::string name = fmt::format("t{}", ++databases_);
    EXPECT_EQ(Shell(fmt::format("createdb -h {0} -U beryl -T template0 {1}", folder_.path(), name)),
              0);
    return fmt::format("postgresql:///{}?host={}&user=beryl", name, folder_.path());
  }
  // Ends all connections, as a server that is restarted does.
  void DropConnections() {
    EXPECT_EQ(Shell(fmt::format("psql -q -o /dev/null -h {} -U beryl -d postgres -c \"SELECT "
                                "pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname "
                                "LIKE 't%'\"",
                                folder_.path())),
              0);
  }

 private:
  static std::string Programs() {
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      if (std::filesystem::exists(version.path() / "bin/initdb")) return version.path() / "bin";
    }
    return "";
  }
  static int Shell(const std::string& command) {
    return std::system(fmt::format("PATH={}:$PATH {}", Programs(), command).c_str());
  }

  static std::unique_ptr<TestPostgres> Start() {
    std::unique_ptr<TestPostgres> server(new TestPostgres);
    const std::string& folder = server->folder_.path();
    // It refuses to run as root.
    std::string as_user;
    const passwd* const nobody = ::getuid() == 0 ? ::getpwnam("nobody") : nullptr;
    if (nobody != nullptr) {
      if (::chown(folder.c_str(), nobody->pw_uid, nobody->pw_gid) != 0) return nullptr;
      as_user = fmt::format("setpriv --reuid {} --regid {} --clear-groups ", nobody->pw_uid,
                            nobody->pw_gid);
    }
    if (Shell(fmt::format("{}{}/initdb -D {}/data -U beryl -A trust --no-sync -E UTF8 "
                          "--locale=C.UTF-8 >/dev/null",
                          as_user, Programs(), folder)) != 0) {
      return nullptr;
    }
    server->server_ = ::fork();
    if (server->server_ == 0) {
      const std::string program = Programs() + "/postgres";
      const std::string data = folder + "/data";
      if (nobody != nullptr && (::setgid(nobody->pw_gid) != 0 || ::setuid(nobody->pw_uid) != 0)) {
        ::_exit(1);
      }
      ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
      const int log = ::open((folder + "/log").c_str(), O_WRONLY | O_CREAT, 0600);
      ::dup2(log, STDERR_FILENO);
      ::dup2(log, STDOUT_FILENO);
      ::execl(program.c_str(), "postgres", "-D", data.c_str(), "-k", folder.c_str(), "-c",
              "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c",
              "shared_buffers=16MB", nullptr);
      ::_exit(1);
    }
    const std::string ready = fmt::format("pg_isready -q -h {} -U beryl", folder);
    while (::waitpid(server->server_, nullptr, WNOHANG) == 0) {
      if (Shell(ready) == 0) return server;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    server->server_ = -1;
    return nullptr;
  }

  TestFolder folder_;
  pid_t server_ = -1;
  int databases_ = 0;
};

// A test of a library in either store.
class EitherLibrary : public testing::TestWithParam<bool> {
 protected:
  bool is_shared() const { return GetParam(); }

  void SetUp() override {
    if (is_shared() && !TestPostgres::IsInstalled()) {
      GTEST_SKIP() << "PostgreSQL is not installed (tools/packages-check.txt)";
    }
    if (is_shared()) ASSERT_NE(TestPostgres::Get(), nullptr) << "PostgreSQL does not start";
    where_ = is_shared() ? TestPostgres::Get()->NewDatabase() : folder_.path() + "/library";
    options_.cache = folder_.path() + "/cache";
    Reopen();
  }
  void Reopen() {
    library_.reset();
    auto opened = Library::Open(where_, options_);
    ASSERT_TRUE(opened) << opened.error().message;
    library_ = *std::move(opened);
  }
  // Another server that shares it.
  std::unique_ptr<Library> Another() {
    LibraryOptions options = options_;
    options.cache = folder_.path() + "/cache-2";
    auto opened = Library::Open(where_, options);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  EntryFile Keep(const std::string& bytes, FileRole role = FileRole::kRun) {
    const auto kept = library_->KeepFile(bytes);
    EXPECT_TRUE(kept) << kept.error().message;
    return {.stored = kept ? *kept : StoredFile(), .name = "a file.beryl", .role = role};
  }
  // An entry with a file of that content.
  LibraryEntry Added(const std::string& name, std::vector<std::string> tags = {}) {
    LibraryEntry entry;
    entry.name = name;
    entry.tags = std::move(tags);
    entry.files = {Keep("content of " + name)};
    const auto added = library_->Add(entry);
    EXPECT_TRUE(added) << added.error().message;
    return added ? added->entry : LibraryEntry();
  }
  void ExpectSound() {
    const auto check = library_->Verify();
    ASSERT_TRUE(check) << check.error().message;
    for (const LibraryProblem& problem : check->problems) {
      ADD_FAILURE() << problem.subject << ": " << problem.detail;
    }
  }

  TestFolder folder_;
  LibraryOptions options_;
  std::string where_;
  std::unique_ptr<Library> library_;
};

#define BERYL_IN_EITHER_LIBRARY(test)                    \
  INSTANTIATE_TEST_SUITE_P(Store, test, testing::Bool(), \
                           [](const auto& store) { return store.param ? "Postgres" : "Folder"; })

}  // namespace beryl::store
