#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "store/library/library_for_test.h"

namespace beryl::store {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EntriesTest : public EitherLibrary {
 protected:
  std::vector<std::string> NamesOf(const EntryFilter& filter) {
    const auto page = library_->List(filter, {});
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> names;
    if (page) {
      for (const LibraryEntry& entry : page->entries) names.push_back(entry.name);
    }
    return names;
  }
};
BERYL_IN_EITHER_LIBRARY(EntriesTest);

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_P(EntriesTest, KeepsEverythingOfAnEntry) {
  LibraryEntry entry;
  entry.kind = EntryKind::kRun;
  entry.form = RunForm::kTraces;
  entry.name = "a run";
  entry.tags = {"paper", "a", "paper"};
  entry.notes = "first line\nsecond: 100 %";
  entry.model = "bert-base-uncased";
  entry.machine = "Linux, 8 CPUs";
  entry.profile = "h100-sxm";
  entry.request = R"({"batch":8})";
  entry.origin = Origin::kMeasured;
  double figure = 0.1;
#define BERYL_ENTRY_FIGURE(name) entry.figures.name = figure += 1.0 / 3;
  BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  entry.figures.accuracy.reset();
  entry.files = {Keep("operations", FileRole::kOps), Keep("power", FileRole::kPower)};
  entry.files[0].rank = "0";
  entry.files[0].media_type = "application/json";
  const auto added = library_->Add(entry);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_TRUE(added->is_new);
  EXPECT_TRUE(IsLibraryId(added->entry.id));
  EXPECT_GT(added->entry.created.value, 1'700'000'000'000'000'000);
  entry.id = added->entry.id;
  entry.created = added->entry.created;
  entry.tags = {"a", "paper"};
  EXPECT_EQ(added->entry, entry);
  Reopen();
  const auto again = library_->Get(entry.id);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, entry);
  EXPECT_EQ(again->bytes(), 15U);
  ExpectSound();
}

TEST_P(EntriesTest, GivesBackTheBytes) {
  std::string bytes(3'500'000, '\0');  // several chunks
  std::mt19937 random(1);
  for (char& byte : bytes) byte = static_cast<char>(random());
  auto intake = library_->BeginFile();
  ASSERT_TRUE(intake);
  for (size_t at = 0; at < bytes.size(); at += 100'000) {
    ASSERT_TRUE(intake->Write(std::string_view(bytes).substr(at, 100'000)));
  }
  EXPECT_EQ(intake->bytes(), bytes.size());
  const auto kept = intake->Keep();
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->bytes, bytes.size());
  const auto path = library_->PathOf(kept->digest);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(ContentOf(*path), bytes);
  const auto empty = library_->KeepFile("");
  ASSERT_TRUE(empty);
  EXPECT_EQ(ContentOf(*library_->PathOf(empty->digest)), "");
  if (!is_shared()) return;
  // A server that has never seen it.
  const auto other = Another();
  const auto fetched = other->PathOf(kept->digest);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_NE(*fetched, *path);
  EXPECT_EQ(ContentOf(*fetched), bytes);
}

TEST_P(EntriesTest, StoresTheSameContentOnce) {
  const LibraryEntry first = Added("one");
  LibraryEntry entry;
  entry.name = "another name";
  entry.files = {Keep("content of one")};
  const auto second = library_->Add(entry);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->is_new);
  EXPECT_EQ(second->entry, first);
  entry.kind = EntryKind::kDataset;
  const auto dataset = library_->Add(entry);
  ASSERT_TRUE(dataset);
  EXPECT_TRUE(dataset->is_new);
  EXPECT_EQ(library_->Count()->files, 1U);
  EXPECT_EQ(library_->Count()->runs, 1U);
  EXPECT_EQ(library_->Count()->datasets, 1U);
}

TEST_P(EntriesTest, RefusesFilesThatWereNotKept) {
  LibraryEntry entry;
  entry.files = {{.stored = {std::string(64, 'a'), 3}, .name = "gone.beryl"}};
  const auto added = library_->Add(entry);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(added.error().message, HasSubstr("gone.beryl"));
  EXPECT_EQ(library_->Count()->runs, 0U);
  const auto path = library_->PathOf("../../etc/passwd");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kNotFound);
}

TEST_P(EntriesTest, HoldsItsLimit) {
  options_.most_bytes = 1000;
  Reopen();
  ASSERT_TRUE(library_->KeepFile(std::string(600, 'a')));
  auto first = library_->BeginFile();
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->Write(std::string(300, 'b')));
  auto second = library_->BeginFile();
  ASSERT_TRUE(second);
  const Status refused = second->Write(std::string(200, 'c'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooMuch);
  EXPECT_THAT(refused.error().message, HasSubstr("may hold 1.00 kB"));
  { const FileIntake dropped = *std::move(second); }
  EXPECT_TRUE(first->Keep());
  EXPECT_EQ(library_->Count()->file_bytes, 900U);
}

TEST_P(EntriesTest, LeavesNothingOfWhatWasNotKept) {
  {
    auto intake = library_->BeginFile();
    ASSERT_TRUE(intake);
    ASSERT_TRUE(intake->Write("half of a file"));
  }
  EXPECT_EQ(library_->Count()->files, 0U);
  const std::string folder = is_shared() ? options_.cache : where_;
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/tmp"));
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/files"));
}

TEST_P(EntriesTest, FindsByEverything) {
  LibraryEntry entry;
  entry.name = "Fast 100% run";
  entry.tags = {"paper", "a_b"};
  entry.model = "gpt2";
  entry.machine = "box";
  entry.form = RunForm::kRecording;
  entry.files = {Keep("1")};
  entry.created = Nanos{1000};
  ASSERT_TRUE(library_->Add(entry));
  entry = {};
  entry.kind = EntryKind::kPrediction;
  entry.name = "slow";
  entry.tags = {"paper", "axb"};
  entry.profile = "h100";
  entry.created = Nanos{2000};
  ASSERT_TRUE(library_->Add(entry));
  EXPECT_THAT(NamesOf({}), ElementsAre("slow", "Fast 100% run"));
  EXPECT_THAT(NamesOf({.kind = EntryKind::kRun}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.form = RunForm::kRecording}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.tags = {"paper"}}), ElementsAre("slow", "Fast 100% run"));
  EXPECT_THAT(NamesOf({.tags = {"paper", "a_b"}}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.tags = {"pap"}}), IsEmpty());
  EXPECT_THAT(NamesOf({.model = "gpt2"}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.machine = "box"}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.profile = "h100"}), ElementsAre("slow"));
  EXPECT_THAT(NamesOf({.text = "fast 100%"}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.text = "A_B"}), ElementsAre("Fast 100% run"));
  EXPECT_THAT(NamesOf({.text = "\\"}), IsEmpty());
  EXPECT_THAT(NamesOf({.since = Nanos{2000}}), ElementsAre("slow"));
  EXPECT_THAT(NamesOf({.until = Nanos{2000}}), ElementsAre("Fast 100% run"));
  EXPECT_FALSE(library_->List({.text = std::string(2000, 'x')}, {}));
}

TEST_P(EntriesTest, ChangesAndRemoves) {
  const LibraryEntry entry = Added("before", {"x"});
  const auto changed = library_->Change(
      entry.id, {.name = "after", .tags = {{"y", "z"}}, .notes = "text", .accuracy = 0.91});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(*library_->Get(entry.id), *changed);
  EXPECT_EQ(changed->figures.accuracy, 0.91);
  EXPECT_THAT(NamesOf({.tags = {"x"}}), IsEmpty());
  EXPECT_THAT(NamesOf({.tags = {"z"}, .text = "TEXT"}), ElementsAre("after"));
  EXPECT_FALSE(library_->Change(entry.id, {.accuracy = NAN})->figures.accuracy);
  const auto removed = library_->Remove(entry.id);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->name, "after");
  EXPECT_EQ(library_->Get(entry.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(library_->Remove(entry.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(library_->Change(entry.id, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(library_->Count()->files, 1U);
  ExpectSound();
}

TEST_P(EntriesTest, TakesAnyText) {
  const std::string hostile = "a\0b\xff\x1b[31m'; DROP TABLE entry; --\n"s;
  LibraryEntry entry;
  entry.name = hostile;
  entry.notes = hostile;
  entry.tags = {hostile, "", " "};
  entry.model = hostile;
  const auto added = library_->Add(entry);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->entry.tags.size(), 1U);
  EXPECT_EQ(NamesOf({.tags = {hostile}, .model = hostile, .text = hostile}).size(), 1U);
  EXPECT_EQ(library_->Get(hostile).error().code, ErrorCode::kNotFound);
}

// Whatever is added or removed between two pages: what was there all the time comes once.
TEST_P(EntriesTest, PagesWhileThingsChange) {
  std::mt19937 random(7);
  for (int round = 0; round < (is_shared() ? 3 : 15); ++round) {
    std::set<std::string> steady;
    std::set<std::string> gone;
    std::vector<std::string> removable;
    const auto add = [&](int64_t created) {
      LibraryEntry entry;
      entry.kind = EntryKind::kPrediction;
      entry.created = Nanos{created};
      return library_->Add(entry)->entry.id;
    };
    for (int i = 0; i < 40; ++i) {
      const std::string id = add(1 + static_cast<int64_t>(random() % 10));  // many at the same time
      steady.insert(id);
      removable.push_back(id);
    }
    std::multiset<std::string> seen;
    std::string token;
    do {
      const auto page =
          library_->List({}, {.size = 1 + static_cast<int>(random() % 7), .token = token});
      ASSERT_TRUE(page) << page.error().message;
      for (const LibraryEntry& entry : page->entries) seen.insert(entry.id);
      token = page->next_token;
      add(1 + static_cast<int64_t>(random() % 10));
      const std::string& id = removable[random() % removable.size()];
      if (!gone.contains(id)) {
        ASSERT_TRUE(library_->Remove(id));
        gone.insert(id);
      }
    } while (!token.empty());
    for (const std::string& id : steady) {
      if (!gone.contains(id)) EXPECT_EQ(seen.count(id), 1U);
      EXPECT_LE(seen.count(id), 1U);
    }
  }
}

TEST_P(EntriesTest, RefusesTokensOfOtherLists) {
  for (int i = 0; i < 3; ++i) Added(std::to_string(i), {"x"});
  const std::string token = library_->List({.tags = {"x"}}, {.size = 1})->next_token;
  ASSERT_FALSE(token.empty());
  EXPECT_TRUE(library_->List({.tags = {"x"}}, {.size = 2, .token = token}));
  std::string other = token;
  other[0] = other[0] == '1' ? '2' : '1';
  for (const auto& [filter, bad] :
       std::vector<std::pair<EntryFilter, std::string>>{{{}, token},
                                                        {{.tags = {"x"}}, other},
                                                        {{.tags = {"x"}}, "1"},
                                                        {{.tags = {"x"}}, "--"}}) {
    const auto page = library_->List(filter, {.token = bad});
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::kMisuse);
    EXPECT_THAT(page.error().message, HasSubstr("page token"));
  }
  EXPECT_FALSE(library_->List({}, {.size = 0}));
  EXPECT_FALSE(library_->List({}, {.size = 1001}));
}

TEST_P(EntriesTest, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 10; ++i) {
        // Half of them are the same for all threads.
        Added(i % 2 == 0 ? std::to_string(i) : fmt::format("{} {}", thread, i));
        EXPECT_TRUE(library_->List({}, {}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(library_->Count()->runs, 25U);
  ExpectSound();
}

}  // namespace
}  // namespace beryl::store
