// A secret that clients and servers share.
#pragma once

#include <string>

#include "base/result.h"

namespace beryl {

// The first line of a file that only its owner may read, of at least 16 characters; otherwise it is
// a misuse error.
Result<std::string> ReadToken(const std::string& path);

}  // namespace beryl
