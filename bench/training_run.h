// A synthetic BERT-like training run, which the trace benchmarks write and read.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "account/account.h"
#include "base/file.h"
#include "importers/importers.h"

namespace beryl {

// Calls visit(scope, operation) for all operations of the encoder below `root`.
template <typename Visit>
void ForEachEncoderOperation(const char* root, Visit&& visit) {
  for (int layer = 0; layer < 12; ++layer) {
    for (const char* part : {"attention/self/query", "attention/self/key", "attention/self/value",
                             "attention/output/dense", "intermediate/dense", "output/dense"}) {
      for (const char* op : {"MatMul", "BiasAdd", "Reshape", "Mul", "Add"}) {
        visit(fmt::format("{}/encoder/layer_{}/{}", root, layer, part), op);
      }
    }
  }
}

// The start of a trace in TensorFlow's form, with a CPU as process 0 and a GPU.
inline void PrintTraceStart(std::FILE* file, int gpu_process) {
  fmt::print(file, R"({{"traceEvents": [)");
  for (const auto& [pid, device] : {std::pair(0, "CPU:0"), std::pair(gpu_process, "GPU:0")}) {
    fmt::print(file,
               R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": )"
               R"("/job:localhost/replica:0/task:0/device:{} Compute"}}}}, )",
               pid, device);
  }
}

// The joules that went to operations of the first channel.
inline double AccountTrace(const PowerTrace& power, const OpTrace& trace, int threads) {
  account::AccountOptions options;
  options.threads = threads;
  auto footprint = account::Account(power, trace, options);
  if (!footprint) std::abort();
  return footprint->channels[0].attributed.value;
}

inline double AccountTraceFile(const std::filesystem::path& path, const PowerTrace& power,
                               int threads) {
  auto source = ByteSource::Open(path);
  importers::ImportOptions import;
  import.threads = threads;
  OpTrace trace;
  if (!importers::Import(*source, import, trace)) std::abort();
  return AccountTrace(power, trace, threads);
}

}  // namespace beryl
