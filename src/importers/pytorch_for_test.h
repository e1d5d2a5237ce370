// Synthetic traces of PyTorch's profiler, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "importers/import_for_test.h"

namespace beryl::importers {

inline std::string Event(std::string_view cat, std::string_view name, double ts, double dur,
                         std::string_view args = "", std::string_view thread = "1") {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", cat,
      name, thread, ts, dur, args);
}
inline std::string CpuOp(std::string_view name, double ts, double dur, std::string_view args = "",
                         std::string_view thread = "1") {
  return Event("cpu_op", name, ts, dur, args, thread);
}
inline std::string Module(std::string_view name, double ts, double dur,
                          std::string_view thread = "1") {
  return Event("python_function", fmt::format("nn.Module: {}", name), ts, dur, "", thread);
}

inline std::string Trace(const std::vector<std::string>& events, std::string_view before = "",
                         std::string_view after = "") {
  return fmt::format(R"({{{}"traceEvents": [{}]{}}})", before, fmt::join(events, ",\n"), after);
}

inline Imported ImportKineto(const std::vector<std::string>& events, std::string_view before = "",
                             std::string_view after = "", int threads = 1) {
  ImportOptions options;
  options.format = "pytorch-kineto";
  options.threads = threads;
  return ImportText(Trace(events, before, after), options);
}

}  // namespace beryl::importers
