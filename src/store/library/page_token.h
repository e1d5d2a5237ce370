// Where a page of a list ended, so that the next one can begin there.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace beryl::store {

// The last of a page.
struct PageEnd {
  Nanos created;
  std::string id;
};

// `list` says which list it is: kind and filter. A token of another list is refused.
std::string MakePageToken(std::string_view list, const PageEnd& end);
Result<PageEnd> ReadPageToken(std::string_view list, std::string_view token);

}  // namespace beryl::store
