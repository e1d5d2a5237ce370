#include "datasets/tree_lines.h"

#include <cmath>
#include <random>

#include <fmt/format.h>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "datasets/feature_csv.h"

namespace beryl::datasets {
namespace {

constexpr char kFeatures[] =
    "\"num_parameters\":5,\"batch_size\":8,\"seq_len\":32,\"flops\":1.5,\"mem_bytes\":2,\"cpu\":8."
    "5,"
    "\"mem\":10,\"gpu\":90,\"gpu_mem\":17,\"gpu_clk\":1900,\"gpu_mem_clk\":3802,\"times_mean\":0."
    "001,"
    "\"gpu_energy_mean\":0.1";

std::string Node(const std::string& id, const std::string& scope, const std::string& type,
                 const std::string& instance, const std::string& children = "",
                 const std::string& more = ",\"ground_truth_energy\":0.25") {
  return fmt::format(
      "{{\"id\":\"{}\",\"scope\":\"{}\",\"parent_name\":\"\",\"level\":0,\"type\":\"{}\","
      "\"instance_type\":\"{}\",{}{},\"child_nodes_obj\":[{}],\"child_nodes\":[]}}",
      id, scope, type, instance, kFeatures, more, children);
}

std::string Line(const std::string& tree) {
  return "{\"model_name\":\"m\",\"batch_size\":8,\"seq_len\":32,\"frontend_tree\":" + tree + "}\n";
}

std::string SmallTree() {
  return Node("a", "root", "model", "Model",
              Node("b", "root.encoder.layer.0", "module", "Block",
                   Node("c", "root.encoder.layer.0.matmul", "ml-np", "matmul") + "," +
                       Node("d", "root.encoder.layer.0.fc", "ml", "Linear")) +
                  "," + Node("e", "root.pooler", "ml", "Linear"));
}

Result<Dataset> Read(const std::string& text, DatasetOptions options = {}) {
  auto source = ByteSource::FromMemory(text, "trees.jsonl");
  return ReadTrees(source, options);
}

Dataset ReadOk(const std::string& text, DatasetOptions options = {}) {
  auto data = Read(text, options);
  EXPECT_TRUE(data) << data.error().message;
  return data ? *data : Dataset{};
}

void ExpectSame(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << a[i] << " " << b[i];
  }
}

void ExpectSame(const ModelRun& a, const ModelRun& b) {
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.complete, b.complete);
  EXPECT_EQ(a.batch_size, b.batch_size);
  EXPECT_EQ(a.seq_len, b.seq_len);
  ExpectSame(a.measured, b.measured);
  ASSERT_EQ(a.tree.nodes.size(), b.tree.nodes.size());
  for (size_t i = 0; i < a.tree.nodes.size(); ++i) {
    const TreeNode& x = a.tree.nodes[i];
    const TreeNode& y = b.tree.nodes[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.level, y.level) << x.name;
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.end, y.end);
    EXPECT_EQ(x.depth, y.depth);
    ExpectSame({a.features[i].begin(), a.features[i].end()},
               {b.features[i].begin(), b.features[i].end()});
  }
}

TEST(Trees, AreRead) {
  const Dataset data = ReadOk("\n" + Line(SmallTree()));
  EXPECT_EQ(data.name, "trees.jsonl");
  ASSERT_THAT(data.runs, SizeIs(1));
  const ModelRun& run = data.runs[0];
  EXPECT_EQ(run.model, "m");
  EXPECT_EQ(run.batch_size, 8);
  EXPECT_EQ(run.seq_len, 32);
  ASSERT_THAT(run.tree.nodes, SizeIs(5));
  EXPECT_EQ(ScopeOf(run.tree, 2), "encoder.layer.0.matmul");
  EXPECT_EQ(run.tree.nodes[1].name, "encoder.layer.0");
  EXPECT_EQ(run.tree.nodes[1].end, 4u);
  EXPECT_EQ(run.tree.nodes[2].name, "matmul");
  EXPECT_EQ(run.tree.nodes[2].level, Level::kMl);
  EXPECT_EQ(run.tree.nodes[2].depth, 2);
  EXPECT_EQ(run.tree.nodes[4].parent, 0u);
  EXPECT_EQ(At(run.features[3], Feature::kInputSize), 256);
  EXPECT_EQ(At(run.features[3], Feature::kParameters), 5);
  EXPECT_EQ(run.measured[4], 0.25);
  EXPECT_THAT(run.ids, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(run.lines, ElementsAre(2, 2, 2, 2, 2));
  // "encoder" has no node.
  EXPECT_FALSE(run.complete);
  ASSERT_THAT(data.notes, SizeIs(1));
  EXPECT_EQ(PlainText(data.notes[0]), "parent_without_node example=no node for 'root.encoder'");
  EXPECT_EQ(data.notes[0].first, "trees.jsonl:2");
}

TEST(Trees, AnUnknownSizeIsUnknownInTheFeaturesToo) {
  const Dataset data = ReadOk(
      R"({"model_name":"m","batch_size":0,"frontend_tree":{"scope":"root","level":0,"flops":1,)"
      R"("ground_truth_energy":1,"child_nodes_obj":[]}})");
  ASSERT_THAT(data.runs, SizeIs(1));
  const ModelRun& run = data.runs[0];
  EXPECT_EQ(run.batch_size, std::nullopt);
  EXPECT_EQ(run.seq_len, std::nullopt);
  for (const Feature feature : {Feature::kBatchSize, Feature::kSeqLen, Feature::kInputSize}) {
    EXPECT_THAT(At(run.features[0], feature), IsNan());
  }
}

TEST(Trees, BrokenFirstLineIsAnErrorAndALaterOneAFinding) {
  for (const std::string broken :
       {"{\"model_name\":\n", "{} {}\n", "{\"model_name\":\"m\"}\n", "[1]\n",
        "{\"frontend_tree\":{}}\n", "{\"model_name\":\"m\",\"frontend_tree\":[]}\n",
        "{\"model_name\":\"m\",\"frontend_tree\":{\"child_nodes_obj\":[1]}}\n",
        "{\"model_name\":\"m\",\"frontend_tree\":{\"child_nodes_obj\":1}}\n"}) {
    auto data = Read(broken + Line(SmallTree()));
    ASSERT_FALSE(data) << broken;
    EXPECT_THAT(data.error().message, HasSubstr("trees.jsonl:1: ")) << broken;
    const Dataset rest = ReadOk(Line(Node("z", "root", "model", "M")) + broken + broken +
                                Line(Node("y", "root", "model", "M")));
    EXPECT_THAT(rest.runs, SizeIs(2)) << broken;
    ASSERT_THAT(rest.notes, SizeIs(1)) << broken;
    EXPECT_THAT(PlainText(rest.notes[0]), HasSubstr("line_not_read example="));
    EXPECT_EQ(rest.notes[0].count, 2u);
    EXPECT_EQ(rest.notes[0].first, "trees.jsonl:2");
  }
  EXPECT_THAT(Read("\n").error().message, HasSubstr("it has no trees"));
}

TEST(Trees, AreReadOnlySoDeep) {
  auto nested = [](size_t depth) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += "{\"child_nodes_obj\":[";
    for (size_t i = 0; i < depth; ++i) text += "]}";
    return Line(text);
  };
  EXPECT_TRUE(Read(nested(kDeepestTree)));
  auto data = Read(nested(kDeepestTree + 1));
  ASSERT_FALSE(data);
  EXPECT_THAT(data.error().message, HasSubstr("nested more than 128 deep"));
  EXPECT_FALSE(Read(nested(100'000)));
}

struct Flaw {
  std::string line;
  std::string what;
};

TEST(Trees, WhatIsMissingIsFound) {
  const std::vector<Flaw> flaws = {
      {Line(Node("a", "root", "model", "M", "", "")), "node_without_energy example=root"},
      {Line(Node("a", "root", "model", "M", "", ",\"ground_truth_energy\":-1")),
       "energy_not_used example=ground_truth_energy '-1'"},
      {Line(Node("a", "root", "model", "M", "", ",\"ground_truth_energy\":1,\"flops\":null")),
       "node_without_feature example=root 'flops'"},
      {Line(Node("a", "root", "model", "M", "", ",\"ground_truth_energy\":1,\"flops\":NaN")),
       "node_without_feature example=root 'flops'"},
      {Line(Node("a", "root", "model", "M", "",
                 ",\"ground_truth_energy\":1,\"num_parameters\":\"many\"")),
       "number_not_used example=num_parameters '\"many\"'"},
      {Line(Node("a", "root", "model", "M", Node("a", "root.x", "ml", "L"))),
       "id_repeated example=id 'a'"},
      {Line(Node("a", "root", "model", "M", Node("b", "elsewhere", "ml", "L"))),
       "scope_not_below_parent example=scope 'elsewhere'"},
      {Line(Node("a", "root", "model", "M", Node("b", "root.x", "kernel", "L"))),
       "type_not_known example=type 'kernel'"},
      {"{\"host\":\"pc\"," + Line(Node("a", "root", "model", "M")).substr(1),
       "member_not_known example=host"},
  };
  for (const Flaw& flaw : flaws) {
    const Dataset data = ReadOk(flaw.line);
    ASSERT_FALSE(data.notes.empty()) << flaw.line;
    EXPECT_EQ(PlainText(data.notes[0]), flaw.what);
    EXPECT_EQ(data.notes[0].first, "trees.jsonl:1");
  }
  EXPECT_THAT(ReadOk(flaws[0].line, {.needs_energy = false}).notes, IsEmpty());
}

TEST(Trees, WhatMeansNothingHereIsWrittenBack) {
  const std::string extra =
      ",\"ground_truth_energy\":1,\"a\\\"b\":{\"c\":[1, "
      "2,\"}\"]},\"z\":null,\"predicted_energy\":7";
  const std::string text = Line(Node("a", "root", "model", "M", "", extra));
  const Dataset data = ReadOk(text);
  ASSERT_THAT(data.runs[0].extra, SizeIs(1));
  EXPECT_EQ(data.runs[0].extra[0], ",\"a\\\"b\":{\"c\":[1, 2,\"}\"]},\"z\":null");
  const std::string written = WriteTrees(data, {});
  EXPECT_THAT(written, HasSubstr(data.runs[0].extra[0]));
  EXPECT_THAT(written, Not(HasSubstr("predicted_energy")));
  EXPECT_EQ(ReadOk(written).runs[0].extra, data.runs[0].extra);
}

TEST(Trees, IdsKeepTheirKind) {
  std::string text = Line(Node("a", "root", "model", "M", Node("b", "root.x", "ml", "L")));
  text.replace(text.find("\"a\""), 3, "17");
  const std::string written = WriteTrees(ReadOk(text), {});
  EXPECT_THAT(written, HasSubstr("\"id\":17,"));
  EXPECT_THAT(written, HasSubstr("\"id\":\"b\""));
  EXPECT_EQ(WriteTrees(ReadOk(written), {}), written);
}

TEST(Trees, PredictionsAreWrittenWhereThereAreAny) {
  const Dataset data = ReadOk(Line(SmallTree()));
  Column column;
  column.total = {1.25, kUnknown, 0.5};
  const std::string written = WriteTrees(data, {column});
  EXPECT_THAT(written, HasSubstr("\"predicted_energy\":1.25,"));
  EXPECT_THAT(written, HasSubstr("\"predicted_energy\":0.5,"));
  size_t count = 0;
  for (size_t at = written.find("predicted_energy"); at != std::string::npos;
       at = written.find("predicted_energy", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 2u);
}

TEST(Trees, SayWhatTheAuthorsReadersAskFor) {
  const std::string written = WriteTrees(ReadOk(Line(SmallTree())), {});
  EXPECT_EQ(json::FindSyntaxError(written.substr(0, written.size() - 1)), std::nullopt);
  EXPECT_THAT(written,
              HasSubstr("{\"scope\":\"root.encoder.layer.0.matmul\",\"id\":\"c\","
                        "\"parent_name\":\"root.encoder.layer.0\",\"level\":2,"
                        "\"instance_type\":\"matmul\",\"type\":\"ml\",\"num_parameters\":5"));
  EXPECT_THAT(written, HasSubstr("\"child_nodes\":[\"root.encoder.layer.0.matmul\","
                                 "\"root.encoder.layer.0.fc\"],\"child_nodes_obj\":[{"));
}

// A data set as it might come from CSV files, of any shape.
Dataset RandomDataset(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t limit) { return random() % limit; };
  auto number = [&] { return std::ldexp(static_cast<double>(random() >> 11), -40); };
  const std::vector<std::string> parts = {"encoder", "layer", "0", "1", "attn", "ü\"\\", "matmul"};
  std::vector<FeatureCsv> files;
  for (const char* name : {"model", "module", "ml1", "ml2"}) {
    FeatureCsv& csv = files.emplace_back();
    csv.name = name;
    csv.kind = KindOfFile(name);
    csv.text =
        "model_name,level_name,batch_size,seq_len,flops,mem_bytes,cpu,mem,times_mean,"
        "cpu_energy_mean,energy_mean,num_parameters\n";
    const uint64_t rows = 1 + below(30);
    for (uint64_t row = 0; row < rows; ++row) {
      std::string scope = parts[below(parts.size())];
      while (below(3) != 0) scope += "." + parts[below(parts.size())];
      std::string quoted;
      for (const char c : scope) quoted += c == '"' ? "\"\"" : std::string(1, c);
      csv.text +=
          fmt::format("m{},\"{}:{}\",8,{},{},{},{},{},{},{},{},{}\n", below(2), quoted,
                      below(2) == 0 ? "MatMul" : "Linear", below(2), number(), number(), number(),
                      number(), number() + 1, number(), number() + 1, below(2) == 0 ? "" : "3");
    }
  }
  NoteLog log;
  auto data = ReadFeatureCsvs(files, "random", {}, log);
  EXPECT_TRUE(data);
  return *data;
}

TEST(Trees, WritingAndReadingGivesTheSameDataSet) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Dataset data = RandomDataset(seed);
    const std::string written = WriteTrees(data, {});
    // Rows without a model row are no tree, and are not written as one.
    std::erase_if(data.runs, [](const ModelRun& run) { return std::isnan(run.measured[0]); });
    if (data.runs.empty()) continue;
    const Dataset again = ReadOk(written);
    ASSERT_EQ(again.runs.size(), data.runs.size());
    for (size_t i = 0; i < data.runs.size(); ++i) ExpectSame(data.runs[i], again.runs[i]);
    EXPECT_EQ(WriteTrees(again, {}), written);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace beryl::datasets
