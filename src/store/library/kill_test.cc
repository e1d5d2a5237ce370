// Processes that are killed at random moments: what they said was done is there, what they had not
// finished is not, and nothing is wrong with the library. BERYL_KILLS says how many, for each test.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "store/library/library_for_test.h"
#include "store/library/migrations.h"

namespace beryl::store {
namespace {

int Kills() {
  const char* const given = std::getenv("BERYL_KILLS");
  return given != nullptr ? std::atoi(given) : 10;
}

class KillTest : public EitherLibrary {
 protected:
  // Runs `work` in a process of its own, which writes what it has done to a pipe, and kills it
  // after a while. Returns what it wrote, line by line. It never ends by itself.
  static std::vector<std::string> RunAndKill(const std::function<void(int pipe)>& work,
                                             std::chrono::microseconds after) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      work(ends[1]);
      ::_exit(1);
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(after);
    ::kill(child, SIGKILL);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(got));
    }
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
};
BERYL_IN_EITHER_LIBRARY(KillTest);

// Adds, removes, collects garbage and runs jobs for ever. "!" means that it could not.
void Work(const std::string& where, const LibraryOptions& options, uint32_t seed, int pipe) {
  const auto say = [&](const std::string& what) {
    const std::string line = what + "\n";
    if (::write(pipe, line.data(), line.size()) < 0) ::_exit(1);
  };
  const auto need = [&](const auto& result) {
    if (!result) {
      say("! " + result.error().message);
      ::_exit(1);
    }
  };
  std::mt19937 random(seed);
  auto opened = Library::Open(where, options);
  need(opened);
  Library& library = **opened;
  say("opened");
  std::vector<std::string> mine;
  for (;;) {
    auto intake = library.BeginFile();
    need(intake);
    const std::string piece(1 + random() % 50'000, static_cast<char>(random()));
    for (uint32_t i = 0; i < random() % 60; ++i) need(intake->Write(piece));
    const auto kept = intake->Keep();
    need(kept);
    const EntryFile file = {.stored = *kept, .name = "x", .role = FileRole::kRun};
    LibraryEntry entry;
    entry.name = std::to_string(random());
    entry.files = {file};
    const auto added = library.Add(entry);
    need(added);
    say("added " + added->entry.id);
    mine.push_back(added->entry.id);
    const auto job = library.Enqueue("a", "{}", {file});
    need(job);
    say("queued " + job->id);
    if (random() % 2 == 0) {
      const auto claimed = library.ClaimJob();
      need(claimed);
      if (*claimed) {
        need(library.ReportJob((*claimed)->id, {1, 2, "half"}));
        need(library.FinishJob((*claimed)->id, {file}));
        say("finished " + (*claimed)->id);
      }
    }
    if (random() % 4 == 0) {
      say("removing " + mine.back());
      need(library.Remove(mine.back()));
      say("removed " + mine.back());
      mine.pop_back();
    }
    if (random() % 4 == 0) {
      need(library.CollectGarbage({.files = std::chrono::seconds(0)}));
    }
  }
}

TEST_P(KillTest, LosesNothingThatWasAcknowledged) {
  std::mt19937 random(std::random_device{}());
  std::set<std::string> entries;
  std::set<std::string> unsure;  // being removed when it was killed
  std::set<std::string> jobs;
  std::set<std::string> finished;
  options_.lease = std::chrono::seconds(0);
  size_t acknowledged = 0;
  for (int kill = 0; kill < Kills(); ++kill) {
    library_.reset();
    const auto seed = static_cast<uint32_t>(random());
    const auto said = RunAndKill([&](int pipe) { Work(where_, options_, seed, pipe); },
                                 std::chrono::microseconds(random() % 300'000));
    for (const std::string& line : said) {
      ASSERT_NE(line[0], '!') << line;
      const std::string id = line.substr(line.find(' ') + 1);
      if (line.starts_with("added")) entries.insert(id);
      if (line.starts_with("removing")) unsure.insert(id);
      if (line.starts_with("removed")) {
        entries.erase(id);
        unsure.erase(id);
        EXPECT_FALSE(entries.contains(id));
      }
      if (line.starts_with("queued")) jobs.insert(id);
      if (line.starts_with("finished")) finished.insert(id);
    }
    acknowledged += said.size();
    Reopen();
    for (const std::string& id : entries) {
      const auto entry = library_->Get(id);
      if (!entry && unsure.contains(id)) continue;
      ASSERT_TRUE(entry) << entry.error().message;
      EXPECT_EQ(entry->files.size(), 1U);
    }
    for (const std::string& id : jobs) {
      const auto job = library_->GetJob(id);
      ASSERT_TRUE(job) << job.error().message;
      EXPECT_FALSE(job->files.empty());
      if (finished.contains(id)) EXPECT_EQ(job->state, JobState::kDone);
      if (!is_shared()) EXPECT_NE(job->state, JobState::kRunning);
      const auto events = library_->EventsAfter(id, 0);
      ASSERT_TRUE(events);
      EXPECT_EQ(events->back().id, job->last_event);
      // One that was claimed again after a kill may have reported with any event.
      const bool has_reported =
          job->state == JobState::kRunning && events->back().name == "progress";
      if (!has_reported) EXPECT_EQ(events->back().name, JobStateName(job->state));
    }
    ExpectSound();
  }
  std::printf("%d kills, %zu acknowledgements, %zu entries, %zu jobs\n", Kills(), acknowledged,
              entries.size(), jobs.size());
}

TEST_P(KillTest, FinishesAMigrationTheNextTime) {
  std::mt19937 random(std::random_device{}());
  const auto make_old = [&](const std::string& where) {
    if (!is_shared()) std::filesystem::create_directories(where);
    auto database = is_shared() ? OpenPostgres(where) : OpenSqlite(where + "/library.db", false);
    ASSERT_TRUE(database);
    ASSERT_TRUE(Migrate(**database, "it", AllMigrations().first(1)));
    ASSERT_TRUE((*database)->Change([](Session& session) -> Status {
      for (int64_t i = 0; i < 2000; ++i) {
        TRY(session.Execute("INSERT INTO file (digest, bytes, kept) VALUES ($1, $2, $3)",
                            {fmt::format("{:064x}", i), int64_t{0}, int64_t{0}}));
      }
      return {};
    }));
  };
  library_.reset();
  std::chrono::microseconds whole{0};
  for (int kill = 0; kill <= Kills(); ++kill) {
    const std::string where = is_shared() ? TestPostgres::Get()->NewDatabase()
                                          : fmt::format("{}/old-{}", folder_.path(), kill);
    make_old(where);
    if (kill > 0) {
      RunAndKill(
          [&](int) {
            const auto opened = Library::Open(where, options_);
            std::this_thread::sleep_for(std::chrono::seconds(10));
          },
          std::chrono::microseconds(random() % static_cast<uint64_t>(whole.count())));
    }
    const auto began = std::chrono::steady_clock::now();
    const auto opened = Library::Open(where, options_);
    ASSERT_TRUE(opened) << opened.error().message;
    if (kill == 0) {
      whole = std::chrono::duration_cast<std::chrono::microseconds>(
          (std::chrono::steady_clock::now() - began) * 3 / 2);
    }
    EXPECT_EQ((*opened)->Count()->files, 2000U);
    EXPECT_EQ((*opened)->Count()->queued, 0U);
    if (is_shared()) continue;
    const std::string backup =
        fmt::format("{}/library-before-{}.db", where, AllMigrations().size());
    if (!std::filesystem::exists(backup)) {
      ADD_FAILURE() << "no backup was made";
      continue;
    }
    const auto copy = OpenSqlite(backup, false);
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_TRUE((*copy)->FindDamage()->empty());
  }
}

}  // namespace
}  // namespace beryl::store
