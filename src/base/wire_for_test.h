// Hand-written protobuf messages, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/wire_writer.h"

namespace beryl {

inline std::string WireVarint(uint64_t number) {
  std::string bytes;
  PutVarint(bytes, number);
  return bytes;
}

inline std::string WireTag(uint32_t field, uint32_t kind) {
  return WireVarint(uint64_t{field} << 3 | kind);
}

inline std::string WireNumber(uint32_t field, int64_t number) {
  return WireTag(field, 0) + WireVarint(static_cast<uint64_t>(number));
}

// A string or a message.
inline std::string WireBytes(uint32_t field, std::string_view bytes) {
  return WireTag(field, 2) + WireVarint(bytes.size()) + std::string(bytes);
}

}  // namespace beryl
