// How busy NVIDIA's GPUs are, and with whose work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sources/nvml_library.h"
#include "sources/sources.h"

namespace beryl::sources {

struct NvmlGpu {
  nvml::Device device = nullptr;
  unsigned int index = 0;
};

// Columns are those that a GPU answers for now: gpu_util, gm_usg, g_clk, gm_clk, gpu_ours. Null:
// none of them does. `procfs` is asked which processes are there.
std::unique_ptr<FeatureSource> MakeNvmlFeatures(std::shared_ptr<nvml::Library> library,
                                                const std::vector<NvmlGpu>& gpus,
                                                const std::string& procfs);

}  // namespace beryl::sources
