// What went into a model, told by the shapes of what its run worked on.
#include <algorithm>
#include <span>
#include <string_view>

#include "tree/seen_shapes.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

// Whether an operation looks up rows of a table: aten::embedding's inputs are the table and which
// rows.
constexpr std::string_view kLookUp = "aten::embedding";

bool IsConvolution(std::string_view type) {
  return type == "aten::conv2d" || type == "aten::convolution" || type == "aten::_convolution";
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
      // A list of tensors in the place of one is none.
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

std::vector<uint64_t> CountKinds(const OpTrace& trace) {
  std::vector<uint64_t> counts(trace.kinds.size(), 0);
  trace.ForEachSpan([&](std::span<const Op> some) {
    for (const Op& op : some) ++counts[op.kind];
  });
  return counts;
}

SeenInput SeeInput(const OpTrace& trace, int64_t vocabulary) {
  SeenInput seen;
  const std::vector<uint64_t> counts = CountKinds(trace);
  int64_t largest_table = 0;
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const OpKind& of = trace.kinds[kind];
    const std::string_view type = trace.strings.Text(of.type);
    if (type.find("flash_attn") != std::string_view::npos) {
      seen.attention = AttentionKind::kFlash;
    } else if (type.find("scaled_dot_product") != std::string_view::npos && !seen.attention) {
      seen.attention = AttentionKind::kSdpa;
    }
    if (of.phase != Phase::kForward || of.shapes == 0) continue;
    const std::vector<TensorShape> shapes = ReadShapes(trace.strings.Text(of.shapes));
    if (IsConvolution(type) && !shapes.empty() && shapes[0].size() == 4 && shapes[0][1] <= 4) {
      seen.images.push_back({shapes[0][0], shapes[0][2], counts[kind]});
    }
    if (type != kLookUp || shapes.size() < 2 || shapes[0].size() != 2 || shapes[1].size() != 2) {
      continue;
    }
    if (vocabulary > 0 && shapes[0][0] != vocabulary) continue;
    const int64_t table = shapes[0][0] * shapes[0][1];
    if (table > largest_table) seen.tokens.clear();
    largest_table = std::max(largest_table, table);
    if (table == largest_table) {
      seen.tokens.push_back({shapes[1][0], shapes[1][1], counts[kind]});
    }
  }
  // Where scores are written out, they go through a softmax of their own.
  if (!seen.attention && !seen.tokens.empty()) seen.attention = AttentionKind::kEager;
  return seen;
}

}  // namespace beryl::tree
