#include "flows/give_model.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace beryl::flows {
namespace {

// A run that looked up words at these places: a class each, "T5Stack_0<T5Stack>" as the trace has.
class LookUps {
 public:
  void Add(std::initializer_list<std::pair<const char*, const char*>> modules, const char* shapes,
           int times, const char* operation = "aten::embedding", const char* dtype = "") {
    OpTrace& trace = run_.input.ops;
    OpKind kind;
    for (const auto& [name, type] : modules) {
      kind.scope = trace.paths.Intern(kind.scope, trace.strings.Intern(name), PathKind::kModule,
                                      trace.strings.Intern(type));
    }
    kind.op = kind.type = trace.strings.Intern(operation);
    kind.dtype = trace.strings.Intern(dtype);
    kind.path = trace.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
    kind.shapes = trace.strings.Intern(shapes);
    const auto id = static_cast<uint32_t>(trace.kinds.size());
    trace.kinds.push_back(kind);
    for (int i = 0; i < times; ++i) {
      Op& op = trace.ops.emplace_back();
      op.kind = id;
      op.start = Nanos{static_cast<int64_t>(trace.ops.size())};
    }
  }

  ModelInput InputOf(const char* model) { return InputOf(ModelThatRan{.model = model}); }
  ModelInput InputOf(const ModelThatRan& model) {
    run_.built = tree::Build(run_.input.ops);
    const Status given = GiveModel(model, run_);
    EXPECT_TRUE(given) << given.error().message;
    return given ? run_.model->alignment.input : ModelInput();
  }
  double DescribedFlops() const { return run_.description->nodes[0].work.flops; }
  double DescribedFlops(std::string_view scope) const {
    for (const DescribedNode& node : run_.description->nodes) {
      if (node.scope == scope) return node.work.flops;
    }
    return 0;
  }
  const ModelAlignment& alignment() const { return run_.model->alignment; }

 private:
  AccountedRun run_;
};

TEST(GiveModel, InputsOfSeveralSizesGiveTheMeanPass) {
  const auto flops = [](std::initializer_list<std::pair<const char*, int>> inputs) {
    LookUps run;
    for (const auto& [shapes, times] : inputs) {
      run.Add({{"BertModel_0", "BertModel"},
               {"BertEmbeddings_0", "BertEmbeddings"},
               {"Embedding_0", "Embedding"}},
              shapes, times);
    }
    run.InputOf("bert-base-uncased");
    return run.DescribedFlops();
  };
  const double usual = flops({{"[[30522, 768], [4, 17]]", 2}});
  const double last = flops({{"[[30522, 768], [3, 9]]", 1}});
  const double mean = flops({{"[[30522, 768], [4, 17]]", 2}, {"[[30522, 768], [3, 9]]", 1}});
  EXPECT_LT(last, usual);
  EXPECT_DOUBLE_EQ(mean, (2 * usual + last) / 3);
}

TEST(GiveModel, InputsOfSeveralSizesSayThingsOnce) {
  LookUps run;
  for (const char* shapes : {"[[30522, 768], [4, 17]]", "[[30522, 768], [3, 9]]"}) {
    run.Add({{"BertModel_0", "BertModel"},
             {"BertEmbeddings_0", "BertEmbeddings"},
             {"Embedding_0", "Embedding"}},
            shapes, 1);
  }
  run.InputOf("bert-base-uncased");
  std::vector<NoteKind> kinds;
  for (const Note& note : run.alignment().notes) kinds.push_back(note.kind);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), NoteKind::kAssumedEager), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), NoteKind::kInputsOfSeveralSizes), 1);
}

TEST(GiveModel, TheUsualInputOfEncoderAndDecoderIsTaken) {
  LookUps run;
  const auto both = [&](const char* encoded, const char* decoded, int times) {
    const std::pair<const char*, const char*> model = {"T5Model_0", "T5Model"};
    run.Add({model, {"T5Stack_0", "T5Stack"}, {"Embedding_0", "Embedding"}}, encoded, times);
    run.Add({model, {"T5Stack_1", "T5Stack"}, {"Embedding_0", "Embedding"}}, decoded, times);
  };
  for (int i = 0; i < 2; ++i) both("[[32128, 512], [4, 19]]", "[[32128, 512], [4, 11]]", 1);
  both("[[32128, 512], [1, 15]]", "[[32128, 512], [1, 9]]", 1);  // what was left for a last batch
  const ModelInput input = run.InputOf("t5-small");
  EXPECT_EQ(input.batch, 4);
  EXPECT_EQ(input.seq, 19);
  EXPECT_EQ(input.decoder_seq, 11);
}

TEST(GiveModel, AnotherModelInTheRunHasItsOwnInput) {
  LookUps run;
  run.Add({{"BertModel_0", "BertModel"},
           {"BertEmbeddings_0", "BertEmbeddings"},
           {"Embedding_0", "Embedding"}},
          "[[30522, 768], [5, 13]]", 1);
  run.Add({{"Other_0", "Other"}, {"Embedding_1", "Embedding"}}, "[[30522, 1024], [2, 7]]", 9);
  const ModelInput input = run.InputOf("bert-base-uncased");
  EXPECT_EQ(input.batch, 5);
  EXPECT_EQ(input.seq, 13);
}

// A generation calls the encoder from outside of the model, so both are nowhere but in the run.
TEST(GiveModel, PartsOfAModelHaveItsInputAlone) {
  LookUps run;
  const std::pair<const char*, const char*> word = {"Embedding_0", "Embedding"};
  run.Add({{"T5Stack_0", "T5Stack"}, word}, "[[32128, 512], [2, 19]]", 1);
  run.Add({{"T5Model_0", "T5Model"}, {"T5Stack_1", "T5Stack"}, word}, "[[32128, 512], [2, 1]]", 5);
  run.Add({{"Other_0", "Other"}, {"Embedding_1", "Embedding"}}, "[[32128, 1024], [3, 7]]", 9);
  const ModelInput input = run.InputOf("t5-small");
  EXPECT_EQ(input.batch, 2);
  EXPECT_EQ(input.prompt, 19);
  EXPECT_EQ(input.generate, 4);
}

TEST(GiveModel, TheDataTypeIsThatOfProductsUnlessGiven) {
  LookUps run;
  const std::pair<const char*, const char*> model = {"BertModel_0", "BertModel"};
  run.Add({model, {"BertPooler_0", "BertPooler"}, {"Linear_0", "Linear"}},
          "[[768], [5, 768], [768, 768]]", 1, "aten::addmm", "c10::Half");
  run.Add({{"Other_0", "Other"}, {"Linear_1", "Linear"}}, "[[4, 4], [4, 4]]", 9, "aten::mm",
          "float");
  run.InputOf("bert-base-uncased");
  EXPECT_EQ(run.alignment().dtype, Dtype::kFloat16);
  EXPECT_TRUE(run.alignment().dtype_seen);
  ModelThatRan given = {.model = "bert-base-uncased"};
  given.describe.dtype = Dtype::kBfloat16;
  given.given.dtype = true;
  run.InputOf(given);
  EXPECT_EQ(run.alignment().dtype, Dtype::kBfloat16);
  EXPECT_FALSE(run.alignment().dtype_seen);
}

// The decoder of a beam search has more sequences than the encoder.
TEST(GiveModel, EncodersRunOnceForAllBeams) {
  const auto generate = [](const char* decoded) {
    LookUps run;
    const std::pair<const char*, const char*> model = {"T5Model_0", "T5Model"};
    run.Add({model, {"T5Stack_0", "T5Stack"}, {"Embedding_0", "Embedding"}},
            "[[32128, 512], [2, 19]]", 1);
    run.Add({model, {"T5Stack_1", "T5Stack"}, {"Embedding_0", "Embedding"}}, decoded, 5);
    EXPECT_EQ(run.InputOf("t5-small").batch, 2);
    return run;
  };
  const LookUps greedy = generate("[[32128, 512], [2, 1]]");
  const LookUps beams = generate("[[32128, 512], [6, 1]]");
  EXPECT_DOUBLE_EQ(beams.DescribedFlops("encoder"), greedy.DescribedFlops("encoder"));
  EXPECT_DOUBLE_EQ(beams.DescribedFlops("decoder.block.0.layer.0.SelfAttention.q"),
                   3 * greedy.DescribedFlops("decoder.block.0.layer.0.SelfAttention.q"));
  EXPECT_LT(beams.DescribedFlops(), 3 * greedy.DescribedFlops());
  const std::vector<Note>& notes = beams.alignment().notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const Note& note) { return note.kind == NoteKind::kBeamsSeen; }));
}

// One layer of two, in a model of another class.
TEST(GiveModel, AModelOfWhichLittleIsFoundMayNotBeTheOne) {
  using Module = std::pair<const char*, const char*>;
  const Module net = {"Net_0", "Net"};
  const Module encoder = {"BertEncoder_0", "BertEncoder"};
  const Module layer = {"BertLayer_0", "BertLayer"};
  const Module attention = {"BertAttention_0", "BertAttention"};
  const Module self = {"BertSelfAttention_0", "BertSelfAttention"};
  const Module self_output = {"BertSelfOutput_0", "BertSelfOutput"};
  const Module intermediate = {"BertIntermediate_0", "BertIntermediate"};
  const Module output = {"BertOutput_0", "BertOutput"};
  LookUps run;
  const char* const shapes = "[[2, 3, 8], [8, 8], [8]]";
  for (const char* name : {"Linear_0", "Linear_1", "Linear_2"}) {
    run.Add({net, encoder, layer, attention, self, {name, "Linear"}}, shapes, 1, "aten::linear");
  }
  run.Add({net, encoder, layer, attention, self_output, {"Linear_3", "Linear"}}, shapes, 1,
          "aten::linear");
  run.Add({net, encoder, layer, attention, self_output, {"LayerNorm_0", "LayerNorm"}},
          "[[2, 3, 8], [], [8], [8]]", 1, "aten::layer_norm");
  run.Add({net, encoder, layer, intermediate, {"Linear_4", "Linear"}}, "[[2, 3, 8], [16, 8], [16]]",
          1, "aten::linear");
  run.Add({net, encoder, layer, output, {"Linear_5", "Linear"}}, "[[2, 3, 16], [8, 16], [8]]", 1,
          "aten::linear");
  run.Add({net, encoder, layer, output, {"LayerNorm_1", "LayerNorm"}}, "[[2, 3, 8], [], [8], [8]]",
          1, "aten::layer_norm");
  ModelThatRan given = {.model = "tests/data/models/tiny-bert.json"};
  given.describe.input.batch = 2;
  given.describe.input.seq = 3;
  given.given.batch = given.given.seq = true;
  run.InputOf(given);
  EXPECT_GT(run.alignment().matched_modules, 0U);
  EXPECT_LT(2 * run.alignment().matched_modules, run.alignment().described_modules);
  EXPECT_EQ(std::count_if(run.alignment().notes.begin(), run.alignment().notes.end(),
                          [](const Note& note) { return note.kind == NoteKind::kFewModulesFound; }),
            1);
}

}  // namespace
}  // namespace beryl::flows
