// Data sets for tests.
#pragma once

#include <random>
#include <string>
#include <utility>

#include "datasets/datasets_testing.h"
#include "types/dataset.h"

namespace beryl::learn {

using datasets::kMeasuredSlice;
using datasets::kNoPublishedData;
using datasets::PublishedData;

inline void Set(FeatureRow& row, Feature feature, double value) {
  row[static_cast<size_t>(feature)] = value;
}

// Nodes are added in pre-order.
class RunMaker {
 public:
  RunMaker(std::string model, double batch_size, double seq_len) {
    run_.model = std::move(model);
    run_.batch_size = batch_size;
    run_.seq_len = seq_len;
  }

  NodeId Add(NodeId parent, Level level, const std::string& name, const std::string& type,
             const FeatureRow& features, double joules) {
    const auto id = static_cast<NodeId>(run_.tree.nodes.size());
    TreeNode node;
    node.parent = id == 0 ? 0 : parent;
    node.end = id + 1;
    node.depth = id == 0 ? uint16_t{0} : static_cast<uint16_t>(run_.tree.nodes[parent].depth + 1);
    node.level = level;
    node.name = name;
    node.type = type;
    run_.tree.nodes.push_back(node);
    for (NodeId at = id; at != 0;) {
      at = run_.tree.nodes[at].parent;
      run_.tree.nodes[at].end = id + 1;
    }
    run_.features.push_back(features);
    run_.measured.push_back(joules);
    return id;
  }

  ModelRun Take() { return std::move(run_); }

 private:
  ModelRun run_;
};

// A machine with a known law. It generates features for nodes of random size, and the energy that a
// meter would read.
struct TestMachine {
  double gpu = 1.05;
  double rest_w = 98;
  double busy_w = 1.5;
  double noise = 0.003;
  double cpu_low = 8.4;  // percent
  double cpu_high = 8.7;

  std::pair<FeatureRow, double> Node(std::mt19937_64& random, double batch_size, double seq_len,
                                     double scale) const {
    auto between = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    FeatureRow row = UnknownFeatures();
    const double seconds = scale * between(0.5, 2) * 1e-3;
    const double gpu_w = between(40, 230);
    const double cpu = between(cpu_low, cpu_high);
    Set(row, Feature::kInputSize, batch_size * seq_len);
    Set(row, Feature::kBatchSize, batch_size);
    Set(row, Feature::kSeqLen, seq_len);
    Set(row, Feature::kFlops, 1e3 * scale * between(0.9, 1.1));
    Set(row, Feature::kMemBytes, 10 * scale * between(0.9, 1.1));
    Set(row, Feature::kCpu, cpu);
    Set(row, Feature::kMem, between(10, 12));
    Set(row, Feature::kGpu, between(50, 100));
    Set(row, Feature::kGpuMem, between(10, 60));
    Set(row, Feature::kGpuClock, between(1800, 1900));
    Set(row, Feature::kGpuMemClock, 3802);
    Set(row, Feature::kSeconds, seconds);
    Set(row, Feature::kGpuEnergy, gpu_w * seconds);
    const double joules = gpu * gpu_w * seconds + (rest_w + busy_w * (cpu - 8.5)) * seconds;
    return {row, joules * (1 + noise * std::normal_distribution<double>(0, 1)(random))};
  }
};

// `models` models, each with several input sizes. Every tree has a root, two modules, and
// primitives of three types.
inline Dataset MakeDataset(const TestMachine& machine, size_t models, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Dataset data;
  data.name = "made-up";
  for (size_t model = 0; model < models; ++model) {
    for (const double batch_size : {8.0, 16.0}) {
      for (const double seq_len : {32.0, 64.0, 128.0}) {
        RunMaker maker("model-" + std::to_string(model), batch_size, seq_len);
        auto add = [&](NodeId parent, Level level, const std::string& name, const std::string& type,
                       double scale) {
          const auto [features, joules] = machine.Node(random, batch_size, seq_len, scale);
          return maker.Add(parent, level, name, type, features, joules);
        };
        const NodeId root = add(0, Level::kModel, "", "model", 10);
        for (const char* name : {"layer.0", "layer.1"}) {
          const NodeId layer = add(root, Level::kModule, name, "Layer", 4);
          add(layer, Level::kMl, "dense", "Linear", 2);
          add(layer, Level::kMl, "norm", "LayerNorm", 0.5);
          add(layer, Level::kMl, "matmul", "MatMul", 1);
        }
        data.runs.push_back(maker.Take());
      }
    }
  }
  return data;
}

}  // namespace beryl::learn
