#include "server/api/metrics.h"

#include <ctime>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace beryl::server {
namespace {

void Head(std::string& page, std::string_view name, std::string_view type, std::string_view help) {
  page += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void Gauge(std::string& page, std::string_view name, std::string_view help, uint64_t value) {
  Head(page, name, "gauge", help);
  page += fmt::format("{} {}\n", name, value);
}

void WriteOwnEnergy(const std::vector<LiveDevice>& devices, std::string& page) {
  constexpr std::string_view kEnergy = "beryl_server_energy_joules_total";
  Head(page, kEnergy, "counter", "What this server itself drew, by its share of the CPU time.");
  for (const LiveDevice& device : devices) {
    if (!device.ours) continue;
    page +=
        fmt::format("{}{{hw_id=\"{}\",beryl_origin=\"{}\",beryl_source=\"{}\"}} {}\n", kEnergy,
                    device.device, OriginName(device.origin), device.source, device.ours->value);
  }
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  Head(page, "beryl_server_cpu_seconds_total", "counter", "CPU time of this server.");
  page += fmt::format("beryl_server_cpu_seconds_total {}.{:09}\n", cpu.tv_sec, cpu.tv_nsec);
}

}  // namespace

std::string WriteMetrics(const HttpFigures& figures, const std::vector<LiveDevice>& own_energy) {
  std::string page;
  Head(page, "beryl_http_requests_total", "counter", "Requests that were answered.");
  for (const auto& [route, figures_of_route] : figures.routes) {
    for (const auto& [status, count] : figures_of_route.requests) {
      page += fmt::format("beryl_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", route,
                          status, count);
    }
  }
  constexpr std::string_view kTimes = "beryl_http_request_duration_seconds";
  Head(page, kTimes, "histogram", "From the end of a request's head to the end of its answer.");
  for (const auto& [route, figures_of_route] : figures.routes) {
    const HttpFigures::Times& times = figures_of_route.times;
    uint64_t below = 0;
    for (size_t i = 0; i < std::size(HttpFigures::kClasses); ++i) {
      below += times.in_class[i];
      page += fmt::format("{}_bucket{{route=\"{}\",le=\"{}\"}} {}\n", kTimes, route,
                          HttpFigures::kClasses[i], below);
    }
    page += fmt::format("{}_bucket{{route=\"{}\",le=\"+Inf\"}} {}\n", kTimes, route, times.count);
    page += fmt::format("{}_sum{{route=\"{}\"}} {}\n", kTimes, route, times.sum_s);
    page += fmt::format("{}_count{{route=\"{}\"}} {}\n", kTimes, route, times.count);
  }
  Gauge(page, "beryl_http_connections", "Open connections.", figures.connections);
  Head(page, "beryl_http_connections_refused_total", "counter",
       "Connections beyond what is allowed.");
  page += fmt::format("beryl_http_connections_refused_total {}\n", figures.connections_refused);
  Gauge(page, "beryl_http_kept_answers", "Answers that are kept in memory.", figures.kept_answers);
  Gauge(page, "beryl_http_kept_answers_bytes", "Bytes of the answers that are kept in memory.",
        figures.kept_bytes);
  Head(page, "beryl_http_answers_from_memory_total", "counter",
       "Requests that were answered with a kept answer.");
  page += fmt::format("beryl_http_answers_from_memory_total {}\n", figures.answered_from_memory);
  WriteOwnEnergy(own_energy, page);
  return page;
}

std::string WriteMetrics(const LibraryCounts& counts) {
  std::string page;
  const auto labelled = [&](std::string_view name, std::string_view help, std::string_view label,
                            const std::vector<std::pair<std::string_view, uint64_t>>& values) {
    Head(page, name, "gauge", help);
    for (const auto& [value, count] : values) {
      page += fmt::format("{}{{{}=\"{}\"}} {}\n", name, label, value, count);
    }
  };
  labelled("beryl_library_entries", "Entries of the library.", "kind",
           {{"run", counts.runs},
            {"prediction", counts.predictions},
            {"profile", counts.profiles},
            {"dataset", counts.datasets}});
  labelled("beryl_library_jobs", "Jobs of the library.", "state",
           {{"queued", counts.queued},
            {"running", counts.running},
            {"done", counts.done},
            {"failed", counts.failed},
            {"cancelled", counts.cancelled}});
  Gauge(page, "beryl_library_files", "Files of the library.", counts.files);
  Gauge(page, "beryl_library_bytes", "Bytes of the library's files.", counts.file_bytes);
  return page;
}

}  // namespace beryl::server
