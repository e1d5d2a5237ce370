#include "datasets/feature_csv.h"

#include <cmath>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
namespace beryl::datasets {
namespace {

constexpr char kHeader[] =
    "batch_size,seq_len,flops,mem_bytes,cpu,mem,gpu,gpu_mem,gpu_clk,gpu_mem_clk,times_mean,"
    "gpu_energy_mean,energy_mean,level_name,model_name\n";
constexpr char kNumbers[] = "8,32,1,2,8.5,10,90,17,1900,3802,0.001,0.1,0.2";

std::string Row(const std::string& level_name, const std::string& model = "m") {
  return std::string(kNumbers) + "," + level_name + "," + model + "\n";
}

FeatureCsv File(const std::string& name, const std::string& rows) {
  return {name, kHeader + rows, KindOfFile(name)};
}

Result<Dataset> Read(std::vector<FeatureCsv> files, DatasetOptions options = {}) {
  NoteLog log;
  return ReadFeatureCsvs(files, "data", options, log);
}

Dataset ReadOk(std::vector<FeatureCsv> files, DatasetOptions options = {}) {
  auto data = Read(std::move(files), options);
  EXPECT_TRUE(data) << data.error().message;
  return data ? *data : Dataset{};
}

std::vector<std::string> Paths(const ModelRun& run) {
  std::vector<std::string> paths;
  for (NodeId i = 0; i < run.tree.nodes.size(); ++i) {
    paths.push_back(NodePath(run.tree, i) + ":" + run.tree.nodes[i].type);
  }
  return paths;
}

TEST(FeatureCsv, TreeIsRebuiltFromScopes) {
  const Dataset data = ReadOk(
      {File("model.csv", Row("m")),
       File("module.csv", Row("encoder.layer.0.attention:Attention") + Row("encoder:Encoder") +
                              Row("encoder.layer.0:Block") + Row("encoder.layer.1:Block")),
       File("ml1.csv", Row("wte:Embedding") + Row("encoder.layer.0.attention.query:Linear")),
       File("ml2.csv", Row("encoder.layer.0.attention:MatMul") +
                           Row("encoder.layer.0.attention:MatMul") +
                           Row("encoder.layer.0.attention:Softmax"))});
  ASSERT_THAT(data.runs, SizeIs(1));
  EXPECT_THAT(data.notes, IsEmpty());
  const ModelRun& run = data.runs[0];
  EXPECT_THAT(
      Paths(run),
      ElementsAre(":", "wte:Embedding", "encoder:Encoder", "encoder/layer.0:Block",
                  "encoder/layer.0/attention:Attention", "encoder/layer.0/attention/query:Linear",
                  "encoder/layer.0/attention/matmul:MatMul",
                  "encoder/layer.0/attention/matmul_1:MatMul",
                  "encoder/layer.0/attention/softmax:Softmax", "encoder/layer.1:Block"));
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.tree.nodes[0].name, "m");
  EXPECT_EQ(run.tree.nodes[0].level, Level::kModel);
  EXPECT_EQ(run.tree.nodes[0].end, 10u);
  EXPECT_EQ(run.tree.nodes[4].parent, 3u);
  EXPECT_EQ(run.tree.nodes[4].depth, 3);
  EXPECT_EQ(run.tree.nodes[4].end, 9u);
  EXPECT_EQ(run.tree.nodes[4].level, Level::kModule);
  EXPECT_EQ(run.tree.nodes[6].level, Level::kMl);
  EXPECT_EQ(ScopeOf(run.tree, 7), "encoder.layer.0.attention.matmul_1");
  EXPECT_EQ(run.lines[4], 2u);
}

TEST(FeatureCsv, FeaturesAreFoundByNameAndTheInputSizeIsComputed) {
  const Dataset data = ReadOk({{"ml.csv",
                                "\xEF\xBB\xBFmodel_name,note,\"level_name\",energy_mean,times_mean,"
                                "cpu_energy_mean,mem,cpu,mem_bytes,flops,seq_len,batch_size\r\n"
                                "\"a, \"\"b\"\"\",x,fc:Linear,5,0.5,4,3,2,1,0,32,8\r\n"
                                "\r\n"
                                "\"a, \"\"b\"\"\",x,fd:Linear,6,0.5,4,3,2,1,0,32,8",
                                RowKind::kPrimitive}});
  ASSERT_THAT(data.runs, SizeIs(1));
  const ModelRun& run = data.runs[0];
  EXPECT_EQ(run.model, "a, \"b\"");
  ASSERT_THAT(run.tree.nodes, SizeIs(3));
  EXPECT_EQ(run.measured[1], 5);
  EXPECT_EQ(run.measured[2], 6);
  EXPECT_EQ(run.lines[2], 4u);
  const FeatureRow& row = run.features[1];
  EXPECT_EQ(At(row, Feature::kInputSize), 256);
  EXPECT_EQ(At(row, Feature::kSeconds), 0.5);
  EXPECT_EQ(At(row, Feature::kCpuEnergy), 4);
  EXPECT_EQ(At(row, Feature::kFlops), 0);
  EXPECT_TRUE(std::isnan(At(row, Feature::kGpuEnergy)));
  EXPECT_TRUE(std::isnan(At(row, Feature::kParameters)));
}

TEST(FeatureCsv, RunsStandInTheOrderOfTheModelRows) {
  const Dataset data =
      ReadOk({File("ml1.csv", Row("a:Linear", "z") + Row("a:Linear", "y") + Row("a:Linear", "x")),
              File("model.csv", Row("x", "x") + Row("y", "y"))});
  EXPECT_THAT(ModelsOf(data), ElementsAre("x", "y", "z"));
}

TEST(FeatureCsv, MissingColumnIsAnErrorThatSaysWhatIsThere) {
  const std::string last = "model_name";
  for (const std::string column : {"batch_size", "seq_len", "level_name", "model_name",
                                   "energy_mean", "flops", "mem_bytes", "times_mean", "cpu", "mem",
                                   "gpu", "gpu_mem", "gpu_clk", "gpu_mem_clk", "gpu_energy_mean"}) {
    std::string text = std::string(kHeader) + Row("a:Linear");
    const size_t at = (',' + text).find(fmt::format(",{}{}", column, column == last ? '\n' : ','));
    ASSERT_NE(at, std::string::npos);
    text.replace(at, column.size(), "other");
    auto data = Read({{"f.csv", text, RowKind::kPrimitive}});
    ASSERT_FALSE(data) << column;
    EXPECT_THAT(data.error().message,
                HasSubstr("f.csv:1: no column '" + column + "'; the header has "))
        << column;
  }
}

TEST(FeatureCsv, EnergyIsNotNeededByWhoOnlyPredicts) {
  std::string text = std::string(kHeader) + Row("a:Linear");
  text.replace(text.find("energy_mean,level"), 11, "ignored_____");
  EXPECT_FALSE(Read({{"f.csv", text, RowKind::kPrimitive}}));
  const Dataset data = ReadOk({{"f.csv", text, RowKind::kPrimitive}}, {.needs_energy = false});
  ASSERT_THAT(data.runs, SizeIs(1));
  EXPECT_TRUE(std::isnan(data.runs[0].measured[1]));
}

// One row that is bad and one that is not; what is found of the first.
struct BadRow {
  std::string row;
  std::string what;
};

TEST(FeatureCsv, RowsThatCannotBeUsedAreLeftOutAndLocated) {
  const std::vector<BadRow> bad = {
      {"8,32,many,2,8.5,10,90,17,1900,3802,0.001,0.1,0.2,b:Linear,m\n",
       "text_for_number example=flops 'many'"},
      {"8,32,,2,8.5,10,90,17,1900,3802,0.001,0.1,0.2,b:Linear,m\n",
       "field_without_number example=flops"},
      {"8,32,1,2,8.5,10,90,17,1900,3802,0.001,NaN,0.2,b:Linear,m\n",
       "number_not_finite example=gpu_energy_mean 'NaN'"},
      {"8,32,1,2,8.5,10,90,17,1900,3802,0.001,0.1,-inf,b:Linear,m\n",
       "number_not_finite example=energy_mean '-inf'"},
      {"8,32,1,2,8.5,10,90,17,1900,3802,0.001,0.1,0,b:Linear,m\n",
       "energy_not_positive example=energy_mean '0'"},
      {"8,32,1,2,8.5,10,90,17,1900,3802,0,0.1,0.2,b:Linear,m\n",
       "time_not_positive example=times_mean '0'"},
      {"8,32,1,2,-8.5,10,90,17,1900,3802,0.001,0.1,0.2,b:Linear,m\n",
       "feature_negative example=cpu '-8.5'"},
      {Row(":Linear"), "scope_empty example=level_name ':Linear'"},
      {Row("a..b:Linear"), "scope_empty example=level_name 'a..b:Linear'"},
      {Row("b"), "level_name_without_type example=level_name 'b'"},
      {Row("b:Linear", ""), "row_without_model"},
      {Row("a:Linear"), "scope_repeated example=level_name 'a'"},
      {"8,32\n", "too_few_fields example=2 of 15"},
      {Row("b:Linear", "m,1"), "too_many_fields example=16 of 15"},
      {Row("\"b:Linear"), "row_quote_not_closed"},
  };
  for (const BadRow& one : bad) {
    const Dataset data =
        ReadOk({File("model.csv", Row("m")), File("ml1.csv", Row("a:Linear") + one.row + one.row)});
    ASSERT_THAT(data.notes, SizeIs(1)) << one.row;
    EXPECT_EQ(PlainText(data.notes[0]), one.what);
    EXPECT_EQ(data.notes[0].count, 2u) << one.row;
    EXPECT_EQ(data.notes[0].first, "ml1.csv:3") << one.row;
    ASSERT_THAT(data.runs, SizeIs(1)) << one.row;
    EXPECT_THAT(data.runs[0].tree.nodes, SizeIs(2)) << one.row;
  }
}

TEST(FeatureCsv, NothingLeftIsAnErrorWithTheFirstReason) {
  auto data = Read({File("ml1.csv", Row(":Linear"))});
  ASSERT_FALSE(data);
  EXPECT_THAT(data.error().message,
              HasSubstr("data: no usable row; ml1.csv:2: scope empty: level_name"));
  EXPECT_THAT(Read({File("ml1.csv", "")}).error().message, HasSubstr("no usable row"));
  EXPECT_THAT(Read({{"ml1.csv", " \n", RowKind::kModel}}).error().message, HasSubstr("empty"));
}

TEST(FeatureCsv, MissingParentIsFoundAndTheRowHangsBelowTheNearest) {
  const Dataset data = ReadOk({File("model.csv", Row("m")), File("module.csv", Row("a:A")),
                               File("ml1.csv", Row("a.b.c:Linear") + Row("a.list.0:Linear"))});
  ASSERT_THAT(data.notes, SizeIs(1));
  EXPECT_EQ(PlainText(data.notes[0]), "parent_without_row example=no row for 'a.b'");
  EXPECT_EQ(data.notes[0].first, "ml1.csv:2");
  EXPECT_FALSE(data.runs[0].complete);
  EXPECT_THAT(Paths(data.runs[0]), ElementsAre(":", "a:A", "a/b.c:Linear", "a/list.0:Linear"));
}

TEST(FeatureCsv, ParentOfAListIsMissedToo) {
  const Dataset data =
      ReadOk({File("model.csv", Row("m")),
              File("module.csv", Row("encoder.layer.0:Block") + Row("h.0:Block"))});
  ASSERT_THAT(data.notes, SizeIs(1));
  EXPECT_THAT(PlainText(data.notes[0]), HasSubstr("no row for 'encoder'"));
  EXPECT_EQ(data.notes[0].count, 1u);
  EXPECT_FALSE(data.runs[0].complete);
}

TEST(FeatureCsv, RunWithoutModelRowHasARootOfWhichNothingIsKnown) {
  const Dataset data = ReadOk({File("ml1.csv", Row("a:Linear") + Row("b:Linear"))});
  ASSERT_THAT(data.runs, SizeIs(1));
  const ModelRun& run = data.runs[0];
  EXPECT_FALSE(run.complete);
  EXPECT_TRUE(std::isnan(run.measured[0]));
  EXPECT_TRUE(std::isnan(At(run.features[0], Feature::kBatchSize)));
  EXPECT_EQ(run.batch_size, 8);
  ASSERT_THAT(data.notes, SizeIs(1));
  EXPECT_EQ(PlainText(data.notes[0]), "no_model_row example=m 8x32, 2 rows");
}

TEST(FeatureCsv, ColumnLevelSaysWhatARowIs) {
  std::string text = std::string("level,") + kHeader + "model," + Row("m") + "module," +
                     Row("a:A") + "ml," + Row("a.b:Linear") + "ml," + Row("a:MatMul") + "ml," +
                     Row("a:MatMul") + "kernel," + Row("a.c:Linear");
  const Dataset data = ReadOk({{"all.csv", text, RowKind::kPrimitive}});
  ASSERT_THAT(data.runs, SizeIs(1));
  EXPECT_THAT(Paths(data.runs[0]),
              ElementsAre(":", "a:A", "a/b:Linear", "a/matmul:MatMul", "a/matmul_1:MatMul"));
  ASSERT_THAT(data.notes, SizeIs(1));
  EXPECT_EQ(PlainText(data.notes[0]), "level_not_known example=level 'kernel'");
}

TEST(FeatureCsv, NamesOfOccurrencesGiveWay) {
  const Dataset data = ReadOk({File("model.csv", Row("m")), File("module.csv", Row("a:A")),
                               File("ml1.csv", Row("a.matmul:Linear") + Row("a.matmul_2:Linear")),
                               File("ml2.csv", Row("a:MatMul") + Row("a:MatMul"))});
  EXPECT_THAT(Paths(data.runs[0]), ElementsAre(":", "a:A", "a/matmul:Linear", "a/matmul_2:Linear",
                                               "a/matmul_1:MatMul", "a/matmul_3:MatMul"));
}

TEST(FeatureCsv, ScopesThatAreTooDeepAreLeftOut) {
  std::string deep = "a";
  for (int i = 0; i < 100; ++i) deep += ".a";
  const Dataset data =
      ReadOk({File("model.csv", Row("m")), File("ml1.csv", Row(deep + ":Linear"))});
  ASSERT_THAT(data.notes, SizeIs(1));
  EXPECT_THAT(PlainText(data.notes[0]), HasSubstr("scope_too_deep"));
}

TEST(FeatureCsv, KindByFileName) {
  EXPECT_EQ(KindOfFile("/data/model/ml1_level_features.csv"), RowKind::kPrimitive);
  EXPECT_EQ(KindOfFile("ml2_level_features.csv"), RowKind::kOccurrence);
  EXPECT_EQ(KindOfFile("module_level_features.csv"), RowKind::kModule);
  EXPECT_EQ(KindOfFile("model_level_features.csv"), RowKind::kModel);
  EXPECT_EQ(KindOfFile("/model/rows.csv"), RowKind::kPrimitive);
}

}  // namespace
}  // namespace beryl::datasets
