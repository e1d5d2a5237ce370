// ProfileList: machines that ship with the program, to predict for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/provenance.h"

namespace beryl {

struct ProfileList {
  Provenance provenance;
  struct Row {
    std::string name;
    std::vector<std::string> aliases;
    std::string machine;
    bool calibrated = false;    // learned from a meter; otherwise from a datasheet
    std::string measured_with;  // "float32, eager attention"; empty: from a datasheet
    // Nothing: unknown.
    std::optional<double> memory;        // bytes
    std::optional<double> matmul_flops;  // a second, in the fastest number type that is not integer
    std::optional<double> bandwidth;     // bytes a second
    std::optional<Watts> board_power;    // at most
  };
  std::vector<Row> rows;  // the calibrated ones first
};

}  // namespace beryl
