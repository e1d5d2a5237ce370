#include <cstddef>
#include <cstdint>

#include "import_laws.h"

// The format is named: a fuzzer should spend its time behind the door, not before it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  beryl::fuzz::ImportAndCheck({reinterpret_cast<const char*>(bytes), size}, "xla-trace");
  return 0;
}
