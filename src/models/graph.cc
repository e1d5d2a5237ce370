#include "models/graph.h"

#include <algorithm>
#include <utility>

#include "models/activations.h"

namespace beryl::models {
namespace {

Shape ShapeOf(std::initializer_list<int64_t> dims) {
  Shape shape;
  for (const int64_t dim : dims) shape.dims[shape.rank++] = dim;
  return shape;
}

}  // namespace

double Tensor::Elements() const {
  double elements = 1;
  for (uint8_t i = 0; i < shape.rank; ++i) elements *= static_cast<double>(shape.dims[i]);
  return elements;
}

Tensor Tensor::WithLast(int64_t size) const {
  Tensor other = *this;
  other.shape.dims[shape.rank - size_t{1}] = size;
  return other;
}

Tensor Tensor::Of(const Tensor& whole) const {
  Tensor view = *this;
  view.made_by = whole.made_by;
  return view;
}

Graph::Graph(const Pass& pass, std::string name, std::string_view type)
    : pass_(pass),
      activation_width_(ActivationWidth(pass.dtype)),
      weight_width_(WeightWidth(pass.dtype)) {
  Open(std::move(name), type, Level::kModel, {});
}

Tensor Graph::Activation(std::initializer_list<int64_t> dims) const {
  return {ShapeOf(dims), activation_width_, false};
}

Tensor Graph::Ids(std::initializer_list<int64_t> dims) const { return {ShapeOf(dims), 8, false}; }

void Graph::Open(std::string name, std::string_view type, Level level,
                 std::initializer_list<Tensor> inputs) {
  const auto id = static_cast<NodeId>(tree_.nodes.size());
  TreeNode& node = tree_.nodes.emplace_back();
  DescribedNode& described = nodes_.emplace_back();
  node.level = level;
  node.type = type;
  if (!open_.empty()) {
    const DescribedNode& parent = nodes_[open_.back()];
    node.parent = open_.back();
    node.depth = static_cast<uint16_t>(open_.size());
    // A node without a name has the scope of its module.
    if (!name.empty()) described.scope.reserve(parent.scope.size() + 1 + name.size());
    described.scope = parent.scope;
    if (!name.empty()) {
      if (!described.scope.empty()) described.scope += '.';
      described.scope += name;
    }
  }
  node.name = name.empty() ? std::string(type) : std::move(name);
  described.phase = pass_.phase;
  described.runs = runs_;
  described.first_shape = AddShapes(inputs);
  described.input_count = static_cast<uint8_t>(inputs.size());
  open_.push_back(id);
}

Tensor Graph::Close(const Tensor& output) {
  const NodeId id = open_.back();
  open_.pop_back();
  tree_.nodes[id].end = static_cast<NodeId>(tree_.nodes.size());
  // If shapes of inner nodes were added in between, the inputs are moved next to the output.
  DescribedNode& node = nodes_[id];
  const uint32_t first = node.first_shape;
  if (first + node.input_count < shapes_.size()) {
    node.first_shape = static_cast<uint32_t>(shapes_.size());
    for (uint32_t i = 0; i < node.input_count; ++i) {
      const Shape shape = shapes_[first + i];
      shapes_.push_back(shape);
    }
  }
  shapes_.push_back(output.shape);
  node.output_count = 1;
  return output;
}

uint32_t Graph::AddShapes(std::initializer_list<Tensor> tensors) {
  const auto first = static_cast<uint32_t>(shapes_.size());
  for (const Tensor& tensor : tensors) shapes_.push_back(tensor.shape);
  return first;
}

Tensor Graph::Math(std::string_view name, MathKind kind, std::initializer_list<Tensor> inputs,
                   const Tensor& output, const Work& work, bool split) {
  Open({}, name, Level::kMath, inputs);
  DescribedNode& node = nodes_[open_.back()];
  node.kind = kind;
  node.split = split && pass_.gpus > 1;
  node.work = work * runs_;
  Tensor made = Close(output);
  made.made_by = static_cast<NodeId>(nodes_.size() - 1);
  if (kind == MathKind::kView) return made;
  for (const Tensor& input : inputs) AlsoReads(input);
  return made;
}

void Graph::AlsoReads(const Tensor& tensor) {
  if (tensor.made_by == kNoNode) return;
  const auto dropped = dropped_.find(tensor.made_by);
  const NodeId from = dropped == dropped_.end() ? tensor.made_by : dropped->second;
  const Flow flow = {from, static_cast<NodeId>(nodes_.size() - 1)};
  if (flows_.empty() || flows_.back() < flow) {
    flows_.push_back(flow);
    return;
  }
  // Operations come in order, so only the few inputs of this one can be out of order.
  const auto at = std::lower_bound(flows_.begin(), flows_.end(), flow);
  if (*at != flow) flows_.insert(at, flow);
}

void Graph::Views(int count, const Tensor& x) {
  Repeat(count, [&] { std::ignore = Math("view", MathKind::kView, {x}, x, {}, x.split); });
}

Tensor Graph::Elementwise(std::string_view name, std::initializer_list<Tensor> inputs,
                          const Tensor& output, double flops_an_element) {
  Work work;
  work.flops = flops_an_element * output.Elements();
  for (const Tensor& input : inputs) work.bytes_read += input.Bytes();
  work.bytes_written = output.Bytes();
  return Math(name, MathKind::kElementwise, inputs, output, work * Copies(output.split),
              output.split);
}

Tensor Graph::CopyTo(std::string_view name, const Tensor& x, const Tensor& output) {
  Work work;
  work.bytes_read = x.Bytes();
  work.bytes_written = output.Bytes();
  return Math(name, MathKind::kCopy, {x}, output, work * Copies(output.split), output.split);
}

Tensor Graph::AllReduce(const Tensor& partial) {
  if (pass_.gpus == 1) return partial;
  // A ring: each GPU sends its share around twice, minus one step.
  const auto gpus = static_cast<double>(pass_.gpus);
  Work work;
  work.bytes_sent = 2 * (gpus - 1) * partial.Bytes();
  work.flops = (gpus - 1) * partial.Elements();
  work.bytes_read = work.bytes_sent;
  work.bytes_written = work.bytes_sent;
  return Math("all_reduce", MathKind::kSend, {partial}, partial, work, true);
}

Tensor Graph::Linear(std::string name, const Tensor& x, int64_t out, const LinearOptions& options) {
  const int64_t in = x.Last();
  const auto weights = static_cast<double>(in) * static_cast<double>(out);
  Tensor y = x.WithLast(out);
  y.width = activation_width_;
  y.split = pass_.gpus > 1 && options.split == Split::kColumns;
  Open(std::move(name), options.type, Level::kMl, {x});
  if (options.counted && options.tied) AddSharedTable(out, in);
  if (options.counted && !options.tied) AddWeight({out, in});
  if (options.counted && options.bias) AddWeight({out});
  const bool split = pass_.gpus > 1 && options.split != Split::kNone;
  const auto gpus = static_cast<double>(pass_.gpus);
  Work work;
  work.matmul_flops = 2 * x.Elements() * static_cast<double>(out);
  work.flops = work.matmul_flops + (options.bias ? y.Elements() : 0);
  // Word tables keep the width of the values looked up in them.
  const double width = options.tied ? activation_width_ : weight_width_;
  work.bytes_read = weights * width + (options.bias ? double(out) * activation_width_ : 0);
  if (options.split == Split::kNone) work = work * gpus;
  work.bytes_read += x.Bytes() * Copies(options.split == Split::kRows);
  work.bytes_written = y.Bytes() * Copies(options.split == Split::kColumns);
  y = Math(options.bias ? "addmm" : "mm", MathKind::kMatmul, {x}, y, work, split);
  if (options.split == Split::kRows) y = AllReduce(y);
  return Close(y);
}

Tensor Graph::Gather(const Tensor& ids, int64_t rows, int64_t width, bool tied) {
  Tensor y = ids;
  y.shape.dims[y.shape.rank++] = width;
  y.width = activation_width_;
  if (tied) AddSharedTable(rows, width);
  if (!tied) AddWeight({rows, width});
  Work work;
  work.bytes_read = ids.Bytes() + y.Bytes();
  work.bytes_written = y.Bytes();
  return Math("embedding", MathKind::kGather, {ids}, y, work * Copies(false), false);
}

Tensor Graph::Embedding(std::string name, const Tensor& ids, int64_t rows, int64_t width,
                        std::string_view type) {
  return Primitive(std::move(name), type, ids, 0, [&] { return Gather(ids, rows, width, false); });
}

Tensor Graph::WordEmbedding(std::string name, const Tensor& ids, int64_t rows, int64_t width) {
  return Primitive(std::move(name), "Embedding", ids, 0,
                   [&] { return Gather(ids, rows, width, true); });
}

Tensor Graph::ScaledEmbedding(std::string name, std::string_view type, const Tensor& ids,
                              int64_t rows, int64_t width, bool tied) {
  return Primitive(std::move(name), type, ids, 0,
                   [&] { return Scale(Gather(ids, rows, width, tied)); });
}

void Graph::Unused(std::string name, std::string_view type, uint64_t parameters, bool tied) {
  Open(std::move(name), type, Level::kMl, {});
  if (tied) ShareTable(parameters);
  if (!tied) AddParameters(parameters);
  nodes_[open_.back()].runs = 0;
  const NodeId id = open_.back();
  open_.pop_back();
  tree_.nodes[id].end = static_cast<NodeId>(tree_.nodes.size());
}

Tensor Graph::LayerNorm(std::string name, const Tensor& x) {
  const auto width = static_cast<uint64_t>(x.Last());
  return Primitive(std::move(name), "LayerNorm", x, 0, [&] {
    AddWeight({x.Last()});
    AddWeight({x.Last()});
    Work work;
    work.flops = 8 * x.Elements();
    work.bytes_read = x.Bytes() + 2 * static_cast<double>(width) * activation_width_;
    work.bytes_written = x.Bytes();
    return Math("layer_norm", MathKind::kNorm, {x}, x, work * Copies(x.split), x.split);
  });
}

Tensor Graph::RmsNorm(std::string name, std::string_view type, const Tensor& x, bool shifted) {
  const auto width = static_cast<uint64_t>(x.Last());
  return Primitive(std::move(name), type, x, width, [&] {
    // In float32, whatever the model's type.
    Tensor wide = x;
    wide.width = 4;
    Tensor row = wide.WithLast(1);
    Tensor weight = Activation({x.Last()});
    if (x.width < 4) wide = CopyTo("to", x, wide);
    const Tensor squares = Elementwise("pow", {wide}, wide);
    Work mean;
    mean.flops = wide.Elements();
    mean.bytes_read = wide.Bytes();
    mean.bytes_written = row.Bytes();
    row = Math("mean", MathKind::kReduce, {squares}, row, mean * Copies(x.split), x.split);
    row = Elementwise("add", {row}, row);
    row = Elementwise("rsqrt", {row}, row, 2);
    wide = Elementwise("mul", {wide, row}, wide);
    const Tensor even = x.width < 4 ? CopyTo("to", wide, x) : wide;
    if (shifted) weight = Elementwise("add", {weight}, weight);
    return Elementwise("mul", {even, weight}, x);
  });
}

Tensor Graph::Conv2d(std::string name, const Tensor& image, int64_t out_channels,
                     int64_t patch_height, int64_t patch_width) {
  const int64_t channels = image.shape.dims[1];
  const int64_t height = image.shape.dims[2] / patch_height;
  const int64_t width = image.shape.dims[3] / patch_width;
  const Tensor y = Activation({image.shape.dims[0], out_channels, height, width});
  const double kernel =
      static_cast<double>(channels * patch_height) * static_cast<double>(patch_width);
  const auto parameters = static_cast<uint64_t>(kernel) * static_cast<uint64_t>(out_channels) +
                          static_cast<uint64_t>(out_channels);
  return Primitive(std::move(name), "Conv2d", image, 0, [&] {
    AddWeight({out_channels, channels, patch_height, patch_width});
    AddWeight({out_channels});
    Work work;
    work.matmul_flops = 2 * y.Elements() * kernel;
    work.flops = work.matmul_flops + y.Elements();
    work.bytes_read = image.Bytes() + static_cast<double>(parameters) * activation_width_;
    work.bytes_written = y.Bytes();
    return Math("convolution", MathKind::kConvolution, {image}, y, work * Copies(false), false);
  });
}

Tensor Graph::Act(std::string_view activation, const Tensor& x) {
  const ActivationFunction* found = FindActivation(activation);
  if (found == nullptr) return x;
  std::vector<Tensor> made = {x};
  for (const ActivationOperation& operation : found->operations) {
    const Tensor& first = made[operation.reads];
    made.push_back(
        operation.reads_too
            ? Elementwise(operation.name, {first, made[*operation.reads_too]}, x, operation.flops)
            : Elementwise(operation.name, {first}, x, operation.flops));
  }
  return made.back();
}

Tensor Graph::Act(std::string name, std::string_view activation, const Tensor& x) {
  const ActivationFunction* found = FindActivation(activation);
  return Primitive(std::move(name), found == nullptr ? activation : found->type, x, 0,
                   [&] { return Act(activation, x); });
}

Tensor Graph::Tanh(std::string name, const Tensor& x) {
  return Primitive(std::move(name), "Tanh", x, 0, [&] { return Elementwise("tanh", {x}, x, 4); });
}

void Graph::Dropout(std::string name, const Tensor& x) {
  std::ignore = Primitive(std::move(name), "Dropout", x, 0, [&] { return Drop(x); });
}

void Graph::AttentionDropout(std::string name, const Tensor& x) {
  std::ignore = Primitive(std::move(name), "Dropout", x, 0, [&] { return x; });
}

Tensor Graph::Dropped(const Tensor& x) {
  Tensor kept = x.Of({});
  kept.width = 1;
  kept = Elementwise("bernoulli", {}, kept);
  const Tensor y = Elementwise("mul", {x, kept}, x);
  if (x.made_by != kNoNode) dropped_[x.made_by] = y.made_by;
  return y;
}

Tensor Graph::Loss(const Tensor& logits) {
  return Primitive("loss", "CrossEntropyLoss", logits, 0, [&] {
    // In float32, whatever the model's type.
    Tensor wide = logits;
    wide.width = 4;
    if (logits.width < 4) wide = CopyTo("to", logits, wide);
    Work work;
    work.flops = 5 * wide.Elements();
    work.bytes_read = work.bytes_written = wide.Bytes();
    wide = Math("log_softmax", MathKind::kSoftmax, {wide}, wide, work, false);
    const Tensor rows = wide.WithLast(1);
    Tensor loss = rows;
    loss.shape = ShapeOf({1});
    Work reduce;
    reduce.flops = rows.Elements();
    reduce.bytes_read = 3 * rows.Elements() * 4;  // the chosen numbers, and 64-bit labels
    reduce.bytes_written = loss.Bytes();
    return Math("nll_loss", MathKind::kReduce, {wide}, loss, reduce, false);
  });
}

Tensor Graph::MatMul(double batch, int64_t m, int64_t k, int64_t n, const Tensor& left,
                     const Tensor& right, const Tensor& output) {
  Open({}, "MatMul", Level::kMl, {left, right});
  Work work;
  work.matmul_flops =
      2 * batch * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  work.flops = work.matmul_flops;
  work.bytes_read = left.Bytes() + right.Bytes();
  work.bytes_written = output.Bytes();
  return Close(Math("bmm", MathKind::kBatchedMatmul, {left, right}, output,
                    work * Copies(output.split), output.split));
}

Tensor Graph::Softmax(const Tensor& x) {
  return Primitive({}, "Softmax", x, 0, [&] {
    Work work;
    work.flops = 5 * x.Elements();
    work.bytes_read = x.Bytes();
    work.bytes_written = x.Bytes();
    return Math("softmax", MathKind::kSoftmax, {x}, x, work * Copies(x.split), x.split);
  });
}

void Graph::AddWeight(std::initializer_list<int64_t> dims) {
  const Shape shape = ShapeOf(dims);
  if (shape.Elements() == 0) return;
  nodes_[open_.back()].parameters += static_cast<uint64_t>(shape.Elements());
  weights_.push_back(shape);
}

void Graph::ShareTable(uint64_t parameters) {
  nodes_[open_.back()].parameters += parameters;
  tied_.push_back(open_.back());
  tied_parameters_ = parameters;
}

void Graph::AddSharedTable(int64_t rows, int64_t width) {
  const Shape table = ShapeOf({rows, width});
  ShareTable(static_cast<uint64_t>(table.Elements()));
  if (!std::exchange(has_shared_table_, true)) weights_.push_back(table);
}

void Graph::CountTiedOnce() {
  if (tied_.size() < 2) return;
  std::vector<uint32_t> below(nodes_.size());
  for (const NodeId tied : tied_) {
    for (NodeId node = tied;; node = tree_.nodes[node].parent) {
      ++below[node];
      if (node == 0) break;
    }
  }
  for (NodeId node = 0; node < nodes_.size(); ++node) {
    if (below[node] > 1) nodes_[node].parameters -= (below[node] - 1) * tied_parameters_;
  }
}

void Graph::Assume(const Note& note) {
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

void Graph::Finish(const Tensor& output) {
  // The model's input is the input of its first module.
  for (NodeId node = 1; node < nodes_.size(); node = tree_.nodes[node].end) {
    if (nodes_[node].input_count == 0 || tree_.nodes[node].level == Level::kMath) continue;
    nodes_[0].first_shape = nodes_[node].first_shape;
    nodes_[0].input_count = 1;
    break;
  }
  Close(output);
  for (NodeId node = static_cast<NodeId>(nodes_.size()); node-- > 1;) {
    DescribedNode& parent = nodes_[tree_.nodes[node].parent];
    parent.work += nodes_[node].work;
    parent.parameters += nodes_[node].parameters;
    parent.split = parent.split || nodes_[node].split;
  }
  CountTiedOnce();
}

void Graph::Take(Description& description) {
  description.tree = std::move(tree_);
  description.nodes = std::move(nodes_);
  description.shapes = std::move(shapes_);
  description.weights = std::move(weights_);
  description.flows = std::move(flows_);
  description.notes = std::move(notes_);
}

}  // namespace beryl::models
