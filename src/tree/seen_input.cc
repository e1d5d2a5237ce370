// Derives a model's input from the shapes of the operations in its run.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "tree/seen_shapes.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

// The operation that looks up rows of a table. Its inputs are the table and the row indices.
constexpr std::string_view kLookUp = "aten::embedding";

bool IsConvolution(std::string_view type) {
  return type == "aten::conv2d" || type == "aten::convolution" || type == "aten::_convolution";
}

// How many keys a single token attended to in this operation.
std::optional<int64_t> KeysOfOneToken(std::string_view type,
                                      const std::vector<TensorShape>& shapes) {
  const auto has_rank_4 = [&](size_t input) {
    return input < shapes.size() && shapes[input].size() == 4;
  };
  if (!has_rank_4(0) || shapes[0][2] != 1) return std::nullopt;
  if (type == "aten::scaled_dot_product_attention" && has_rank_4(1)) return shapes[1][2];
  if (type == "aten::softmax" || type == "aten::_softmax") return shapes[0][3];
  return std::nullopt;
}

std::optional<Dtype> DtypeOf(std::string_view text) {
  constexpr std::string_view kNamespace = "c10::";
  if (text.starts_with(kNamespace)) text.remove_prefix(kNamespace.size());
  if (text == "float") return Dtype::kFloat32;
  if (text == "Half") return Dtype::kFloat16;
  if (text == "BFloat16") return Dtype::kBfloat16;
  return std::nullopt;
}

// The place of an input: the first one inside the same two modules. A module may be called from
// inside of the model and from outside.
class Places {
 public:
  explicit Places(const ModelTree& tree) : tree_(tree) {}

  NodeId Of(NodeId operation) {
    NodeId module = operation;
    while (module != 0 && !IsModule(tree_[module].level)) module = tree_[module].parent;
    const NodeId around = tree_[module].parent;
    if (!IsNumberedByClass(tree_[module]) || !IsNumberedByClass(tree_[around])) return operation;
    return first_.try_emplace({tree_[around].name, tree_[module].name}, module).first->second;
  }

 private:
  const ModelTree& tree_;
  std::map<std::pair<std::string_view, std::string_view>, NodeId> first_;
};

using Sizes = std::vector<SeenInput::Size>;

// The sizes of these kinds of operations in the order of their calls.
Sizes InOrder(const OpTrace& trace, const std::map<uint32_t, SeenInput::Size>& kinds) {
  struct Call {
    uint16_t rank;
    uint32_t lane;
    Nanos start;
    uint32_t kind;
  };
  std::vector<bool> wanted(trace.kinds.size(), false);
  for (const auto& [kind, size] : kinds) wanted[kind] = true;
  std::vector<Call> calls;
  if (!kinds.empty()) {
    trace.ForEachSpan([&](std::span<const Op> ops) {
      for (const Op& op : ops) {
        if (wanted[op.kind]) {
          calls.push_back({trace.kinds[op.kind].rank, op.lane, op.start, op.kind});
        }
      }
    });
  }
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return std::tie(a.rank, a.lane, a.start) < std::tie(b.rank, b.lane, b.start);
  });
  Sizes sizes;
  for (const Call& call : calls) {
    SeenInput::Size size = kinds.at(call.kind);
    size.count = sizes.empty() ? 0 : sizes.back().count;
    if (!sizes.empty() && sizes.back() == size) {
      ++sizes.back().count;
    } else {
      size.count = 1;
      sizes.push_back(size);
    }
  }
  return sizes;
}

}  // namespace

std::vector<TensorShape> ReadShapes(std::string_view text) {
  std::vector<TensorShape> shapes;
  TensorShape* open = nullptr;
  int depth = 0;
  bool in_number = false;
  for (const char c : text) {
    if (c == '[') {
      ++depth;
      // A list of tensors in place of one counts as no tensor.
      open = depth == 2 ? &shapes.emplace_back() : nullptr;
    } else if (c == ']') {
      --depth;
      open = nullptr;
    }
    const bool digit = c >= '0' && c <= '9';
    if (digit && open != nullptr) {
      if (!in_number) open->push_back(0);
      constexpr int64_t kLargest = int64_t{1} << 50;
      open->back() = std::min(kLargest, open->back() * 10 + (c - '0'));
    }
    in_number = digit;
  }
  return shapes;
}

SeenInput SeeInput(const OpTrace& trace, const TraceTree& built, int64_t vocabulary,
                   const std::vector<bool>& within) {
  SeenInput seen;
  std::vector<bool> inside(built.tree.size(), true);
  for (NodeId node = 0; node < within.size(); ++node) {
    inside[node] = within[node] || (node > 0 && inside[built.tree[node].parent]);
  }
  const std::vector<uint64_t> counts = trace.CountKinds();
  Places places(built.tree);
  std::map<uint32_t, SeenInput::Size> look_ups;
  std::map<uint32_t, SeenInput::Size> convolutions;
  int64_t largest_table = 0;
  int64_t words = 0;
  std::map<int64_t, bool> only_last;  // by width of the output of linear layers
  double single_tokens = 0;
  double keys = 0;
  std::map<Dtype, uint64_t> dtypes;
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const OpKind& of = trace.kinds[kind];
    const NodeId node = built.node_of_kind[kind];
    if (!inside[node]) continue;
    const std::string_view type = trace.strings.Text(of.type);
    if (type.find("flash_attn") != std::string_view::npos) {
      seen.attention = AttentionKind::kFlash;
    } else if (type.find("scaled_dot_product") != std::string_view::npos && !seen.attention) {
      seen.attention = AttentionKind::kSdpa;
    }
    if (of.phase != Phase::kForward) continue;
    if (const auto dtype = DtypeOf(trace.strings.Text(of.dtype))) dtypes[*dtype] += counts[kind];
    if (of.shapes == 0) continue;
    const std::vector<TensorShape> shapes = ReadShapes(trace.strings.Text(of.shapes));
    if (const auto attended = KeysOfOneToken(type, shapes)) {
      single_tokens += static_cast<double>(counts[kind]);
      keys += static_cast<double>(counts[kind]) * static_cast<double>(*attended);
    }
    // A convolution calls others to do its work.
    if (IsConvolution(type) && !IsConvolution(built.tree[built.tree[node].parent].type) &&
        !shapes.empty() && shapes[0].size() == 4 && shapes[0][1] <= 4) {
      convolutions[kind] = {shapes[0][0], shapes[0][2], 0, places.Of(node)};
    }
    if (type == "aten::linear" && shapes.size() > 1 && shapes[0].size() == 3 &&
        shapes[1].size() == 2) {
      bool& last = only_last.try_emplace(shapes[1][0], true).first->second;
      last = last && shapes[0][1] == 1;
    }
    if (type != kLookUp || shapes.size() < 2 || shapes[0].size() != 2 || shapes[1].size() != 2) {
      continue;
    }
    if (vocabulary > 0 && shapes[0][0] != vocabulary) continue;
    const int64_t table = shapes[0][0] * shapes[0][1];
    if (table > largest_table) look_ups.clear();
    largest_table = std::max(largest_table, table);
    if (table == largest_table) {
      words = shapes[0][0];
      look_ups[kind] = {shapes[1][0], shapes[1][1], 0, places.Of(node)};
    }
  }
  seen.tokens = InOrder(trace, look_ups);
  seen.images = InOrder(trace, convolutions);
  if (const auto head = only_last.find(words); head != only_last.end()) {
    seen.only_last_tokens = head->second;
  }
  if (single_tokens > 0) seen.keys = keys / single_tokens;
  const auto most =
      std::max_element(dtypes.begin(), dtypes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != dtypes.end()) seen.dtype = most->first;
  // Explicit attention scores go through a softmax of their own.
  if (!seen.attention && !seen.tokens.empty()) seen.attention = AttentionKind::kEager;
  return seen;
}

}  // namespace beryl::tree
