#include <cstddef>
#include <cstdint>

#include "import_laws.h"

// Formats are named: a fuzzer should spend its time behind the door, not before it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  for (const beryl::importers::FormatDescriptor& format : beryl::importers::Formats()) {
    beryl::fuzz::ImportAndCheck({reinterpret_cast<const char*>(bytes), size}, format.name);
  }
  return 0;
}
