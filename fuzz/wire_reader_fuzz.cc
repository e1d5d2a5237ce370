#include <cstddef>
#include <cstdint>

#include "base/wire_reader.h"
#include "import_laws.h"

namespace {

using beryl::WireReader;
using beryl::fuzz::Require;

// Which fields are entered, read or left alone is part of the input too: the field's number
// decides.
uint64_t Walk(WireReader& wire, uint64_t end, int depth) {
  uint64_t fields = 0;
  uint64_t before = 0;
  while (wire.Next()) {
    ++fields;
    Require(wire.field() > 0, "a field has a number");
    Require(wire.offset() < end, "a field starts inside of its message");
    Require(fields == 1 || wire.offset() > before, "fields come one after the other");
    before = wire.offset();
    if (wire.IsBytes() && wire.field() % 3 == 0) {
      Require(wire.Text(wire.field()).size() <= wire.field(), "no more text than asked for");
    } else if (wire.field() % 3 != 1 && wire.Enter()) {
      fields += Walk(wire, end, depth + 1);
      wire.Leave();
    }
  }
  Require(depth <= static_cast<int>(WireReader::kDeepest), "depth is bounded");
  return fields;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  beryl::ByteSource source = beryl::ByteSource::FromMemory(text, "fuzz");
  WireReader wire(source);
  // Of a compressed input the size is not known here.
  const bool plain = size < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b;
  const uint64_t end = plain ? size : UINT64_MAX;
  const uint64_t fields = Walk(wire, end, 0);
  Require(!plain || fields <= size, "a field takes a byte at least");
  Require(wire.position() <= end, "nothing is read behind the end");
  Require(!wire.truncated() || wire.broke_at() <= end, "it broke inside of the stream");
  return 0;
}
