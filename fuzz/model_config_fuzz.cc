// A config.json of anybody's: refused with a reason, or a tree whose numbers are finite and add up.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/models.h"
#include "require.h"

using beryl::fuzz::Require;

namespace {

void CheckTree(const beryl::Description& description) {
  const auto& nodes = description.tree.nodes;
  Require(nodes.size() == description.nodes.size() && !nodes.empty(), "every node is described");
  double leaves = 0;
  for (size_t node = 0; node < nodes.size(); ++node) {
    const beryl::DescribedNode& of = description.nodes[node];
    Require(std::isfinite(of.work.flops) && of.work.flops >= 0, "operations are a number");
    Require(std::isfinite(of.work.Bytes()) && of.work.Bytes() >= 0, "bytes are a number");
    Require(of.first_shape + of.input_count + of.output_count <= description.shapes.size(),
            "shapes are there");
    Require(nodes[node].end > node && nodes[node].end <= nodes.size(),
            "a subtree ends in the tree");
    if (nodes[node].end == node + 1) leaves += of.work.flops;
  }
  const double whole = description.nodes[0].work.flops;
  Require(std::abs(leaves - whole) <= 1e-6 * whole, "the parts are the whole");
}

// Thousands of layers are sound but slow: sizes of more than three digits, or
// with exponents, are left out.
bool IsLarge(const std::string& text) {
  size_t digits = 0;
  for (const char c : text) {
    if (digits > 0 && (c == 'e' || c == 'E')) return true;
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 4) return 0;
  beryl::models::DescribeOptions options;
  options.input.batch = 1 + bytes[0] % 9;
  options.input.gpus = 1 + bytes[1] % 4;
  const int64_t tokens = bytes[2] % 40;
  if (bytes[1] % 8 < 4) {
    options.input.seq = tokens;
  } else {
    options.input.prompt = tokens;
    options.input.generate = bytes[1] / 8;
  }
  options.dtype = static_cast<beryl::Dtype>(bytes[3] % 5);
  options.attention = static_cast<beryl::AttentionKind>(bytes[3] / 8 % 3);
  options.head = static_cast<beryl::models::HeadChoice>(bytes[3] / 64 % 3);
  const std::string text(reinterpret_cast<const char*>(bytes) + 4, size - 4);
  if (IsLarge(text)) return 0;
  const auto description = beryl::models::Describe({"fuzz", text}, options);
  if (!description) {
    Require(!description.error().message.empty(), "an error says why");
    return 0;
  }
  CheckTree(*description);
  return 0;
}
