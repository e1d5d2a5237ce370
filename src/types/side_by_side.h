// SideBySide: runs, predictions and descriptions on one merged tree, one column each.
#pragma once

#include <string>
#include <vector>

#include "types/column.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

struct SideBySide {
  Provenance provenance;
  struct Side {
    std::string label;
    std::string what;  // "measured: ...", "predicted by h100-sxm, ...", "described: ..."
  };
  std::vector<Side> sides;
  // Like layers folded. A column for each side, then for each later side its difference from the
  // first, absolute and relative.
  TreeColumns tree;
  std::vector<Note> notes;
};

}  // namespace beryl
