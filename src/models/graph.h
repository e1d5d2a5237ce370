// Graph: a family file builds its model into it. Modules open and close around their content;
// primitives and math operations count their own work; Finish() adds it up.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "types/description.h"
#include "types/note.h"

namespace beryl::models {

// A tensor between operations: its shape, the size of an element, and its origin.
struct Tensor {
  Shape shape;
  double width = 4;          // bytes per element
  bool split = false;        // over the GPUs: each holds a part
  NodeId made_by = kNoNode;  // the math operation; kNoNode: it comes from outside the pass

  double Elements() const;
  double Bytes() const { return Elements() * width; }
  int64_t Last() const { return shape.dims[shape.rank - size_t{1}]; }
  // The same tensor with another last dimension.
  Tensor WithLast(int64_t size) const;
  // This shape with the origin of `whole`, of which it is a part or a view.
  Tensor Of(const Tensor& whole) const;
};

// The input of one pass.
struct Pass {
  RunPhase phase = RunPhase::kForward;
  int64_t batch = 1;
  int64_t tokens = 1;          // new tokens of each sequence
  int64_t cached = 0;          // earlier tokens of each sequence
  int64_t encoded = 0;         // encoder-decoder models: tokens of the encoder
  int64_t decoder_tokens = 0;  // tokens of the decoder
  bool run_encoder = true;     // false: its output and the keys and values from it are cached
  // Optional parts of the model; some heads do without.
  bool pooler = true;
  bool encoder = true;
  bool decoder = true;
  Dtype dtype = Dtype::kFloat32;
  AttentionKind attention = AttentionKind::kEager;
  int64_t gpus = 1;
  bool training = false;           // the pass ends with a loss, and keeps no keys and values
  bool dropout = false;            // drops hidden states,
  bool attention_dropout = false;  // and attention scores
};

// How a weight matrix is divided among GPUs: by columns (the output is split), or by rows (the
// input is split and the outputs are summed over all GPUs).
enum class Split : uint8_t { kNone, kColumns, kRows };

struct LinearOptions {
  bool bias = true;
  Split split = Split::kNone;
  std::string_view type = "Linear";
  bool tied = false;    // its matrix is the word table
  bool counted = true;  // false: the parameters are counted elsewhere
};

// Operations return their output, which must be passed on to the next one.
class Graph {
 public:
  Graph(const Pass& pass, std::string name, std::string_view type);

  const Pass& pass() const { return pass_; }
  double weight_width() const { return weight_width_; }  // of matrices
  Tensor Activation(std::initializer_list<int64_t> dims) const;
  Tensor Ids(std::initializer_list<int64_t> dims) const;  // 64-bit integers

  // A module: `body` builds its content and returns its output.
  template <typename Body>
  [[nodiscard]] Tensor Module(std::string name, std::string_view type, const Tensor& input,
                              Body&& body) {
    Open(std::move(name), type, Level::kModule, {input});
    const Tensor output = body();
    return Close(output);
  }
  // Everything that `body` builds runs `times` times; its parameters are stored once.
  template <typename Body>
  void Repeat(double times, Body&& body) {
    const double before = runs_;
    runs_ *= times;
    body();
    runs_ = before;
  }

  // --- ML primitives. Names are scopes below the module. Operations that are not modules (MatMul,
  // Softmax) have only a type.
  [[nodiscard]] Tensor Linear(std::string name, const Tensor& x, int64_t out,
                              const LinearOptions& options = {});
  [[nodiscard]] Tensor Embedding(std::string name, const Tensor& ids, int64_t rows, int64_t width,
                                 std::string_view type = "Embedding");
  // A word embedding. Other parts of the model may share its table, which is stored once.
  [[nodiscard]] Tensor WordEmbedding(std::string name, const Tensor& ids, int64_t rows,
                                     int64_t width);
  // The same, with the output multiplied by a number. `tied`: the table may be shared.
  [[nodiscard]] Tensor ScaledEmbedding(std::string name, std::string_view type, const Tensor& ids,
                                       int64_t rows, int64_t width, bool tied);
  [[nodiscard]] Tensor LayerNorm(std::string name, const Tensor& x);
  // `shifted`: 1 is added to the weight on each run, as in Gemma.
  [[nodiscard]] Tensor RmsNorm(std::string name, std::string_view type, const Tensor& x,
                               bool shifted = false);
  [[nodiscard]] Tensor Conv2d(std::string name, const Tensor& image, int64_t out_channels,
                              int64_t patch_height, int64_t patch_width);
  // An activation by its name in the configuration ("gelu_new"): as a module, and as a plain
  // function.
  [[nodiscard]] Tensor Act(std::string name, std::string_view activation, const Tensor& x);
  [[nodiscard]] Tensor Act(std::string_view activation, const Tensor& x);
  [[nodiscard]] Tensor Tanh(std::string name, const Tensor& x);
  // No work at inference. Operations that read x afterwards read what is left of it.
  void Dropout(std::string name, const Tensor& x);
  void AttentionDropout(std::string name, const Tensor& x);  // the module; it drops scores
  // Dropout as a function. Returns x at inference.
  [[nodiscard]] Tensor Drop(const Tensor& x) { return pass_.dropout ? Dropped(x) : x; }
  [[nodiscard]] Tensor DropScores(const Tensor& x) {
    return pass_.attention_dropout ? Dropped(x) : x;
  }
  // The loss of training: cross entropy of the logits.
  [[nodiscard]] Tensor Loss(const Tensor& logits);
  // [batch, m, k] x [batch, k, n].
  [[nodiscard]] Tensor MatMul(double batch, int64_t m, int64_t k, int64_t n, const Tensor& left,
                              const Tensor& right, const Tensor& output);
  [[nodiscard]] Tensor Softmax(const Tensor& x);
  // A primitive that consists of several operations, built by `body`.
  template <typename Body>
  [[nodiscard]] Tensor Primitive(std::string name, std::string_view type, const Tensor& input,
                                 uint64_t parameters, Body&& body) {
    Open(std::move(name), type, Level::kMl, {input});
    AddParameters(parameters);
    const Tensor output = body();
    return Close(output);
  }
  // Trained tensors of the open primitive or module.
  void AddWeight(std::initializer_list<int64_t> dims);
  void AddParameters(uint64_t parameters) { AddWeight({static_cast<int64_t>(parameters)}); }
  // A module that exists but never runs.
  void Unused(std::string name, std::string_view type, uint64_t parameters, bool tied = false);

  // --- Math operations.
  // `count` changes of view: they cost only time of the host.
  void Views(int count, const Tensor& x);
  // An operation with the size of `output` that reads each of `inputs` once.
  [[nodiscard]] Tensor Elementwise(std::string_view name, std::initializer_list<Tensor> inputs,
                                   const Tensor& output, double flops_an_element = 1);
  [[nodiscard]] Tensor Add(const Tensor& a, const Tensor& b) {
    return Elementwise("add", {a, b}, a);
  }
  [[nodiscard]] Tensor Mul(const Tensor& a, const Tensor& b) {
    return Elementwise("mul", {a, b}, a);
  }
  [[nodiscard]] Tensor Scale(const Tensor& x) { return Elementwise("mul", {x}, x); }
  [[nodiscard]] Tensor Copy(std::string_view name, const Tensor& x) { return CopyTo(name, x, x); }
  [[nodiscard]] Tensor CopyTo(std::string_view name, const Tensor& x, const Tensor& output);
  [[nodiscard]] Tensor Math(std::string_view name, MathKind kind,
                            std::initializer_list<Tensor> inputs, const Tensor& output,
                            const Work& work, bool split);

  // The last operation also reads this tensor, though its shapes do not show it.
  void AlsoReads(const Tensor& tensor);

  // Sums the partial results of all GPUs on each of them. Does nothing with one GPU.
  [[nodiscard]] Tensor AllReduce(const Tensor& partial);

  // Records an assumption, once.
  void Assume(const Note& note);

  // Closes the model and adds everything up.
  void Finish(const Tensor& output);
  // Moves the result out. Precondition: Finish.
  void Take(Description& description);

 private:
  Tensor Dropped(const Tensor& x);
  void Open(std::string name, std::string_view type, Level level,
            std::initializer_list<Tensor> inputs);
  Tensor Close(const Tensor& output);
  Tensor Gather(const Tensor& ids, int64_t rows, int64_t width, bool tied);
  uint32_t AddShapes(std::initializer_list<Tensor> tensors);
  // Work that every GPU does in full counts once per GPU.
  double Copies(bool split) const { return split ? 1 : static_cast<double>(pass_.gpus); }
  void ShareTable(uint64_t parameters);
  // The table of the open node, `rows` x `width`, which other nodes may share.
  void AddSharedTable(int64_t rows, int64_t width);
  void CountTiedOnce();

  Pass pass_;
  double activation_width_;
  double weight_width_;
  double runs_ = 1;
  ModelTree tree_;
  std::vector<DescribedNode> nodes_;
  std::vector<Shape> shapes_;
  std::vector<Flow> flows_;
  std::vector<NodeId> open_;
  std::vector<Shape> weights_;
  std::map<NodeId, NodeId> dropped_;  // operations, and those that drop a part of their results
  std::vector<NodeId> tied_;          // nodes that share one table
  uint64_t tied_parameters_ = 0;
  bool has_shared_table_ = false;
  std::vector<Note> notes_;
};

}  // namespace beryl::models
