// Description: the structure of a model and the work of running it, computed from its configuration
// alone: no weights, no run. A tree at four levels (model, module, ML primitive, math operation)
// with the scopes of Hugging Face's implementation, and the work of every node.
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

// Of weights and activations. With kInt8 and kInt4, the weights of matrix products have that width
// and everything else is float16.
enum class Dtype : uint8_t { kFloat32, kFloat16, kBfloat16, kInt8, kInt4 };
std::string_view DtypeName(Dtype dtype);
std::optional<Dtype> ParseDtype(std::string_view name);
// The bytes of a number in a model of this type: of what it computes, and of a weight.
double ActivationWidth(Dtype dtype);
double WeightWidth(Dtype dtype);

// How attention is computed; this determines its operations.
enum class AttentionKind : uint8_t {
  kEager,  // writes out the scores: matmul, scale, mask, softmax, matmul
  kSdpa,   // one fused operation that reads each tensor once, on copies in its layout
  kFlash,  // one fused operation on the tensors in place
};
std::string_view AttentionName(AttentionKind attention);
std::optional<AttentionKind> ParseAttention(std::string_view name);

enum class RunPhase : uint8_t {
  kForward,  // one pass over the input
  kPrefill,  // the whole prompt at once
  kDecode,   // token by token, with cached keys and values of all earlier tokens
  kAll,      // all phases of a generation or of a step of training together
  kBackward,
  kOptimizer,
};
std::string_view RunPhaseName(RunPhase phase);

// The kind of kernel of a math operation, which determines its speed.
enum class MathKind : uint8_t {
  kMatmul,         // with a matrix of weights
  kBatchedMatmul,  // of activations with each other
  kConvolution,
  kAttention,  // fused: both products and the softmax between them
  kElementwise,
  kCopy,
  kGather,  // rows of a table
  kSoftmax,
  kNorm,
  kReduce,
  kSend,  // between GPUs
  kView,  // no kernel: the host reinterprets a tensor; `runs` says how often
};
inline constexpr size_t kMathKindCount = 12;
std::string_view MathKindName(MathKind kind);

// The work of running something: numbers of operations and bytes. Products of sizes, so exact below
// 2^53. An expectation (experts touched) is a fraction.
struct Work {
  double flops = 0;         // a multiply-add counts as two
  double matmul_flops = 0;  // the part in matrix products, which run on other units
  double bytes_read = 0;
  double bytes_written = 0;
  double bytes_sent = 0;  // between GPUs, summed over them

  Work& operator+=(const Work& other);
  double Bytes() const { return bytes_read + bytes_written; }
  double Intensity() const;  // operations per byte; NaN: no bytes
};
Work operator*(const Work& work, double times);

struct Shape {
  std::array<int64_t, 5> dims = {};
  uint8_t rank = 0;

  double Elements() const;
  double Last() const { return rank > 0 ? static_cast<double>(dims[rank - size_t{1}]) : 1; }
};

struct DescribedNode {
  std::string
      scope;  // of the module, or of the module that the operation runs in; empty for the root
  RunPhase phase = RunPhase::kForward;
  Work work;                     // with everything below, over all runs and all GPUs
  uint64_t parameters = 0;       // stored, with everything below; shared ones count once
  double runs = 1;               // how often it runs: shared layers, decoded tokens
  bool split = false;            // over the GPUs: each does its part; otherwise each does all of it
  std::optional<MathKind> kind;  // of math operations
  // Indices into Description::shapes: inputs, then outputs. For decoded tokens, those of the last
  // one.
  uint32_t first_shape = 0;
  uint8_t input_count = 0;
  uint8_t output_count = 0;
};

// The math operation `to` uses a result of the math operation `from`.
struct Flow {
  NodeId from = 0;
  NodeId to = 0;

  friend bool operator==(const Flow&, const Flow&) = default;
  // Grouped by consumer.
  friend bool operator<(const Flow& a, const Flow& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  }
};

// The input of a model. 0: does not apply.
struct ModelInput {
  int64_t batch = 1;        // sequences, images, concurrent requests
  int64_t seq = 0;          // input tokens of each; for images, patches and class token
  int64_t decoder_seq = 0;  // for encoder-decoder models
  int64_t image_size = 0;   // pixels per side
  int64_t prompt = 0;       // of a generation; `seq` is 0 then
  int64_t generate = 0;     // tokens after the prompt
  int64_t context = 0;      // tokens already in the cache
  int64_t gpus = 1;

  friend bool operator==(const ModelInput&, const ModelInput&) = default;
};

// Tokens that go through the model, over the whole batch; 0 if it takes none.
double TokensOf(const ModelInput& input);
// In one phase.
double TokensOf(const ModelInput& input, RunPhase phase);
// Those that energy per token is of: in a generation as a whole, the generated ones.
double TokensMeant(const ModelInput& input, RunPhase phase);

// What changes the weights in a step of training.
enum class OptimizerKind : uint8_t { kSgd, kAdam, kAdamw, kAdafactor };
std::string_view OptimizerName(OptimizerKind optimizer);
std::optional<OptimizerKind> ParseOptimizer(std::string_view name);

struct Training {
  OptimizerKind optimizer = OptimizerKind::kAdamw;
  bool checkpointing = false;  // layers run again in the backward pass instead of being remembered
};

// Bytes that a model needs at once, over all GPUs.
struct MemoryNeed {
  double weights = 0;
  double gradients = 0;    // of the weights, in training
  double optimizer = 0;    // what it remembers of each weight
  double cache = 0;        // keys and values at the end of a generation, at most
  double activations = 0;  // results of operations that are still to be read, attention scores too

  double Total() const { return weights + gradients + optimizer + cache + activations; }
};

struct Description {
  std::string model;   // as requested
  std::string family;  // its model_type: "bert"
  ModelInput input;
  Dtype dtype = Dtype::kFloat32;
  AttentionKind attention = AttentionKind::kEager;
  std::optional<Training> training;  // nothing: it is not trained
  MemoryNeed memory;
  ModelTree tree;
  std::vector<DescribedNode> nodes;  // by node
  std::vector<Shape> shapes;
  std::vector<Shape> weights;  // of all parameters, shared ones once
  // In order, without duplicates, from a lower node to a higher one, between math operations. Skips
  // views. Omits what comes from outside of the pass (input, weights, the cache), and what a layer
  // that runs several times passes to itself.
  std::vector<Flow> flows;
  std::vector<Note> notes;  // assumptions
  Provenance provenance;    // filled in by the caller that shows it
};

// The memory that it needs, from its tree.
MemoryNeed MemoryNeedOf(const Description& description);

// The number of layers a token passes through: the outermost numbered modules, as often as they run
// in one pass; encoder plus decoder where there are both.
double LayersOf(const Description& description);

}  // namespace beryl
