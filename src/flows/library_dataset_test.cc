#include "flows/library_dataset.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "flows/learn_machine.h"
#include "flows/library_prediction.h"
#include "flows/library_run.h"
#include "flows/open_library.h"
#include "flows/read_data.h"

namespace beryl::flows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kFolder = "tests/data/two-models";

class LibraryDatasetTest : public testing::Test, protected FolderForTest {
 protected:
  LibraryDatasetTest() : library_(*OpenLibrary(folder_ / "library")) {}

  Result<store::AddedEntry> Add(const std::vector<std::string>& paths, const std::string& name) {
    LibraryEntry entry;
    entry.name = name;
    for (const std::string& path : paths) {
      entry.files.push_back(TRY(KeepInLibrary(*library_, path, FileRole::kOther)));
    }
    return AddDatasetToLibrary(*library_, entry);
  }
  static std::vector<std::string> FilesOf(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      files.push_back(file.path());
    }
    return files;
  }
  // A stored prediction with that energy and accuracy.
  std::string Predicted(const std::string& name, double energy, double accuracy) {
    LibraryEntry entry;
    entry.kind = EntryKind::kPrediction;
    entry.name = name;
    entry.profile = "h100-sxm";
    entry.figures.energy_j = energy;
    entry.figures.low_j = energy - 1;
    entry.figures.high_j = energy + 1;
    entry.figures.accuracy = accuracy;
    return library_->Add(entry)->entry.id;
  }

  std::unique_ptr<store::Library> library_;
};

TEST_F(LibraryDatasetTest, SeveralFilesAreAFolder) {
  const auto added = Add(FilesOf(kFolder), "two-models");
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->entry.kind, EntryKind::kDataset);
  const auto stored = ReadLibraryDataset(*library_, added->entry, true);
  const auto direct = ReadData(kFolder, true);
  ASSERT_TRUE(stored && direct);
  EXPECT_EQ(stored->name, "two-models");
  EXPECT_EQ(stored->runs.size(), direct->runs.size());
  EXPECT_EQ(ModelsOf(*stored), ModelsOf(*direct));
  ASSERT_EQ(stored->notes.size(), direct->notes.size());
  for (const Note& note : stored->notes) EXPECT_THAT(note.first, Not(HasSubstr("beryl-run")));
  // As the command learns and tests.
  learn::TrainOptions options;
  const auto of_stored = EvaluateMethod(*stored, std::nullopt, options, 1);
  const auto of_folder = EvaluateMethod(kFolder, "", options, 1);
  ASSERT_TRUE(of_stored) << of_stored.error().message;
  ASSERT_TRUE(of_folder);
  EXPECT_EQ(of_stored->levels[0].mape_models, of_folder->levels[0].mape_models);
  EXPECT_THAT(of_stored->provenance.sources, ElementsAre("two-models"));
}

TEST_F(LibraryDatasetTest, OneFileIsCalledAsItWasGiven) {
  const std::string path = std::string(kFolder) + "/ml1_level_features.csv";
  const auto added = Add({path}, "");
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->entry.name, "ml1_level_features.csv");
  EXPECT_EQ(ReadLibraryDataset(*library_, added->entry, true)->name, "ml1_level_features.csv");
  EXPECT_FALSE(Add({path}, "again")->is_new);
}

TEST_F(LibraryDatasetTest, WhatCannotBeReadIsNotAdded) {
  const auto no_data = Add({Write("notes.txt", "no features\n")}, "");
  ASSERT_FALSE(no_data);
  EXPECT_THAT(no_data.error().message, Not(HasSubstr(folder_.string())));
  EXPECT_THAT(no_data.error().message, HasSubstr("notes.txt"));
  const std::string csv = std::string(kFolder) + "/ml1_level_features.csv";
  const auto twice = Add({csv, csv}, "");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kMisuse);
  EXPECT_FALSE(Add({}, "nothing"));
  EXPECT_EQ(library_->Count()->datasets, 0U);
}

TEST_F(LibraryDatasetTest, EntriesAreTradedOffByTheirAccuracy) {
  const std::string small = Predicted("small", 2, 0.8);
  const std::string worse = Predicted("worse", 3, 0.7);
  const std::string large = Predicted("large", 5, 0.9);
  LibraryEntry unknown;
  unknown.kind = EntryKind::kPrediction;
  unknown.figures.energy_j = 1;
  ASSERT_TRUE(library_->Add(unknown));
  EntryFilter filter;
  filter.kind = EntryKind::kPrediction;
  analyze::TradeoffOptions options;
  options.target = 0.85;
  const auto tradeoff = TradeOffLibrary(*library_, filter, "energy_j", options);
  ASSERT_TRUE(tradeoff) << tradeoff.error().message;
  ASSERT_THAT(tradeoff->points, SizeIs(3));
  EXPECT_EQ(tradeoff->points[0].model, small);
  EXPECT_EQ(tradeoff->points[0].label, "small");
  EXPECT_EQ(tradeoff->points[0].low, Joules{1});
  EXPECT_TRUE(tradeoff->points[0].optimal_predicted);
  EXPECT_EQ(tradeoff->points[1].model, worse);
  EXPECT_FALSE(tradeoff->points[1].optimal_predicted);
  EXPECT_EQ(tradeoff->points[2].model, large);
  EXPECT_FALSE(tradeoff->points[2].energy.measured);
  EXPECT_EQ(tradeoff->origin.predicted_by, "h100-sxm");
  EXPECT_FALSE(tradeoff->origin.measured);
  ASSERT_THAT(tradeoff->choices, SizeIs(1));
  EXPECT_EQ(tradeoff->choices[0].at_target, 2U);
  filter.kind = EntryKind::kRun;
  EXPECT_THAT(TradeOffLibrary(*library_, filter, "energy_j", {}).error().message,
              HasSubstr("accuracy"));
}

}  // namespace
}  // namespace beryl::flows
