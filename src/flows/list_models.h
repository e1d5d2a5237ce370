// Lists the models of the catalog.
#pragma once

#include <string>

#include "base/result.h"
#include "types/model_list.h"

namespace beryl::flows {

// `pattern`: a family, a part of a name, or a name with * and ?; empty: all. Fails where none
// matches.
Result<ModelList> ListModels(const std::string& pattern);

}  // namespace beryl::flows
