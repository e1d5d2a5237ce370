#include "base/out_of_memory.h"

#include <fcntl.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdio>
#include <cstdlib>

namespace beryl {
namespace {

// Memory of this process that is in use, in bytes; 0 if unknown.
double InUse() {
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 64> text{};
  const ssize_t got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  char* resident = nullptr;
  if (got <= 0) return 0;
  (void)std::strtoul(text.data(), &resident, 10);  // the size, which counts what was never touched
  return std::strtod(resident, nullptr) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

OutOfMemory::OutOfMemory(size_t wanted) noexcept {
  std::snprintf(text_.data(), text_.size(),
                "out of memory: %.1f MB more are needed beside the %.0f MB in use",
                static_cast<double>(wanted) * 1e-6, InUse() * 1e-6);
}

void GiveBackMemory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace beryl
