// Lists the profiles that ship with the program.
#pragma once

#include <string>

#include "base/result.h"
#include "types/profile_list.h"

namespace beryl::flows {

// `pattern`: a part of a name, a short name or a machine; empty: all. Fails where none matches.
Result<ProfileList> ListProfiles(const std::string& pattern);

}  // namespace beryl::flows
