#include "models/heads.h"

#include "base/matchers_for_test.h"
#include "models/models.h"
#include "types/note_testing.h"

namespace beryl::models {
namespace {

std::string Llama(const std::string& more) {
  return R"({"model_type": "llama", "vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2,
             "num_attention_heads": 4, "intermediate_size": 80)" +
         more + "}";
}

std::string Bert(const std::string& more) {
  return R"({"model_type": "bert", "vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 1,
             "num_attention_heads": 4, "intermediate_size": 80)" +
         more + "}";
}

std::string T5(const std::string& architecture) {
  return R"({"model_type": "t5", "d_model": 48, "d_ff": 80, "num_layers": 1, "num_heads": 3,
             "d_kv": 16, "vocab_size": 101, "architectures": [")" +
         architecture + "\"]}";
}

std::string Bart(const std::string& architecture) {
  return R"({"model_type": "bart", "d_model": 48, "encoder_layers": 1, "decoder_layers": 1,
             "encoder_ffn_dim": 80, "decoder_ffn_dim": 80, "encoder_attention_heads": 4,
             "decoder_attention_heads": 4, "vocab_size": 101, "architectures": [")" +
         architecture + "\"]}";
}

Description Described(const std::string& text, const ModelInput& input) {
  auto description = Describe({"test", text}, {.input = input, .head = HeadChoice::kArchitecture});
  EXPECT_TRUE(description) << (description ? "" : description.error().message);
  return description ? std::move(*description) : Description{.nodes = {{}}};
}

std::string Refusal(const std::string& text, const ModelInput& input) {
  const auto description =
      Describe({"test", text}, {.input = input, .head = HeadChoice::kArchitecture});
  EXPECT_FALSE(description);
  return description ? "" : description.error().message;
}

// The node of a scope in a phase; 0: there is none.
NodeId Find(const Description& description, const std::string& scope,
            RunPhase phase = RunPhase::kForward) {
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    if (description.nodes[node].scope == scope && description.nodes[node].phase == phase) {
      return node;
    }
  }
  return 0;
}

std::vector<int64_t> OutputOf(const Description& description, NodeId node) {
  const DescribedNode& of = description.nodes[node];
  const Shape& shape = description.shapes[of.first_shape + of.input_count];
  return {shape.dims.begin(), shape.dims.begin() + shape.rank};
}

// How many assumptions speak of architectures.
size_t Sentences(const Description& description) {
  size_t count = 0;
  for (const Note& note : description.notes) count += note.kind == NoteKind::kAssumedBareModel;
  return count;
}

TEST(HeadsTest, NoHeadIsNamed) {
  for (const char* more : {"", R"(, "architectures": null)", R"(, "architectures": [])",
                           R"(, "architectures": ["LlamaModel"])"}) {
    const Description description = Described(Llama(more), {.seq = 5});
    EXPECT_EQ(description.tree.nodes[0].type, "LlamaModel");
    EXPECT_EQ(Find(description, "lm_head"), 0u);
    EXPECT_EQ(Sentences(description), 0u) << more;
  }
}

TEST(HeadsTest, AnUnknownHeadIsSaid) {
  // One of another family is not known either.
  for (const char* name : {"LlamaForDreaming", "MistralForCausalLM", "Llama"}) {
    const Description description =
        Described(Llama(R"(, "architectures": [")" + std::string(name) + "\"]"), {.seq = 5});
    EXPECT_EQ(description.tree.nodes[0].type, "LlamaModel");
    EXPECT_THAT(Plain(description.notes),
                Contains("assumed_bare_model LlamaModel architecture=" + std::string(name)));
  }
}

TEST(HeadsTest, OnlyTheArchitectureIsAskedFor) {
  const std::string text = Llama(R"(, "architectures": ["LlamaForCausalLM"])");
  const auto bare = Describe({"test", text}, {.input = {.seq = 5}});
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->tree.nodes[0].type, "LlamaModel");
  EXPECT_EQ(Find(*bare, "lm_head"), 0u);
}

TEST(HeadsTest, APassGoesThroughWithAllTokensAGenerationWithTheLast) {
  const std::string text = Llama(R"(, "architectures": ["LlamaForCausalLM", "LlamaModel"])");
  const Description pass = Described(text, {.batch = 2, .seq = 5});
  EXPECT_EQ(pass.tree.nodes[0].type, "LlamaForCausalLM");
  EXPECT_THAT(OutputOf(pass, 0), ElementsAre(2, 5, 101));
  EXPECT_EQ(pass.nodes[Find(pass, "lm_head")].work.matmul_flops, 2 * 2 * 5 * 48 * 101);

  const Description generation = Described(text, {.batch = 2, .prompt = 5, .generate = 3});
  EXPECT_EQ(generation.tree.nodes[0].type, "LlamaForCausalLM");
  const NodeId prefill = Find(generation, "lm_head", RunPhase::kPrefill);
  EXPECT_THAT(OutputOf(generation, prefill), ElementsAre(2, 1, 101));
  EXPECT_EQ(generation.nodes[prefill].work.matmul_flops, 2 * 2 * 48 * 101);
  const NodeId decode = Find(generation, "lm_head", RunPhase::kDecode);
  EXPECT_EQ(generation.nodes[decode].work.matmul_flops, 3 * 2 * 2 * 48 * 101);
}

TEST(HeadsTest, ATiedTableIsCountedOnce) {
  const uint64_t table = 48 * 101;
  const std::string head = R"(, "architectures": ["LlamaForCausalLM"], "tie_word_embeddings": )";
  const Description tied = Described(Llama(head + "true"), {.seq = 5});
  const Description own = Described(Llama(head + "false"), {.seq = 5});
  EXPECT_EQ(own.nodes[0].parameters - tied.nodes[0].parameters, table);
  EXPECT_EQ(tied.nodes[Find(tied, "lm_head")].parameters, table);
  EXPECT_EQ(tied.nodes[Find(tied, "embed_tokens")].parameters, table);
  EXPECT_EQ(tied.nodes[0].work.flops, own.nodes[0].work.flops);
}

TEST(HeadsTest, LabelsAreAsManyAsTheConfigurationHas) {
  const auto labels = [](const std::string& more) {
    const Description description = Described(
        Bert(R"(, "architectures": ["BertForSequenceClassification"])" + more), {.seq = 5});
    return OutputOf(description, 0).back();
  };
  EXPECT_EQ(labels(""), 2);
  EXPECT_EQ(labels(R"(, "num_labels": 7)"), 7);
  EXPECT_EQ(labels(R"(, "id2label": {"0": "a", "1": "b", "2": "c"})"), 3);
  EXPECT_EQ(labels(R"(, "id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 4)"), 4);
  EXPECT_EQ(labels(R"(, "id2label": null)"), 2);
  EXPECT_THAT(Refusal(Bert(R"(, "architectures": ["BertForSequenceClassification"],
                              "num_labels": -1)"),
                      {.seq = 5}),
              HasSubstr("'num_labels' = -1"));
}

TEST(HeadsTest, SomeGoWithoutThePooler) {
  const Description words =
      Described(Bert(R"(, "architectures": ["BertForMaskedLM"])"), {.seq = 5});
  EXPECT_EQ(Find(words, "pooler"), 0u);
  EXPECT_NE(Find(words, "cls.predictions.transform.dense"), 0u);
  const Description classes =
      Described(Bert(R"(, "architectures": ["BertForSequenceClassification"])"), {.seq = 5});
  EXPECT_NE(Find(classes, "pooler"), 0u);
}

TEST(HeadsTest, OnlyLanguageModelsGenerate) {
  EXPECT_THAT(Refusal(Llama(R"(, "architectures": ["LlamaForSequenceClassification"])"),
                      {.prompt = 5, .generate = 2}),
              HasSubstr("this is LlamaForSequenceClassification"));
}

TEST(HeadsTest, AnEncoderAloneHasNoDecoder) {
  for (const char* name : {"T5EncoderModel", "T5ForTokenClassification"}) {
    const Description description = Described(T5(name), {.seq = 5});
    EXPECT_EQ(description.tree.nodes[0].type, name);
    EXPECT_NE(Find(description, "encoder.block.0"), 0u);
    EXPECT_EQ(Find(description, "decoder.block.0"), 0u);
    EXPECT_EQ(description.input.decoder_seq, 0);
    EXPECT_THAT(Refusal(T5(name), {.seq = 5, .decoder_seq = 3}),
                HasSubstr("sequence length of the decoder"));
    EXPECT_THAT(Refusal(T5(name), {.prompt = 5}), HasSubstr("a prompt"));
  }
}

TEST(HeadsTest, ADecoderAloneGeneratesFromItsOwnPrompt) {
  const Description description = Described(Bart("BartForCausalLM"), {.prompt = 6, .generate = 3});
  for (const DescribedNode& node : description.nodes) {
    EXPECT_FALSE(node.scope.starts_with("encoder.")) << node.scope;
  }
  const std::string unused = "decoder.layers.0.encoder_attn";
  const NodeId attention = Find(description, unused, RunPhase::kPrefill);
  ASSERT_NE(attention, 0u);
  EXPECT_EQ(description.nodes[attention].runs, 0);
  EXPECT_EQ(description.nodes[attention].work.flops, 0);
  EXPECT_GT(description.nodes[attention].parameters, 0u);
  EXPECT_THAT(OutputOf(description, Find(description, "decoder", RunPhase::kPrefill)),
              ElementsAre(1, 6, 48));
}

TEST(HeadsTest, AnEncoderDecoderGeneratesTokenByToken) {
  const Description description =
      Described(T5("T5ForConditionalGeneration"), {.batch = 2, .prompt = 6, .generate = 3});
  EXPECT_THAT(OutputOf(description, Find(description, "lm_head", RunPhase::kDecode)),
              ElementsAre(2, 1, 101));
}

// Each GPU does the whole head.
TEST(HeadsTest, EveryGpuDoesTheHead) {
  const std::string text = Llama(R"(, "architectures": ["LlamaForCausalLM"])");
  const Description one = Described(text, {.seq = 5});
  const Description two = Described(text, {.seq = 5, .gpus = 2});
  EXPECT_EQ(two.nodes[Find(two, "lm_head")].work.flops,
            2 * one.nodes[Find(one, "lm_head")].work.flops);
}

TEST(HeadsTest, AreFoundByTheNameOfTheirClass) {
  const Family& xlm = *FindFamily("xlm-roberta");
  EXPECT_EQ(ClassPrefix(xlm), "XLMRoberta");
  EXPECT_NE(FindHead(xlm, "XLMRobertaForMaskedLM"), nullptr);
  EXPECT_EQ(FindHead(xlm, "RobertaForMaskedLM"), nullptr);
  EXPECT_EQ(FindHead(*FindFamily("phi"), "PhiForQuestionAnswering"), nullptr)
      << "the library has none";
}

}  // namespace
}  // namespace beryl::models
