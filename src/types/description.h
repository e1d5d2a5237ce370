// Description: what a model is made of and what running it takes, worked out from its configuration
// alone: no weights, no run. A tree at four levels (model, module, ML primitive, math operation)
// with the scopes that Hugging Face's own implementation has, and the work of every node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/model_tree.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

// Of weights and activations. With kInt8 and kInt4 the weights of matrix products are that narrow,
// and all else is float16.
enum class Dtype : uint8_t { kFloat32, kFloat16, kBfloat16, kInt8, kInt4 };
std::string_view DtypeName(Dtype dtype);
std::optional<Dtype> ParseDtype(std::string_view name);

// How attention is computed. It decides which operations there are.
enum class AttentionKind : uint8_t {
  kEager,  // scores are written out: matmul, scale, mask, softmax, matmul
  kSdpa,   // one fused operation that reads each tensor once, on copies laid out for it
  kFlash,  // one fused operation on tensors as they lie
};
std::string_view AttentionName(AttentionKind attention);
std::optional<AttentionKind> ParseAttention(std::string_view name);

enum class RunPhase : uint8_t {
  kForward,  // one pass over the input
  kPrefill,  // the prompt, all at once
  kDecode,   // token by token, with the keys and values of all before in the cache
  kAll,      // prefill and decode together
};
std::string_view RunPhaseName(RunPhase phase);

// What kind of kernel a math operation is: what its speed depends on.
enum class MathKind : uint8_t {
  kMatmul,         // a matrix of weights
  kBatchedMatmul,  // of activations with each other
  kConvolution,
  kAttention,  // fused: both products and the softmax between
  kElementwise,
  kCopy,
  kGather,  // rows of a table
  kSoftmax,
  kNorm,
  kReduce,
  kSend,  // between GPUs
  kView,  // no kernel: the host looks at a tensor in another way; `runs` says how often
};
inline constexpr size_t kMathKindCount = 12;
std::string_view MathKindName(MathKind kind);

// What running something takes. Numbers of operations and bytes; products of sizes, so exact as
// long as they are below 2^53. Where an expectation is asked for (experts touched), a fraction.
struct Work {
  double flops = 0;         // all of them, a multiply-add being two
  double matmul_flops = 0;  // the part of matrix products, which other units do
  double bytes_read = 0;
  double bytes_written = 0;
  double bytes_sent = 0;  // between GPUs, added up over them

  Work& operator+=(const Work& other);
  double Bytes() const { return bytes_read + bytes_written; }
  double Intensity() const;  // operations a byte; NaN: no bytes
};
Work operator*(const Work& work, double times);

struct Shape {
  std::array<int64_t, 5> dims = {};
  uint8_t rank = 0;

  double Elements() const;
  double Last() const { return rank > 0 ? static_cast<double>(dims[rank - size_t{1}]) : 1; }
};

struct DescribedNode {
  std::string scope;  // of the module, or of the one that the operation runs in; of the root empty
  RunPhase phase = RunPhase::kForward;
  Work work;                // with everything below, over all runs, over all GPUs
  uint64_t parameters = 0;  // stored, with everything below; shared ones once
  double runs = 1;          // how often it runs: layers that are shared, tokens that are decoded
  bool split = false;       // over the GPUs: each does its part; else each does all of it
  std::optional<MathKind> kind;  // of math operations
  // Into Description::shapes: inputs, then outputs. Of decoded tokens, those of the last.
  uint32_t first_shape = 0;
  uint8_t input_count = 0;
  uint8_t output_count = 0;
};

// What the math operation `from` gives, the math operation `to` takes.
struct Flow {
  NodeId from = 0;
  NodeId to = 0;

  friend bool operator==(const Flow&, const Flow&) = default;
  // What one operation takes stands together.
  friend bool operator<(const Flow& a, const Flow& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  }
};

// What goes in. 0: does not apply.
struct ModelInput {
  int64_t batch = 1;        // sequences, images, concurrent requests
  int64_t seq = 0;          // tokens of each that go in; of images: patches and class token
  int64_t decoder_seq = 0;  // of encoder-decoder models
  int64_t image_size = 0;   // pixels a side
  int64_t prompt = 0;       // of a generation; then `seq` is 0
  int64_t generate = 0;     // tokens after the prompt
  int64_t context = 0;      // tokens already in the cache
  int64_t gpus = 1;
};

// Tokens that go through the model, over the whole batch; 0: it takes none.
double TokensOf(const ModelInput& input);
// Of one phase of it.
double TokensOf(const ModelInput& input, RunPhase phase);

struct Description {
  std::string model;   // as it was asked for
  std::string family;  // its model_type: "bert"
  ModelInput input;
  Dtype dtype = Dtype::kFloat32;
  AttentionKind attention = AttentionKind::kEager;
  ModelTree tree;
  std::vector<DescribedNode> nodes;  // by node
  std::vector<Shape> shapes;
  // In order, each once, from a lower node to a higher one, between math operations. Views are
  // passed by. What comes from outside of the pass (input, weights, the cache) comes from no
  // operation, and what a layer that runs several times gives itself is left out.
  std::vector<Flow> flows;
  std::vector<Note> notes;  // what was taken for granted
  Provenance provenance;    // who shows it fills it in
};

// How many layers a token passes through: modules that are numbered, the outermost ones, as often
// as they run in one pass. Of encoder-decoder models those of both.
double LayersOf(const Description& description);

}  // namespace beryl
