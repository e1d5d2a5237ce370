// The picture of a precision: similarity against the period and against the number of samples, and
// between samples.
#pragma once

#include <string>

#include "types/precision.h"

namespace beryl::views {

std::string DrawPrecision(const Precision& precision);

}  // namespace beryl::views
