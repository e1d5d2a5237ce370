// What contains what among meters, so that nothing is counted twice and nothing is lost. It is
// settled here: whoever adds up, subtracts or shows asks.
//
// What a meter says of itself (MeterTraits::within) comes first. Where it says nothing, names tell,
// machine by machine:
//
//   wall:1, wall:2, battery  nothing contains them. They stand side by side: each feeds the
//                            machine, together they contain all of it, and none of them alone
//                            contains anything
//   wall beside wall:1, ..   those: it reads the same place once more
//   psys                     the plugs
//   CPU:n, DRAM:n            psys, or else the plugs; DRAM:n is not in CPU:n
//   CORE:n, UNCORE:n         CPU:n, or else as CPU:n
//   GPU:n, other names       the plugs; what a board tells of itself beside its total is in psys
//   CPU:n:x, GPU:n:x, ..     CPU:n, GPU:n, if that is read too
//
// psys:1 and psys:2 are like wall:1 and wall:2. A meter that tells nothing contains nothing: what
// it would contain is in what contains it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/note.h"
#include "types/power_trace.h"

namespace beryl {

class Containment {
 public:
  Containment() = default;
  // All channels tell something but counters that were seen to stand still.
  explicit Containment(const std::vector<PowerChannel>& channels);
  // `tells[i]`: whether channel i tells anything.
  Containment(const std::vector<PowerChannel>& channels, const std::vector<bool>& tells);

  // The channels that contain this one directly, in order. Several of them stand side by side and
  // contain it together; none: nothing contains it.
  const std::vector<size_t>& Within(size_t channel) const { return within_[channel]; }
  // Their names: "psys", "wall:1 + wall:2"; empty: nothing contains it.
  std::string WithinText(size_t channel) const { return Names(within_[channel]); }
  std::string Names(const std::vector<size_t>& some) const;
  // Whether `outer`, alone or with what stands beside it, contains `inner` at any depth.
  bool Contains(size_t outer, size_t inner) const;
  // Whether it reads a whole, the parts of which have books of their own: a plug, a board, and what
  // contains one of them.
  bool IsContainer(size_t channel) const { return is_container_[channel]; }
  // Those of the channels that tell anything which none of them contains. Together they read
  // everything, and nothing twice.
  std::vector<size_t> Outermost() const;

  // The meters that stand side by side with this one, and tell nothing: what it reads is not all.
  std::vector<size_t> SilentBeside(size_t channel) const;

  // What meters say that cannot be, and what was taken for the same thing, in sentences.
  const std::vector<Note>& notes() const { return notes_; }

 private:
  void MarkContainer(size_t channel);

  std::vector<Note> notes_;
  std::vector<std::string> names_;
  std::vector<ChannelScope> scopes_;
  std::vector<bool> tells_;
  std::vector<std::vector<size_t>> around_;  // directly, whether that tells anything or not
  std::vector<std::vector<size_t>> within_;
  std::vector<bool> is_container_;
};

}  // namespace beryl
