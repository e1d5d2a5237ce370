// Figure 3 of IrEne's paper: how many predictions are off by how much.
#pragma once

#include <string>

#include "types/evaluation.h"

namespace beryl::views {

std::string DrawErrors(const Evaluation& evaluation);

}  // namespace beryl::views
