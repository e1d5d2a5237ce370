// What the analyses of a run come to, ready to be shown. Every one of them goes out with the books
// of the run or runs it was made from (AccountReport), so that its numbers can be traced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/account_report.h"
#include "types/column.h"
#include "types/model_tree.h"
#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl {

// A footprint of operations, ranked: by qualified name (TEF), with like layers added up (STEF), or
// that by power (STPF).
struct OperationRanking {
  enum class Kind : uint8_t { kTef, kStef, kStpf };
  Kind kind = Kind::kTef;
  std::optional<Phase> phase;  // nothing: all phases
  // One a name and phase, the largest first. `device` names all that it took energy from; energy is
  // their sum, and time at work counts once where several meters read the same device.
  OperationTable rows;
  OperationTable by_device;  // what they are made of, a row a device, in the same order
  // Of all names in these phases, in `rows` or not; nothing: none of it is known.
  std::optional<Joules> total;
  double min_share = 0;  // of that, to be in `rows`
};

// One level of an energy distribution diagram: what the parts of one node took.
struct DiagramBox {
  std::string name;
  std::string path;  // from below the root, joined by "/"; what to ask for to see inside
  std::string type;
  bool composite = false;  // has parts of its own
  uint32_t folded = 1;     // like nodes added up in it
  std::string folded_range;
  std::optional<Joules> energy;
  Origin origin = Origin::kMeasured;  // estimated: all or part of that energy is
  std::optional<double> share;        // of all boxes of this diagram, 0 to 1
  std::optional<Joules> deviation;
  uint32_t gathered = 0;  // small parts that share this box because there are too many; 0: none
  // Kinds of operations outside of the node that feed this box, and that it feeds.
  uint64_t from_outside = 0;
  uint64_t to_outside = 0;
};

// Dataflow between two boxes of a diagram; `count` kinds of operations on one side feed the other.
struct DiagramArrow {
  size_t from = 0;
  size_t to = 0;
  uint64_t count = 0;
};

struct EnergyDiagram {
  std::string path;  // of the node whose parts these are; empty: the whole program
  std::optional<Phase> phase;
  std::optional<Joules> energy;   // all boxes
  std::vector<DiagramBox> boxes;  // in the order of the program
  std::vector<DiagramArrow> arrows;
  bool has_dataflow = false;  // inputs or flows are known; if not, no arrow does not mean none
  bool described_dataflow = false;  // by the model's description, and not by the trace
};

}  // namespace beryl
