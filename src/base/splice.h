// Changes to a stream of bytes that is copied: which of its bytes are replaced, and by what.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace beryl {

class Splice {
 public:
  // Puts `bytes` in place of the `erased` bytes from byte `at` on. In order, and not into one
  // another.
  void Replace(uint64_t at, uint64_t erased, std::string_view bytes);

  // Copies `source` with the changes. It is an error if it is too short for them.
  Status Copy(ByteSource& source, const std::function<Status(std::string_view)>& put) const;

 private:
  struct Place {
    uint64_t at;
    uint32_t erased;
    uint32_t inserted;  // as many bytes of inserted_
  };
  std::vector<Place> places_;
  std::string inserted_;
};

}  // namespace beryl
