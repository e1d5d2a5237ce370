// The formats behind the front door.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "views/views.h"

namespace beryl::views {

std::string WriteTable(const AccountReport& report, const ViewOptions& options);
std::string WriteSummary(const AccountReport& report, const ViewOptions& options);
std::string WriteCsv(const AccountReport& report, const ViewOptions& options);
std::string WriteJson(const AccountReport& report, const ViewOptions& options);
std::string WriteHtml(const AccountReport& report, const ViewOptions& options);

// The "beryl.account/1" object, with the given tree in it.
void WriteAccountObject(JsonWriter& json, const AccountReport& report, const TreeColumns& tree,
                        const ViewOptions& options);

}  // namespace beryl::views
