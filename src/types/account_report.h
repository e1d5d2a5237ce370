// AccountReport: everything that a view may show of an accounted run, already computed.
#pragma once

#include <optional>
#include <vector>

#include "types/budget.h"
#include "types/column.h"
#include "types/footprint.h"
#include "types/model_alignment.h"
#include "types/model_tree.h"
#include "types/note.h"
#include "types/op_trace.h"
#include "types/operation_table.h"
#include "types/provenance.h"
#include "types/run_context.h"
#include "types/timeline.h"

namespace beryl {

struct AccountReport {
  Provenance provenance;
  RunContext context;
  Nanos clock_offset;
  std::string clock_reason;
  std::vector<ChannelAccount> channels;
  std::vector<Note> notes;
  std::vector<ImportReport> imports;
  size_t steps = 0;
  OperationTable operations;
  OperationTable summary;  // with repeated layers folded
  TreeColumns tree;
  TreeColumns folded;
  std::optional<Timeline> timeline;
  std::vector<BudgetVerdict> budget;        // empty: no budget was given
  std::optional<ModelAlignment> alignment;  // nothing: no model's description was given
};

}  // namespace beryl
