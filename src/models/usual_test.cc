// What is described where the user says nothing of it: number type, head, memory.
#include "base/matchers_for_test.h"
#include "models/models.h"

namespace beryl::models {
namespace {

constexpr const char* kBert = R"({"model_type": "bert", "hidden_size": 48, "num_hidden_layers": 2,
  "num_attention_heads": 3, "intermediate_size": 80, "vocab_size": 101)";

Result<Description> Usual(const std::string& text, ModelInput input = {.seq = 8}) {
  DescribeOptions options;
  options.input = input;
  options.dtype = std::nullopt;
  options.head = HeadChoice::kUsual;
  return Describe({"a", text}, options);
}

bool Says(const Description& description, NoteKind kind) {
  for (const Note& note : description.notes) {
    if (note.kind == kind) return true;
  }
  return false;
}

TEST(UsualDtype, IsTheConfigurations) {
  const auto dtype = [](const std::string& more) {
    const auto description = Usual(kBert + more + "}");
    EXPECT_TRUE(description) << description.error().message;
    EXPECT_FALSE(Says(*description, NoteKind::kAssumedDtype)) << more;
    return DtypeName(description->dtype);
  };
  EXPECT_EQ(dtype(""), "float32");
  EXPECT_EQ(dtype(R"(, "torch_dtype": "bfloat16")"), "bfloat16");
  EXPECT_EQ(dtype(R"(, "dtype": "float16")"), "float16");
  EXPECT_EQ(
      dtype(R"(, "dtype": "float16", "quantization_config": {"bits": 4, "quant_method": "gptq"})"),
      "int4");
  EXPECT_EQ(
      dtype(R"(, "quantization_config": {"load_in_8bit": true, "quant_method": "bitsandbytes"})"),
      "int8");
}

TEST(UsualDtype, IsTheCatalogs) {
  DescribeOptions options;
  options.dtype = std::nullopt;
  EXPECT_EQ(Describe(*FindConfig("Llama-3.1-8B"), options)->dtype, Dtype::kBfloat16);
  EXPECT_EQ(Describe(*FindConfig("pythia-70m"), options)->dtype, Dtype::kFloat16);
  EXPECT_EQ(Describe(*FindConfig("bert-base-uncased"), options)->dtype, Dtype::kFloat32);
}

TEST(UsualHead, FollowsArchitectures) {
  const auto classified =
      Usual(std::string(kBert) + R"(, "architectures": ["BertForSequenceClassification"]})");
  ASSERT_TRUE(classified);
  EXPECT_EQ(classified->tree.nodes[0].type, "BertForSequenceClassification");
  EXPECT_FALSE(Says(*classified, NoteKind::kAssumedNoHead));
  const auto bare = Usual(std::string(kBert) + "}");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->tree.nodes[0].type, "BertModel");
  EXPECT_TRUE(Says(*bare, NoteKind::kAssumedNoHead));
}

TEST(UsualHead, AGenerationHasOne) {
  DescribeOptions options;
  options.input = {.prompt = 8, .generate = 4};
  options.head = HeadChoice::kUsual;
  const auto generation = Describe(*FindConfig("gpt2"), options);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_TRUE(Says(*generation, NoteKind::kAssumedHead));
  options.head = HeadChoice::kNone;
  const auto bare = Describe(*FindConfig("gpt2"), options);
  ASSERT_TRUE(bare);
  EXPECT_GT(generation->nodes[0].work.flops, bare->nodes[0].work.flops);
}

TEST(Memory, CountsWhatIsStillToBeRead) {
  DescribeOptions options;
  options.input = {.batch = 4, .seq = 512};
  const auto eager = Describe(*FindConfig("bert-base-uncased"), options);
  ASSERT_TRUE(eager);
  const double state = 4.0 * 512 * 768 * 4;
  const double scores = 4.0 * 12 * 512 * 512 * 4;
  EXPECT_EQ(eager->memory.weights, 4.0 * static_cast<double>(eager->nodes[0].parameters));
  EXPECT_EQ(eager->memory.cache, 0);
  // Scores before and after an operation on them, and a few states.
  EXPECT_GE(eager->memory.activations, 2 * scores);
  EXPECT_LE(eager->memory.activations, 2 * scores + 8 * state);
  options.attention = AttentionKind::kSdpa;
  const auto fused = Describe(*FindConfig("bert-base-uncased"), options);
  ASSERT_TRUE(fused);
  EXPECT_LT(fused->memory.activations, scores + 12 * state);
  EXPECT_GT(fused->memory.activations, 4 * state);
}

TEST(Memory, DoesNotGrowWithLayers) {
  DescribeOptions options;
  options.input = {.seq = 128};
  const auto two = Describe(*FindConfig("google/bert_uncased_L-2_H-768_A-12"), options);
  const auto twelve = Describe(*FindConfig("google/bert_uncased_L-12_H-768_A-12"), options);
  ASSERT_TRUE(two && twelve);
  EXPECT_EQ(two->memory.activations, twelve->memory.activations);
}

}  // namespace
}  // namespace beryl::models
