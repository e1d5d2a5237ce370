// How a flow that goes on shows what it sees.
#pragma once

#include <functional>

#include "types/power_look.h"

namespace beryl::flows {

struct LiveView {
  std::function<void(const PowerLook& look)> show = {};
  // Asked several times a second: whether who looks has seen enough.
  std::function<bool()> wants_end = {};
};

}  // namespace beryl::flows
