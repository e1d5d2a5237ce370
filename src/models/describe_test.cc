#include "base/matchers_for_test.h"
#include "models/models.h"

namespace beryl::models {
namespace {

constexpr const char* kSmallMistral =
    R"({"model_type": "mistral", "vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 80,
        "sliding_window": 20})";
constexpr const char* kSmallLlama =
    R"({"model_type": "llama", "vocab_size": 101, "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 96})";

Description Described(const std::string& text, const DescribeOptions& options) {
  auto description = Describe({"test", text}, options);
  EXPECT_TRUE(description) << (description ? "" : description.error().message);
  return description ? std::move(*description) : Description();
}

std::string Refusal(const std::string& text, const DescribeOptions& options = {}) {
  const auto description = Describe({"test", text}, options);
  EXPECT_FALSE(description);
  return description ? "" : description.error().message;
}

NodeId Find(const Description& description, const std::string& scope, RunPhase phase) {
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    if (description.nodes[node].scope == scope && description.nodes[node].phase == phase) {
      return node;
    }
  }
  ADD_FAILURE() << "no " << scope;
  return 0;
}

void ExpectTree(const Description& description) {
  const auto& nodes = description.tree.nodes;
  ASSERT_EQ(nodes.size(), description.nodes.size());
  for (NodeId node = 0; node < nodes.size(); ++node) {
    ASSERT_GT(nodes[node].end, node);
    ASSERT_LE(nodes[node].end, nodes.size());
    Work below;
    bool has_children = false;
    for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
      ASSERT_EQ(nodes[child].parent, node);
      ASSERT_EQ(nodes[child].depth, nodes[node].depth + 1);
      below += description.nodes[child].work;
      has_children = true;
    }
    const Work& work = description.nodes[node].work;
    if (has_children) {
      EXPECT_NEAR(work.flops, below.flops, 1e-9 * work.flops);
      EXPECT_NEAR(work.Bytes(), below.Bytes(), 1e-9 * work.Bytes());
    }
    EXPECT_LE(work.matmul_flops, work.flops);
    EXPECT_EQ(nodes[node].level == Level::kMath, description.nodes[node].kind.has_value());
  }
}

TEST(DescribeTest, WithoutALengthAsManyTokensAreAssumedAsFit) {
  const auto assumed = [](const char* text) { return Described(text, {}).input.seq; };
  EXPECT_EQ(assumed(R"({"model_type": "bert"})"), 128);
  EXPECT_EQ(assumed(R"({"model_type": "bert", "max_position_embeddings": 40})"), 40);
  EXPECT_EQ(assumed(R"({"model_type": "gpt2", "n_positions": 64})"), 64);
  // Two of them are kept for padding.
  EXPECT_EQ(assumed(R"({"model_type": "roberta", "max_position_embeddings": 128})"), 126);
  EXPECT_THAT(Refusal(R"({"model_type": "roberta", "max_position_embeddings": 1})"),
              HasSubstr("positions"));
}

TEST(DescribeTest, EveryModelOfTheCatalogHasATreeThatAddsUp) {
  for (const CatalogEntry& entry : Catalog()) {
    SCOPED_TRACE(entry.name);
    const Description description = Described(entry.config, {.input = {.batch = 2}});
    ExpectTree(description);
  }
}

TEST(DescribeTest, MatmulsOfBertAreThoseOfTheLibrarysCounter) {
  const auto config = FindConfig("bert-base-uncased");
  ASSERT_TRUE(config);
  const Description description = Described(config->text, {.input = {.batch = 8, .seq = 128}});
  EXPECT_EQ(description.nodes[0].work.matmul_flops, 178787450880.0);
  EXPECT_EQ(description.nodes[0].parameters, 109482240u);
}

TEST(DescribeTest, NamesAreFoundInAnyCaseAndWithoutTheirOrganisation) {
  EXPECT_EQ(FindConfig("BERT-base-uncased")->name, "bert-base-uncased");
  EXPECT_TRUE(FindConfig("google-bert/bert-base-uncased"));
  EXPECT_TRUE(FindConfig("Meta-Llama-3-8B"));
  EXPECT_THAT(FindConfig("bert-base-uncasd").error().message,
              HasSubstr("did you mean 'bert-base-uncased'"));
  EXPECT_THAT(FindConfig("bert").error().message, HasSubstr("did you mean 'bert-"))
      << "an ALBERT has the word in it too";
}

// The sum over tokens is taken from the first and the last; pass by pass it has to be the same.
TEST(DescribeTest, DecodeIsTheSumOfItsPasses) {
  for (const char* text : {kSmallLlama, kSmallMistral}) {
    const int64_t prompt = 13;
    const int64_t generate = 17;
    const Description whole =
        Described(text, {.input = {.batch = 3, .prompt = prompt, .generate = generate}});
    ExpectTree(whole);
    const NodeId decode = Find(whole, "", RunPhase::kDecode);
    Work sum;
    for (int64_t i = 0; i < generate; ++i) {
      sum +=
          Described(text, {.input = {.batch = 3, .seq = 1, .context = prompt + i}}).nodes[0].work;
    }
    EXPECT_NEAR(whole.nodes[decode].work.flops, sum.flops, 1e-9 * sum.flops);
    EXPECT_NEAR(whole.nodes[decode].work.Bytes(), sum.Bytes(), 1e-9 * sum.Bytes());
    EXPECT_EQ(whole.nodes[decode].runs, generate);
    const NodeId prefill = Find(whole, "", RunPhase::kPrefill);
    EXPECT_EQ(whole.nodes[prefill].work.flops,
              Described(text, {.input = {.batch = 3, .seq = prompt}}).nodes[0].work.flops);
    EXPECT_EQ(whole.nodes[0].parameters, whole.nodes[prefill].parameters);
  }
}

TEST(DescribeTest, AWindowBoundsWhatDecodingReads) {
  const auto flops = [](int64_t context) {
    return Described(kSmallMistral, {.input = {.seq = 1, .context = context}}).nodes[0].work;
  };
  EXPECT_GT(flops(18).matmul_flops, flops(17).matmul_flops);
  EXPECT_EQ(flops(100).matmul_flops, flops(19).matmul_flops);
}

TEST(DescribeTest, EncoderDecodersRunTheEncoderOnce) {
  const char* text = R"({"model_type": "t5", "d_model": 48, "d_ff": 80, "num_layers": 2,
                         "num_heads": 3, "d_kv": 16, "vocab_size": 101})";
  const Description description = Described(text, {.input = {.prompt = 9, .generate = 4}});
  ExpectTree(description);
  Find(description, "encoder.block.0", RunPhase::kPrefill);
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    if (description.nodes[node].phase != RunPhase::kDecode) continue;
    EXPECT_FALSE(description.nodes[node].scope.starts_with("encoder"));
  }
  const NodeId keys =
      Find(description, "decoder.block.0.layer.1.EncDecAttention.k", RunPhase::kDecode);
  EXPECT_EQ(description.nodes[keys].work.flops, 0) << "they are in the cache";
}

TEST(DescribeTest, SharedLayersAreStoredOnceAndRunOften) {
  const char* text = R"({"model_type": "albert", "hidden_size": 48, "num_hidden_layers": 6,
                         "num_attention_heads": 3, "intermediate_size": 80, "vocab_size": 101})";
  const Description six = Described(text, {});
  const Description three = Described(text, {.set = {{"num_hidden_layers", "3"}}});
  EXPECT_EQ(six.nodes[0].parameters, three.nodes[0].parameters);
  const std::string layer = "encoder.albert_layer_groups.0.albert_layers.0";
  const NodeId node = Find(six, layer, RunPhase::kForward);
  EXPECT_EQ(six.nodes[node].runs, 6);
  EXPECT_EQ(six.nodes[node].work.flops,
            2 * three.nodes[Find(three, layer, RunPhase::kForward)].work.flops);
}

TEST(DescribeTest, GpusShareTheProductsAndSendWhatTheyAddUp) {
  const Description one = Described(kSmallLlama, {.input = {.batch = 2, .seq = 8}});
  const Description four = Described(kSmallLlama, {.input = {.batch = 2, .seq = 8, .gpus = 4}});
  ExpectTree(four);
  EXPECT_EQ(four.nodes[0].work.matmul_flops, one.nodes[0].work.matmul_flops);
  EXPECT_EQ(four.nodes[0].parameters, one.nodes[0].parameters);
  EXPECT_EQ(one.nodes[0].work.bytes_sent, 0);
  // Two sums a layer, each of batch x tokens x hidden floats, twice round a ring of four.
  EXPECT_EQ(four.nodes[0].work.bytes_sent, 2 * 2 * (2 * 3 * (2 * 8 * 64 * 4)));
  EXPECT_THAT(Refusal(kSmallLlama, {.input = {.gpus = 3}}),
              HasSubstr("8 heads cannot be divided among 3 GPUs"));
}

TEST(DescribeTest, ExpertsTouchedByABatch) {
  const char* text = R"({"model_type": "mixtral", "vocab_size": 101, "hidden_size": 48,
      "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2,
      "intermediate_size": 80, "num_local_experts": 8, "num_experts_per_tok": 2})";
  const auto bytes = [&](int64_t batch) {
    const Description description = Described(text, {.input = {.batch = batch, .seq = 1}});
    return description.nodes[Find(description, "layers.0.mlp.experts", RunPhase::kForward)]
        .work.bytes_read;
  };
  const double expert = 3 * 48 * 80 * 4;
  EXPECT_NEAR(bytes(1), 2 * expert, 0.1 * expert) << "one token touches two";
  EXPECT_GT(bytes(1000), 8 * expert) << "many touch all";
}

TEST(DescribeTest, NarrowWeightsAreReadFaster) {
  const auto read = [](Dtype dtype) {
    return Described(kSmallLlama, {.input = {.seq = 1}, .dtype = dtype}).nodes[0].work.bytes_read;
  };
  EXPECT_GT(read(Dtype::kFloat32), read(Dtype::kFloat16));
  EXPECT_EQ(read(Dtype::kBfloat16), read(Dtype::kFloat16));
  EXPECT_GT(read(Dtype::kFloat16), read(Dtype::kInt8));
  EXPECT_GT(read(Dtype::kInt8), read(Dtype::kInt4));
}

TEST(DescribeTest, FusedAttentionDoesTheSameProductsOnFewerBytes) {
  const auto work = [](AttentionKind attention) {
    return Described(kSmallLlama, {.input = {.seq = 100}, .attention = attention}).nodes[0].work;
  };
  const Work eager = work(AttentionKind::kEager);
  const Work sdpa = work(AttentionKind::kSdpa);
  const Work flash = work(AttentionKind::kFlash);
  EXPECT_EQ(eager.matmul_flops, sdpa.matmul_flops);
  EXPECT_EQ(eager.matmul_flops, flash.matmul_flops);
  EXPECT_GT(eager.Bytes(), sdpa.Bytes());
  EXPECT_GT(sdpa.Bytes(), flash.Bytes());
}

TEST(DescribeTest, TheHeadIsCountedWhereItIsAskedFor) {
  const Description bare = Described(kSmallLlama, {.input = {.seq = 5}});
  const Description headed =
      Described(kSmallLlama, {.input = {.seq = 5}, .head = HeadChoice::kLanguageModel});
  EXPECT_EQ(headed.nodes[0].parameters - bare.nodes[0].parameters, 101u * 64u);
  EXPECT_EQ(headed.nodes[0].work.matmul_flops - bare.nodes[0].work.matmul_flops, 2 * 101 * 64);
  EXPECT_THAT(Refusal(R"({"model_type": "bert"})", {.head = HeadChoice::kLanguageModel}),
              HasSubstr("architectures=BertForMaskedLM"));
}

TEST(DescribeTest, RefusesWhatContradictsItselfByTheKeysName) {
  EXPECT_THAT(Refusal("{}"), HasSubstr("'model_type'"));
  EXPECT_THAT(Refusal(R"({"model_type": "mamba"})"), HasSubstr("unknown; expected one of bert"));
  EXPECT_THAT(Refusal(R"({"model_type": "bert", "hidden_size": 100})"),
              HasSubstr("'num_attention_heads'"));
  EXPECT_THAT(Refusal(R"({"model_type": "bert", "hidden_act": "gloo"})"),
              HasSubstr("'hidden_act'"));
  EXPECT_THAT(Refusal(R"({"model_type": "bert", "num_hidden_layers": 1000000})"),
              HasSubstr("'num_hidden_layers'"));
  EXPECT_THAT(Refusal(R"({"model_type": "llama", "num_key_value_heads": 5})"),
              HasSubstr("'num_key_value_heads' = 5: 5 do not divide 32"));
  EXPECT_THAT(Refusal(R"({"model_type": "bert"})", {.input = {.seq = 513}}),
              HasSubstr("513 tokens do not fit"));
  EXPECT_THAT(Refusal(R"({"model_type": "roberta", "max_position_embeddings": 514})",
                      {.input = {.seq = 513}}),
              HasSubstr("the model has 512 positions"));
}

TEST(DescribeTest, RefusesInputThatDoesNotSuitTheModel) {
  const char* bert = R"({"model_type": "bert"})";
  EXPECT_THAT(Refusal(bert, {.input = {.prompt = 4}}), HasSubstr("accept a prompt"));
  EXPECT_THAT(Refusal(bert, {.input = {.decoder_seq = 4}}),
              HasSubstr("sequence length of the decoder"));
  EXPECT_THAT(Refusal(bert, {.input = {.image_size = 4}}), HasSubstr("an image size"));
  EXPECT_THAT(Refusal(bert, {.input = {.context = 4}}), HasSubstr("a context"));
  EXPECT_THAT(Refusal(kSmallLlama, {.input = {.generate = 4}}), HasSubstr("needs a prompt"));
  EXPECT_THAT(Refusal(kSmallLlama, {.input = {.seq = 4, .prompt = 4}}),
              HasSubstr("sequence length"));
  EXPECT_THAT(Refusal(R"({"model_type": "vit"})", {.input = {.seq = 4}}),
              HasSubstr("an image size"));
}

TEST(DescribeTest, SetsKeysByAnyOfTheirNames) {
  const char* gpt2 = R"({"model_type": "gpt2", "n_layer": 12})";
  const Description description = Described(gpt2, {.set = {{"num_hidden_layers", "2"}}});
  Find(description, "h.1", RunPhase::kForward);
  for (const DescribedNode& node : description.nodes) EXPECT_NE(node.scope, "h.2");
  EXPECT_THAT(Refusal(gpt2, {.set = {{"num_hiden_layers", "2"}}}),
              HasSubstr("did you mean 'num_hidden_layers'"));
}

// The 24 small BERTs of Turc et al. are a sweep of the base model.
TEST(DescribeTest, HeadsAndInnerSizeFollowTheHiddenSize) {
  const auto base = FindConfig("bert-base-uncased");
  ASSERT_TRUE(base);
  for (const int64_t hidden : {128, 256, 512, 768}) {
    for (const int64_t layers : {2, 12}) {
      const auto published =
          FindConfig("google/bert_uncased_L-" + std::to_string(layers) + "_H-" +
                     std::to_string(hidden) + "_A-" + std::to_string(hidden / 64));
      ASSERT_TRUE(published);
      const Description swept =
          Described(base->text, {.set = {{"num_hidden_layers", std::to_string(layers)},
                                         {"hidden_size", std::to_string(hidden)}},
                                 .follow_hidden_size = true});
      const Description described = Described(published->text, {});
      EXPECT_EQ(swept.nodes[0].parameters, described.nodes[0].parameters);
      EXPECT_EQ(swept.nodes[0].work.flops, described.nodes[0].work.flops);
    }
  }
  EXPECT_THAT(Refusal(base->text, {.set = {{"hidden_size", "128"}}}),
              HasSubstr("do not divide a hidden size of 128"));
}

}  // namespace
}  // namespace beryl::models
