#include <cstddef>
#include <cstdint>

#include "import_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  beryl::fuzz::ImportAndCheck({reinterpret_cast<const char*>(bytes), size}, "pytorch-legacy");
  return 0;
}
