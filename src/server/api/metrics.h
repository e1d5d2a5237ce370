// What a server has done, for Prometheus.
#pragma once

#include <string>
#include <vector>

#include "server/http/server.h"
#include "types/library_entry.h"
#include "types/live_power.h"

namespace beryl::server {

std::string WriteMetrics(const HttpFigures& figures, const std::vector<LiveDevice>& own_energy);
std::string WriteMetrics(const LibraryCounts& counts);

}  // namespace beryl::server
