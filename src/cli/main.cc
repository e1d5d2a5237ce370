#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/out_of_memory.h"
#include "cli/cli.h"

// The usual one does not say how much was wanted. The sanitizers need their own.
#if defined(__has_feature)
#define BERYL_HAS(feature) __has_feature(feature)
#else
#define BERYL_HAS(feature) 0
#endif
#if !BERYL_HAS(address_sanitizer) && !BERYL_HAS(thread_sanitizer) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw beryl::OutOfMemory(size);
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

int main(int argc, char** argv) {
  // Nothing below throws on purpose; an exception means that the machine ran out of something.
  try {
    return beryl::cli::Run(argc, argv);
  } catch (const std::bad_alloc& problem) {
    std::fprintf(stderr, "beryl: %s; nothing was written\n", problem.what());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "beryl: cannot go on: %s\n", problem.what());
  }
  return beryl::cli::kFailure;
}
