// What the program's operator new throws: an error that names the amount. And what keeps it from
// being needed.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace beryl {

// Allocates nothing, for there is nothing to allocate.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t wanted) noexcept;
  // "out of memory: 4096.0 MB more are needed beside the 812 MB in use"
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 120> text_{};
};

// Returns to the system what was freed in pieces, which the allocator keeps otherwise. To be called
// where much was freed and much will be needed; takes milliseconds.
void GiveBackMemory();

}  // namespace beryl
