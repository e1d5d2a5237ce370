#include "learn/describe/predict_datasheet.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/describe/note_memory.h"

namespace beryl::learn {
namespace {

constexpr double kNominal = 0.9;
// At this share of the time, a note says that starting operations takes most of it.
constexpr double kMostlyLaunch = 0.5;

// Assumptions about every device of a kind, because datasheets do not state them.
// docs/datasheets.md says where each number comes from and how far off it was where that could be
// checked.
struct DatasheetPriors {
  Seconds launch;        // to start an operation, in addition to its work
  Seconds send;          // to start an operation that all GPUs take part in
  double matmul;         // share of the peak that large matrix products reach
  Seconds ramp;          // a product reaches half of that at the work the peak does in this time
  double vector;         // share of the peak that everything else reaches
  double bandwidth;      // share of the memory's bandwidth
  double link;           // share of the link's bandwidth
  double host_link;      // bytes a second each way, if the datasheet has no link
  double awake;          // share of (board - idle) power as soon as something runs,
  double compute_power;  // added while its units compute,
  double memory_power;   // added while memory is busy,
  double link_power;     // added while links are busy
  double factor;  // of the whole: nine in ten measurements are within this factor of the prediction
  double launch_factor;  // added in proportion to the time spent starting operations
};

constexpr DatasheetPriors kGpuPriors = {
    // 5 us: PyTorch dispatches and starts a kernel without CUDA graphs in 4 to 10 us.
    .launch = Seconds{5e-6},
    // 20 us: latency of a small all-reduce with NCCL over NVLink.
    .send = Seconds{20e-6},
    // 65 %: cuBLAS reaches 60 to 80 % on matrices of a few thousand a side (less on boards that hit
    // their power limit: T4, H100).
    .matmul = 0.65,
    // 2 us: a product has to fill all units and drain them again.
    .ramp = Seconds{2e-6},
    // 30 %: elementwise code has few fused multiply-adds, which the peak counts as two.
    .vector = 0.3,
    // 80 %: STREAM-like kernels reach 75 to 90 %.
    .bandwidth = 0.8,
    .link = 0.7,
    .host_link = 12e9,
    // A GPU that streams from memory draws 50 to 65 % of its limit, in large products 85 to 100 %.
    .awake = 0.1,
    .compute_power = 0.7,
    .memory_power = 0.45,
    .link_power = 0.15,
    .factor = 2,
    .launch_factor = 1,
};

constexpr DatasheetPriors kCpuPriors = {
    // 5 us: dispatch, and waking and joining the threads.
    .launch = Seconds{5e-6},
    .send = Seconds{20e-6},
    // 65 % of the peak at base clock: 85 % of what oneDNN and MKL reach, at the lower clocks of
    // AVX.
    .matmul = 0.65,
    .ramp = Seconds{5e-6},
    .vector = 0.2,
    .bandwidth = 0.75,
    .link = 0.7,
    .host_link = 12e9,
    // All cores spin while they wait for memory.
    .awake = 0.35,
    .compute_power = 0.55,
    .memory_power = 0.35,
    .link_power = 0.05,
    .factor = 2,
    .launch_factor = 1,
};

const DatasheetPriors& PriorsOf(const Datasheet& sheet) {
  return sheet.gpu ? kGpuPriors : kCpuPriors;
}

double RateOf(const Datasheet& sheet, Dtype dtype) {
  return sheet.matmul_flops[static_cast<size_t>(dtype)];
}

bool IsNarrow(Dtype dtype) { return dtype == Dtype::kInt8 || dtype == Dtype::kInt4; }

// Of all executions of one operation, on each GPU.
struct Cost {
  double seconds = 0;
  double launch_s = 0;  // the part spent on starting
  double joules = 0;    // of one GPU
};

class Roofline {
 public:
  Roofline(const Datasheet& sheet, const Description& description)
      : sheet_(sheet),
        priors_(PriorsOf(sheet)),
        gpus_(static_cast<double>(std::max<int64_t>(1, description.input.gpus))),
        matmul_rate_(MatmulRate(sheet, description.dtype) * priors_.matmul),
        vector_rate_(sheet.vector_flops * priors_.vector),
        bandwidth_(sheet.bandwidth * priors_.bandwidth),
        link_((sheet.link_bandwidth > 0 ? sheet.link_bandwidth : priors_.host_link) *
              priors_.link) {}

  double gpus() const { return gpus_; }

  // Work is counted over all GPUs, whether each does a part of it or all of it.
  Cost Of(const DescribedNode& node) const {
    if (!node.kind || *node.kind == MathKind::kView || !(node.runs > 0)) return {};
    const Work work = node.work * (1 / gpus_);
    const double products_s = work.matmul_flops / matmul_rate_;
    const double others_s = std::max(0.0, work.flops - work.matmul_flops) / vector_rate_;
    const double memory_s = work.Bytes() / bandwidth_;
    const double sending_s = work.bytes_sent / link_;
    // w operations have the efficiency of large products times w / (w + half). This is a constant
    // added to the time.
    const double ramp_s =
        work.matmul_flops > 0 ? node.runs * priors_.ramp.value / priors_.matmul : 0;
    Cost cost;
    cost.launch_s =
        node.runs * (*node.kind == MathKind::kSend ? priors_.send.value : priors_.launch.value);
    cost.seconds = cost.launch_s + std::max({products_s + ramp_s + others_s, memory_s, sending_s});
    const double busy_s = priors_.awake * cost.seconds +
                          priors_.compute_power * (products_s + others_s) +
                          priors_.memory_power * memory_s + priors_.link_power * sending_s;
    const Watts above_idle = sheet_.board_power - sheet_.idle_power;
    cost.joules =
        sheet_.idle_power.value * cost.seconds + above_idle.value * std::min(busy_s, cost.seconds);
    return cost;
  }

 private:
  const Datasheet& sheet_;
  const DatasheetPriors& priors_;
  double gpus_;
  double matmul_rate_;
  double vector_rate_;
  double bandwidth_;
  double link_;
};

// Notes if the datasheet has no rate for this number type, or has two.
void NoteRate(const Datasheet& sheet, Dtype dtype, std::vector<Note>& notes) {
  const auto rate_of = [&](Dtype of) { return sheet.matmul_flops[static_cast<size_t>(of)]; };
  if (dtype == Dtype::kFloat32) {
    const bool has_tf32 = sheet.gpu && rate_of(Dtype::kFloat16) > 4 * rate_of(Dtype::kFloat32);
    if (has_tf32) notes.emplace_back(NoteKind::kWithoutTf32);
    return;
  }
  if (!std::isnan(rate_of(dtype))) return;
  const bool narrow = dtype == Dtype::kInt8 || dtype == Dtype::kInt4;
  const bool half = !std::isnan(rate_of(Dtype::kFloat16));
  notes.push_back({narrow ? NoteKind::kProductsWidened : NoteKind::kNoFasterUnits,
                   std::string(DtypeName(dtype)),
                   {DtypeName(narrow && half ? Dtype::kFloat16 : Dtype::kFloat32)}});
}

}  // namespace

double MatmulRate(const Datasheet& sheet, Dtype dtype) {
  const double half = RateOf(sheet, Dtype::kFloat16);
  if (!std::isnan(RateOf(sheet, dtype))) return RateOf(sheet, dtype);
  return IsNarrow(dtype) && !std::isnan(half) ? half : RateOf(sheet, Dtype::kFloat32);
}

void PredictByDatasheet(const Datasheet& sheet, const Description& description,
                        DescribedPrediction& out) {
  const ModelTree& tree = description.tree;
  const size_t count = description.nodes.size();
  const Roofline roofline(sheet, description);
  Column column = PredictedColumn(Origin::kUncalibrated, "the datasheet of " + sheet.device);
  column.self.resize(count);
  std::vector<double> seconds(count);
  std::vector<double> launch_s(count);
  for (size_t node = 0; node < count; ++node) {
    const Cost cost = roofline.Of(description.nodes[node]);
    column.self[node] = cost.joules * roofline.gpus();
    seconds[node] = cost.seconds;
    launch_s[node] = cost.launch_s;
  }
  column.total = RollUp(tree, column.self);
  seconds = RollUp(tree, std::move(seconds));
  launch_s = RollUp(tree, std::move(launch_s));
  const DatasheetPriors& priors = PriorsOf(sheet);
  const auto launch_share = [&](size_t node) {
    return seconds[node] > 0 ? launch_s[node] / seconds[node] : 0;
  };
  for (size_t node = 0; node < count; ++node) {
    const double factor = priors.factor + priors.launch_factor * launch_share(node);
    column.low.push_back(column.total[node] / factor);
    column.high.push_back(column.total[node] * factor);
  }

  out.machine = sheet.device;
  out.calibrated = false;
  out.nominal = kNominal;
  out.notes.push_back({NoteKind::kUncalibrated,
                       sheet.device,
                       {priors.factor + priors.launch_factor * launch_share(0)}});
  const int64_t gpus = description.input.gpus;
  out.notes.push_back({NoteKind::kDeviceAlone,
                       sheet.gpu ? "GPU" : "processor",
                       {gpus > 1 ? NoteValue(gpus) : NoteValue()}});
  NoteRate(sheet, description.dtype, out.notes);
  if (launch_share(0) > kMostlyLaunch) {
    out.notes.push_back({NoteKind::kMostlyStarting, "", {launch_share(0)}});
  }
  NoteMemory(sheet.memory, sheet.gpu, description, out.notes);
  out.energy = std::move(column);
  out.seconds = std::move(seconds);
}

}  // namespace beryl::learn
