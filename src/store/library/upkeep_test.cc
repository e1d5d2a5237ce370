#include <fstream>

#include <gmock/gmock.h>

#include "store/library/library_for_test.h"
#include "store/library/migrations.h"

namespace beryl::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr GarbageAges kAnyAge = {.files = std::chrono::seconds(-1),
                                 .jobs = std::chrono::seconds(-1)};

class UpkeepTest : public EitherLibrary {};
BERYL_IN_EITHER_LIBRARY(UpkeepTest);

void Overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_P(UpkeepTest, CollectsWhatNothingNames) {
  const LibraryEntry kept = Added("kept");
  const LibraryEntry removed = Added("removed");
  ASSERT_TRUE(library_->Remove(removed.id));
  const EntryFile input = Keep("of a job");
  const auto job = library_->Enqueue("a", "{}", {input});
  ASSERT_TRUE(job);
  ExpectSound();
  const auto young = library_->CollectGarbage();
  ASSERT_TRUE(young) << young.error().message;
  EXPECT_EQ(young->files, 0U);
  EXPECT_EQ(young->kept_files, 1U);
  EXPECT_EQ(young->kept_bytes, 18U);
  const auto garbage = library_->CollectGarbage(kAnyAge);
  ASSERT_TRUE(garbage) << garbage.error().message;
  EXPECT_EQ(garbage->files, 1U);
  EXPECT_EQ(garbage->bytes, 18U);
  EXPECT_EQ(garbage->jobs, 0U);
  EXPECT_FALSE(library_->PathOf(removed.files[0].stored.digest));
  EXPECT_TRUE(library_->PathOf(kept.files[0].stored.digest));
  EXPECT_TRUE(library_->PathOf(input.stored.digest));
  ASSERT_TRUE(library_->CancelJob(job->id));
  const auto ended = library_->CollectGarbage(kAnyAge);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->jobs, 1U);
  EXPECT_EQ(ended->files, 1U);
  EXPECT_FALSE(library_->GetJob(job->id));
  ExpectSound();
}

TEST_P(UpkeepTest, CollectsWhileOthersAdd) {
  std::thread adding([&] {
    for (int i = 0; i < 30; ++i) {
      const LibraryEntry entry = Added(std::to_string(i % 3));
      if (!entry.id.empty()) EXPECT_TRUE(library_->Remove(entry.id));
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto garbage = library_->CollectGarbage();
    EXPECT_TRUE(garbage) << garbage.error().message;
  }
  adding.join();
  ExpectSound();
}

TEST_P(UpkeepTest, FindsDamagedFiles) {
  if (is_shared()) GTEST_SKIP() << "the bytes are rows";
  const std::string longer = Added("longer").files[0].stored.digest;
  const std::string other = Added("other").files[0].stored.digest;
  const std::string gone = Added("gone").files[0].stored.digest;
  Overwrite(*library_->PathOf(longer), "content of longer!");
  Overwrite(*library_->PathOf(other), "content 0f other");
  std::filesystem::remove(*library_->PathOf(gone));
  const auto check = library_->Verify();
  ASSERT_TRUE(check);
  std::vector<std::pair<LibraryProblem::Kind, std::string>> found;
  for (const LibraryProblem& problem : check->problems) {
    found.emplace_back(problem.kind, problem.subject);
  }
  EXPECT_THAT(found, UnorderedElementsAre(std::pair(LibraryProblem::Kind::kSize, longer),
                                          std::pair(LibraryProblem::Kind::kContent, other),
                                          std::pair(LibraryProblem::Kind::kMissing, gone)));
  // The same bytes again heal it.
  Keep("content of longer");
  Keep("content of other");
  Keep("content of gone");
  ExpectSound();
}

TEST_P(UpkeepTest, FindsADamagedDatabase) {
  if (is_shared()) GTEST_SKIP() << "PostgreSQL checks itself";
  for (int i = 0; i < 50; ++i) Added(std::string(200, 'x') + std::to_string(i));
  library_.reset();
  std::fstream file(where_ + "/library.db", std::ios::in | std::ios::out | std::ios::binary);
  for (int page = 8; page < 20; ++page) {
    file.seekp(page * 4096 + 100);
    file << std::string(1000, '\x5a');
  }
  file.close();
  const auto opened = Library::Open(where_, {});
  if (!opened) return;  // it was noticed even earlier
  const auto check = (*opened)->Verify();
  EXPECT_TRUE(!check || !check->problems.empty());
}

TEST_P(UpkeepTest, SweepsWhatAKilledProcessLeft) {
  if (is_shared()) GTEST_SKIP() << "copies of others may be on their way";
  Overwrite(where_ + "/tmp/0123456789abcdef", "half");
  Overwrite(where_ + "/files/" + std::string(64, 'a'), "no place");
  std::filesystem::create_directory(where_ + "/files/aa");
  Overwrite(where_ + "/files/aa/" + std::string(64, 'a'), "no row");
  Reopen();
  EXPECT_TRUE(std::filesystem::is_empty(where_ + "/tmp"));
  EXPECT_EQ(library_->Verify()->unnamed_files, 1U);
  EXPECT_EQ(library_->CollectGarbage()->files, 0U);
  EXPECT_EQ(library_->CollectGarbage(kAnyAge)->files, 1U);
  ExpectSound();
}

TEST_P(UpkeepTest, IsForOneProcess) {
  if (is_shared()) {
    EXPECT_TRUE(Another()->Count());
    return;
  }
  Added("a");
  const auto second = Library::Open(where_, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kNotNow);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
  const auto reader = Library::Open(where_, {.read_only = true});
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->List({}, {})->entries.size(), 1U);
  Added("b");
  EXPECT_EQ((*reader)->List({}, {})->entries.size(), 2U);
  EXPECT_TRUE((*reader)->Verify()->problems.empty());
  EXPECT_FALSE((*reader)->Remove("0123456789abcdef"));
}

TEST_P(UpkeepTest, RefusesALaterVersion) {
  library_.reset();
  const auto database =
      is_shared() ? OpenPostgres(where_) : OpenSqlite(where_ + "/library.db", false);
  ASSERT_TRUE(database);
  ASSERT_TRUE((*database)->Change([](Session& session) -> Status {
    TRY(session.Execute("UPDATE library_version SET version = 999"));
    return {};
  }));
  const auto opened = Library::Open(where_, options_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(opened.error().message, HasSubstr("version 999"));
}

TEST_P(UpkeepTest, MigratesForwardWithABackup) {
  const TestFolder other;
  const std::string path = other.path() + "/library.db";
  const auto database =
      is_shared() ? OpenPostgres(TestPostgres::Get()->NewDatabase()) : OpenSqlite(path, false);
  ASSERT_TRUE(database);
  const auto migrations = AllMigrations();
  const auto backup_before = [&](size_t version) {
    return std::filesystem::exists(fmt::format("{}/library-before-{}.db", other.path(), version));
  };
  ASSERT_TRUE(Migrate(**database, "it", migrations.first(1)));
  std::vector<Migration> next(migrations.begin(), migrations.end());
  next.push_back({.shared = "ALTER TABLE entry ADD COLUMN later TEXT; this is no SQL"});
  EXPECT_FALSE(Migrate(**database, "it", next));
  // Nothing of it was done.
  const auto tables = [&](Session& session) -> Status {
    TRY(session.Execute("SELECT * FROM job"));
    return {};
  };
  EXPECT_FALSE((*database)->Read(tables));
  if (!is_shared()) EXPECT_TRUE(backup_before(next.size()));
  ASSERT_TRUE(Migrate(**database, "it", migrations));
  EXPECT_TRUE((*database)->Read(tables));
  EXPECT_TRUE(Migrate(**database, "it", migrations));
  if (!is_shared()) EXPECT_TRUE(backup_before(migrations.size()));
}

TEST_P(UpkeepTest, ConnectsAgain) {
  if (!is_shared()) GTEST_SKIP() << "there is no connection";
  const LibraryEntry entry = Added("a");
  TestPostgres::Get()->DropConnections();
  EXPECT_TRUE(library_->Get(entry.id));
  TestPostgres::Get()->DropConnections();
  EXPECT_EQ(Added("b").name, "b");
}

TEST(OpenLibraryTest, SaysWhatIsWrong) {
  const TestFolder folder;
  const auto none = Library::Open(folder.path() + "/none", {.read_only = true});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  std::filesystem::create_directory(folder.path() + "/foreign");
  Overwrite(folder.path() + "/foreign/library.db", std::string(5000, 'x'));
  const auto foreign = Library::Open(folder.path() + "/foreign");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::kInvalid);
  Overwrite(folder.path() + "/file", "x");
  EXPECT_FALSE(Library::Open(folder.path() + "/file"));
  const auto nowhere =
      Library::Open("postgresql://me:secret@127.0.0.1:1/none", {.cache = folder.path()});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("postgresql://me@127.0.0.1:1/none"));
  EXPECT_THAT(nowhere.error().message, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace beryl::store
