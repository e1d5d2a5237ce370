// The results of analyses of a run, ready to be shown. Each is shown with the balances of the runs
// it was made from (AccountReport), so that its numbers can be traced.
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

// Operations ranked by energy per qualified name (TEF), the same with like layers added up (STEF),
// or ranked by power (STPF).
struct OperationRanking {
  enum class Kind : uint8_t { kTef, kStef, kStpf };
  Kind kind = Kind::kTef;
  std::optional<Phase> phase;  // nothing: all phases
  // One row per name and phase, the largest first. `device` lists all channels that it took energy
  // from; energy is their sum, and time at work counts once where several meters read the same
  // device.
  OperationTable rows;
  OperationTable by_device;  // the rows split by device, in the same order
  // The sum over all names in these phases, in `rows` or not; nothing if none is known.
  std::optional<Joules> total;
  double min_share = 0;  // share of `total` that a row needs to be in `rows`
};

// One level of an energy distribution diagram: the energy of the parts of one node.
struct DiagramBox {
  std::string name;
  std::string path;  // from below the root, joined by "/"; the path to ask for to see inside
  std::string type;
  bool composite = false;  // has parts
  uint32_t folded = 1;     // like nodes added up in it
  std::string folded_range;
  std::optional<Joules> energy;
  Origin origin = Origin::kMeasured;  // kEstimated if all or part of that energy is estimated
  std::optional<double> share;        // of all boxes of this diagram, 0 to 1
  std::optional<Joules> deviation;
  uint32_t gathered = 0;  // small parts gathered into this box because there are too many; 0: none
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
  std::string path;  // of the node that is divided here; empty: the whole program
  std::optional<Phase> phase;
  std::optional<Joules> energy;   // all boxes
  std::vector<DiagramBox> boxes;  // in the order of the program
  std::vector<DiagramArrow> arrows;
  bool has_dataflow = false;  // inputs or flows are known; otherwise a missing arrow means nothing
  bool described_dataflow = false;  // from the model's description, not from the trace
};

}  // namespace beryl
