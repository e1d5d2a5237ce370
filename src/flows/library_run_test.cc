#include "flows/library_run.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "flows/account_run.h"
#include "flows/edit_library.h"
#include "flows/library_export.h"
#include "flows/library_profile.h"
#include "flows/open_library.h"

namespace beryl::flows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOps = "tests/golden/tensorflow-layers-json/ops.json";
constexpr const char* kPower = "tests/golden/tensorflow-layers-json/power.csv";
constexpr const char* kRecording = "tests/data/recordings/training.beryl";

RunFiles Traces(const std::string& ops = kOps) {
  RunFiles files;
  files.ops = {ops};
  files.power = {kPower};
  return files;
}

RunFiles RunFile(const std::string& path) {
  RunFiles files;
  files.runs = {path};
  return files;
}

class LibraryRunTest : public testing::Test, protected FolderForTest {
 protected:
  LibraryRunTest() : library_(*OpenLibrary(folder_ / "library")) {}
  std::unique_ptr<store::Library> library_;
};

TEST_F(LibraryRunTest, TracesAreAccountedAsBefore) {
  const RunFiles files = Traces();
  const auto added = AddRunToLibrary(*library_, files, {}, {});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->entry.form, RunForm::kTraces);
  EXPECT_EQ(added->entry.name, "ops.json");
  EXPECT_EQ(added->entry.origin, Origin::kMeasured);
  const auto direct = AccountRunOf(files, {});
  ASSERT_TRUE(direct);
  auto input = ReadLibraryRun(*library_, added->entry, {});
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_THAT(input->context.ops_files, ElementsAre("ops.json"));
  EXPECT_THAT(input->context.power_files, ElementsAre("power.csv"));
  const auto stored = AccountRun(*std::move(input), {});
  ASSERT_TRUE(stored);
  EXPECT_THAT(stored->input.context.energy_source, Not(HasSubstr("beryl-run")));
  const AccountReport before = MakeReport(*direct, {});
  const AccountReport after = MakeReport(*stored, {});
  ASSERT_FALSE(before.tree.columns.empty());
  EXPECT_EQ(after.tree.columns[0].total, before.tree.columns[0].total);
  EXPECT_DOUBLE_EQ(*added->entry.figures.energy_j, before.folded.columns[0].total[0]);
  const auto path = library_->PathOf(added->entry.files[1].stored.digest);
  ASSERT_TRUE(path);
  EXPECT_EQ(Content(*path), Content(kPower));
}

TEST_F(LibraryRunTest, RecordingsHaveFiguresAndMachine) {
  const auto added = AddRunToLibrary(*library_, RunFile(kRecording), {}, {});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->entry.form, RunForm::kRecording);
  EXPECT_EQ(added->entry.name, "training");
  EXPECT_FALSE(added->entry.machine.empty());
  EXPECT_GT(added->entry.figures.energy_j, 0.0);
  EXPECT_GE(added->entry.figures.machine_j, added->entry.figures.energy_j);
  EXPECT_GT(added->entry.figures.duration_s, 0.0);
  const auto again = AddRunToLibrary(*library_, RunFile(kRecording), {}, {});
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_new);
}

TEST_F(LibraryRunTest, WhatCannotBeReadIsNotAdded) {
  const std::string bad = Write("bad.beryl", "no run");
  const auto added = AddRunToLibrary(*library_, RunFile(bad), {}, {});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("bad.beryl"));
  EXPECT_THAT(added.error().message, Not(HasSubstr("beryl-run")));
  EXPECT_EQ(library_->Count()->runs, 0U);
  for (const char* path : {"-", "tests/golden"}) {
    EXPECT_EQ(AddRunToLibrary(*library_, Traces(path), {}, {}).error().code, ErrorCode::kMisuse);
  }
  EXPECT_EQ(library_->Count()->files, 1U);
}

TEST_F(LibraryRunTest, ProfilesAreCheckedToo) {
  LibraryEntry profile;
  profile.files = {*KeepInLibrary(*library_, "data/gtx1080ti-i9-7900x.json", FileRole::kOther)};
  const auto added = AddProfileToLibrary(*library_, profile);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_FALSE(added->entry.name.empty());
  EXPECT_FALSE(added->entry.machine.empty());
  profile.files = {*KeepInLibrary(*library_, kPower, FileRole::kOther)};
  EXPECT_FALSE(AddProfileToLibrary(*library_, profile));
}

TEST_F(LibraryRunTest, NothingIsReplaced) {
  const auto added = AddRunToLibrary(*library_, Traces(), {}, {});
  ASSERT_TRUE(added);
  const std::string out = folder_ / "out";
  const auto written = WriteLibraryFiles(*library_, added->entry.id, out);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(*written, ElementsAre(out + "/ops.json", out + "/power.csv"));
  EXPECT_EQ(Content(written->front()), Content(kOps));
  EXPECT_FALSE(WriteLibraryFiles(*library_, added->entry.id, out));
  ASSERT_TRUE(ExportLibrary(*library_, folder_ / "export"));
  EXPECT_FALSE(ExportLibrary(*library_, folder_ / "export"));
  EXPECT_FALSE(ExportLibrary(*library_, out));
}

TEST_F(LibraryRunTest, AnExportGoesAnywhere) {
  const auto added = AddRunToLibrary(*library_, Traces(), {}, {});
  ASSERT_TRUE(added);
  const std::string folder = folder_ / "export";
  ASSERT_TRUE(ExportLibrary(*library_, folder));
  EXPECT_TRUE(IsLibraryExport(folder));
  EXPECT_FALSE(IsLibraryExport(folder_));
  const auto other = OpenLibrary(folder_ / "other");
  ASSERT_TRUE(other);
  const auto transfer = AddLibraryExport(**other, folder);
  ASSERT_TRUE(transfer) << transfer.error().message;
  EXPECT_EQ(transfer->entries, 1U);
  EXPECT_EQ(transfer->files, 2U);
  EXPECT_EQ(*(*other)->Get(added->entry.id), added->entry);
  EXPECT_EQ(AddLibraryExport(**other, folder)->already_there, 1U);
}

TEST_F(LibraryRunTest, EachRunIsAnEntryAndTwiceTheSameIsOne) {
  LibraryEntry about;
  about.tags = {"paper"};
  RunFiles files = RunFile(kRecording);
  files.runs.push_back(Copy(kRecording, "again.beryl"));
  const auto added = AddToLibrary(*library_, files, about, {});
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(added->list.page.entries.size(), 2U);
  const std::string id = added->list.page.entries.front().id;
  EXPECT_THAT(added->already_there, ElementsAre(id));
  EXPECT_THAT(added->list.page.entries.front().tags, ElementsAre("paper"));
  EXPECT_EQ(RemoveFromLibrary(*library_, {id, "nothing"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(library_->Count()->runs, 1U) << "nothing is removed if an id is unknown";
  const auto removed = RemoveFromLibrary(*library_, {id});
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->page.entries.front().id, id);
  EXPECT_EQ(library_->Count()->runs, 0U);
}

TEST_F(LibraryRunTest, AllFilesTogetherAreADataSet) {
  LibraryEntry about;
  about.kind = EntryKind::kDataset;
  RunFiles files;
  files.runs = {"tests/data/two-models/model_level_features.csv",
                "tests/data/two-models/module_level_features.csv"};
  const auto added = AddToLibrary(*library_, files, about, {});
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(added->list.page.entries.size(), 1U);
  EXPECT_EQ(added->list.page.entries.front().files.size(), 2U);
}

TEST_F(LibraryRunTest, AListIsOfATime) {
  ASSERT_TRUE(AddToLibrary(*library_, RunFile(kRecording), {}, {}));
  ListRequest request;
  request.since = "2020-01-01";
  EXPECT_EQ(ListLibrary(*library_, request)->page.entries.size(), 1U);
  request.until = "2020-01-02";
  EXPECT_TRUE(ListLibrary(*library_, request)->page.entries.empty());
  request.until = "yesterday";
  const auto list = ListLibrary(*library_, request);
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(list.error().message, HasSubstr("'yesterday' is no time"));
}

}  // namespace
}  // namespace beryl::flows
