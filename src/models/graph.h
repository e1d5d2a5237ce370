// Graph: what a family file writes a model into. Modules open and close around what is inside them;
// primitives and math operations count their own work; numbers are added up at the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "types/description.h"
#include "types/note.h"

namespace beryl::models {

// A tensor that flows: its shape, how wide an element is, and where it comes from.
struct Tensor {
  Shape shape;
  double width = 4;          // bytes an element
  bool split = false;        // over the GPUs: each holds its part
  NodeId made_by = kNoNode;  // the math operation; kNoNode: it comes from outside of the pass

  double Elements() const;
  double Bytes() const { return Elements() * width; }
  int64_t Last() const { return shape.dims[shape.rank - size_t{1}]; }
  // The same with another last dimension.
  Tensor WithLast(int64_t size) const;
  // This shape, and what `whole` is: a part of it, or another view of it.
  Tensor Of(const Tensor& whole) const;
};

// What one pass is asked for.
struct Pass {
  RunPhase phase = RunPhase::kForward;
  int64_t batch = 1;
  int64_t tokens = 1;          // of each sequence that go in
  int64_t cached = 0;          // of each sequence that went in before
  int64_t encoded = 0;         // encoder-decoder models: tokens of the encoder
  int64_t decoder_tokens = 0;  // and of the decoder
  int64_t image_size = 0;      // 0: as configured
  bool run_encoder = true;     // false: its output, and what attends to it, is in the cache
  // Parts that the model has: a head may go without one.
  bool pooler = true;
  bool encoder = true;
  bool decoder = true;
  Dtype dtype = Dtype::kFloat32;
  AttentionKind attention = AttentionKind::kEager;
  int64_t gpus = 1;
};

// How a matrix of weights lies on several GPUs: by its columns (what comes out is split), or by its
// rows (what goes in is split, what comes out is added up over all of them).
enum class Split : uint8_t { kNone, kColumns, kRows };

struct LinearOptions {
  bool bias = true;
  Split split = Split::kNone;
  std::string_view type = "Linear";
  bool tied = false;    // its matrix is the table of words
  bool counted = true;  // false: the parameters are told elsewhere
};

// What an operation gives has to flow on: results are what the next operation is given.
class Graph {
 public:
  Graph(const Pass& pass, std::string name, std::string_view type);

  const Pass& pass() const { return pass_; }
  double activation_width() const { return activation_width_; }
  double weight_width() const { return weight_width_; }  // of matrices
  Tensor Activation(std::initializer_list<int64_t> dims) const;
  Tensor Ids(std::initializer_list<int64_t> dims) const;  // 64-bit integers

  // A module: `body` builds what is inside and returns what comes out.
  template <typename Body>
  [[nodiscard]] Tensor Module(std::string name, std::string_view type, const Tensor& input,
                              Body&& body) {
    Open(std::move(name), type, Level::kModule, {input});
    const Tensor output = body();
    return Close(output);
  }
  // Everything that `body` builds runs `times` times; what it needs is stored once.
  template <typename Body>
  void Repeat(double times, Body&& body) {
    const double before = runs_;
    runs_ *= times;
    body();
    runs_ = before;
  }

  // --- ML primitives. Names are their scopes below the module; of operations that are no module of
  // their own (MatMul, Softmax) only the type is known.
  [[nodiscard]] Tensor Linear(std::string name, const Tensor& x, int64_t out,
                              const LinearOptions& options = {});
  [[nodiscard]] Tensor Embedding(std::string name, const Tensor& ids, int64_t rows, int64_t width,
                                 std::string_view type = "Embedding");
  // Of words: its table may be shared by others of the model, and is stored once.
  [[nodiscard]] Tensor WordEmbedding(std::string name, const Tensor& ids, int64_t rows,
                                     int64_t width);
  // The same, and what comes out multiplied by a number. `tied`: the table may be shared.
  [[nodiscard]] Tensor ScaledEmbedding(std::string name, std::string_view type, const Tensor& ids,
                                       int64_t rows, int64_t width, bool tied);
  [[nodiscard]] Tensor LayerNorm(std::string name, const Tensor& x);
  // `shifted`: the weight has 1 added to it on each run, as Gemma's.
  [[nodiscard]] Tensor RmsNorm(std::string name, std::string_view type, const Tensor& x,
                               bool shifted = false);
  [[nodiscard]] Tensor Conv2d(std::string name, const Tensor& image, int64_t out_channels,
                              int64_t patch_height, int64_t patch_width);
  // By its name in the configuration ("gelu_new"), as a module, and as a mere function.
  [[nodiscard]] Tensor Act(std::string name, std::string_view activation, const Tensor& x);
  [[nodiscard]] Tensor Act(std::string_view activation, const Tensor& x);
  [[nodiscard]] Tensor Tanh(std::string name, const Tensor& x);
  void Dropout(std::string name, const Tensor& x);  // does nothing when a model is used
  // [batch, m, k] x [batch, k, n].
  [[nodiscard]] Tensor MatMul(double batch, int64_t m, int64_t k, int64_t n, const Tensor& left,
                              const Tensor& right, const Tensor& output);
  [[nodiscard]] Tensor Softmax(const Tensor& x);
  // A primitive that is made of several operations, built by `body`.
  template <typename Body>
  [[nodiscard]] Tensor Primitive(std::string name, std::string_view type, const Tensor& input,
                                 uint64_t parameters, Body&& body) {
    Open(std::move(name), type, Level::kMl, {input});
    AddParameters(parameters);
    const Tensor output = body();
    return Close(output);
  }
  void AddParameters(uint64_t parameters) { nodes_[open_.back()].parameters += parameters; }
  // A module that is there but never run.
  void Unused(std::string name, std::string_view type, uint64_t parameters, bool tied = false);

  // --- Math operations.
  // Looking at tensors in another way, so many times: nothing but the host's time.
  void Views(int count, const Tensor& x);
  // As large as `output`, reading `inputs` once each.
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

  // The last operation reads this too, though its shapes do not show it.
  void AlsoReads(const Tensor& tensor);

  // Adds up what every GPU has a part of, on all of them. With one, nothing.
  [[nodiscard]] Tensor AllReduce(const Tensor& partial);

  // Something that was taken for granted, said once: a sentence.
  void Assume(const Note& note);

  // Closes the model. Adds everything up.
  void Finish(const Tensor& output);
  // Moves the result out. Precondition: Finish.
  void Take(Description& description);

 private:
  void Open(std::string name, std::string_view type, Level level,
            std::initializer_list<Tensor> inputs);
  Tensor Close(const Tensor& output);
  Tensor Gather(const Tensor& ids, int64_t rows, int64_t width, bool tied);
  uint32_t AddShapes(std::initializer_list<Tensor> tensors);
  // Work that every GPU does by itself counts for each.
  double Copies(bool split) const { return split ? 1 : static_cast<double>(pass_.gpus); }
  void ShareTable(uint64_t parameters);
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
  std::vector<NodeId> tied_;  // nodes whose table is one and the same
  uint64_t tied_parameters_ = 0;
  std::vector<Note> notes_;
};

}  // namespace beryl::models
