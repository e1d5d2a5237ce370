#include "learn/describe/note_memory.h"

#include <algorithm>
#include <cmath>

#include "types/unknown.h"

namespace beryl::learn {
namespace {

constexpr double kGiga = 1e9;
constexpr int64_t kMostGpus = 1024;

NoteValue Gigabytes(double bytes) { return bytes > 0 ? bytes / kGiga : kUnknown; }

}  // namespace

void NoteMemory(double memory, bool gpu, const Description& description, std::vector<Note>& notes) {
  if (std::isnan(memory)) return;
  const MemoryNeed& need = description.memory;
  const int64_t gpus = std::max<int64_t>(1, description.input.gpus);
  const auto fits = [&](int64_t on) { return need.Total() <= memory * static_cast<double>(on); };
  int64_t enough = gpus;
  while (enough < kMostGpus && !fits(enough)) enough *= 2;
  Note& note =
      notes.emplace_back(fits(gpus) ? NoteKind::kFits : NoteKind::kDoesNotFit, "",
                         std::vector<NoteValue>{need.weights / kGiga, Gigabytes(need.cache),
                                                memory * static_cast<double>(gpus) / kGiga,
                                                gpu ? NoteValue(gpus) : NoteValue()});
  const bool more_would_do = !fits(gpus) && gpu && fits(enough) && !description.training;
  if (!fits(gpus)) note.values.push_back(more_would_do ? NoteValue(enough) : NoteValue());
  for (const double part : {need.activations, need.gradients, need.optimizer}) {
    note.values.push_back(Gigabytes(part));
  }
}

}  // namespace beryl::learn
