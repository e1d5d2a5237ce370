// How busy NVIDIA GPUs are, and with whose work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sources/nvml_library.h"
#include "sources/power_source.h"

namespace beryl::sources {

struct NvmlGpu {
  nvml::Device device = nullptr;
  unsigned int index = 0;
};

// The columns that a GPU supports now: gpu_util, gm_usg, g_clk, gm_clk, gpu_ours. Null if there are
// none. `procfs` tells which processes exist.
std::unique_ptr<FeatureSource> MakeNvmlFeatures(std::shared_ptr<nvml::Library> library,
                                                const std::vector<NvmlGpu>& gpus,
                                                const std::string& procfs);

}  // namespace beryl::sources
