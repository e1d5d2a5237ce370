// The first block: where the run came from.
#pragma once

#include <string>

#include "store/store.h"

namespace beryl::store {

std::string EncodeContext(const StoredRun& run);

}  // namespace beryl::store
