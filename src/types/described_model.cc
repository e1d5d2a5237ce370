#include "types/described_model.h"

namespace beryl {

std::string_view DeviceKindName(DeviceKind kind) {
  static constexpr std::array<std::string_view, kDeviceKindCount> kNames = {
      "matmul", "batched-matmul", "norm", "gather", "softmax", "elementwise", "broadcast", "copy"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view HostKindName(HostKind kind) {
  static constexpr std::array<std::string_view, kHostKindCount> kNames = {
      "matmul", "batched-matmul", "norm", "gather", "softmax", "elementwise", "view", "call"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace beryl
