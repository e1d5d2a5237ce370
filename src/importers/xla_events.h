// Interprets the events of TensorFlow's, JAX's and XLA's profilers, from either of their two file
// formats. A reader passes in planes, lines and events; operations come out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_table.h"
#include "base/units.h"
#include "importers/hlo_table.h"
#include "types/op_trace.h"

namespace beryl::importers {

inline constexpr int64_t kNoXlaNumber = INT64_MIN;

// Everything that events of one kind have in common. Strings are those of XlaAssembler::strings().
struct XlaWhat {
  StringId name = 0;        // in full: `dense/MatMul:MatMul`, `fusion.3`, `ampere_sgemm_128x64_nn`
  StringId hlo_op = 0;      // the instruction of a compiled program
  StringId hlo_module = 0;  // the program it is in
  StringId tf_op = 0;       // the framework's own name for it
  StringId eager_op = 0;    // the type of an operation that ran without a graph
  int64_t program = kNoXlaNumber;
  bool is_function = false;   // an eager operation that only calls a function
  bool calls_device = false;  // has a correlation with what a device did

  bool operator==(const XlaWhat&) const = default;
};

struct XlaWhatHash {
  size_t operator()(const XlaWhat& what) const {
    uint64_t hash = what.name;
    for (const uint64_t part :
         {uint64_t{what.hlo_op}, uint64_t{what.hlo_module}, uint64_t{what.tf_op},
          uint64_t{what.eager_op}, static_cast<uint64_t>(what.program),
          uint64_t{what.is_function} * 2 + uint64_t{what.calls_device}}) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

struct XlaEvent {
  Nanos start;
  Nanos end;
  uint32_t line = 0;  // number from AddPlane()
  uint32_t what = 0;  // number from WhatNumber()
  int64_t correlation = kNoXlaNumber;
  int64_t group = kNoXlaNumber;  // the step it was assigned to
  uint64_t offset = 0;           // in the file
};

struct XlaLine {
  std::string name;
  int64_t thread = kNoXlaNumber;  // lines of several planes may belong to one thread
  bool relative = true;           // times are counted from the start of the profile
  uint64_t events = 0;
};

// Takes planes one after another; keeps only events that become an operation or help to place one.
class XlaAssembler {
 public:
  // `event_offsets`, if given, receives XlaEvent::offset of each operation.
  XlaAssembler(OpTrace& trace, ImportReport& report,
               std::vector<uint64_t>* event_offsets = nullptr);
  XlaAssembler(const XlaAssembler&) = delete;
  XlaAssembler& operator=(const XlaAssembler&) = delete;
  ~XlaAssembler();

  StringTable& strings();
  HloTable& programs();

  // Returns the number of its first line; the others follow.
  uint32_t AddPlane(std::string_view name, const std::vector<XlaLine>& lines);
  uint32_t WhatNumber(const XlaWhat& what);
  // An event of a line. Counts as an event of the report.
  void Add(const XlaEvent& event);
  // An event that marks the step of that number.
  void AddStep(const XlaEvent& event, int64_t number);
  // An event that is not used. Counts, too.
  void Leave(NoteKind why, uint64_t offset);

  // Places everything and appends it to the trace. `start` is the start of the profile in
  // nanoseconds since the epoch, if the file has it; `rank` may be empty.
  void Finish(std::optional<Nanos> start, const std::string& rank);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace beryl::importers
