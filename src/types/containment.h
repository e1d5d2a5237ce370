// Decides which meters contain which, so that nothing is counted twice and nothing is lost. All
// code that adds, subtracts or shows channels uses it.
//
// A meter's own statement (MeterTraits::within) comes first. Without one, the names decide, machine
// by machine:
//
//   wall:1, wall:2, battery  in nothing. They are side by side: each feeds the machine, together
//                            they contain all of it, and none contains anything alone
//   wall beside wall:1, ..   in those: it reads the same place again
//   psys                     in the plugs
//   CPU:n, DRAM:n            in psys, or else the plugs; DRAM:n is not in CPU:n
//   CORE:n, UNCORE:n         in CPU:n, or else where CPU:n would be
//   GPU:n, other names       in the plugs; a board's own partial readings are in psys
//   CPU:n:x, GPU:n:x, ..     in CPU:n, GPU:n, if that is read too
//
// psys:1 and psys:2 are like wall:1 and wall:2. A silent meter contains nothing: its contents are
// in whatever contains it.
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
  // Takes counters that were seen to stand still as silent, and all other channels as not.
  explicit Containment(const std::vector<PowerChannel>& channels);
  // `tells[i]`: channel i is not silent.
  Containment(const std::vector<PowerChannel>& channels, const std::vector<bool>& tells);

  // The channels that contain this one directly, in order. Several of them are side by side and
  // contain it together; empty if nothing contains it.
  const std::vector<size_t>& Within(size_t channel) const { return within_[channel]; }
  // Their names: "psys", "wall:1 + wall:2"; empty if nothing contains it.
  std::string WithinText(size_t channel) const { return Names(within_[channel]); }
  std::string Names(const std::vector<size_t>& some) const;
  // Whether `outer`, alone or with the meters beside it, contains `inner` at any depth.
  bool Contains(size_t outer, size_t inner) const;
  // Whether it reads a whole whose parts have balances of their own: a plug, a board, or what
  // contains one of them.
  bool IsContainer(size_t channel) const { return is_container_[channel]; }
  // The channels that are not silent and that no other such channel contains. Together they read
  // everything, and nothing twice.
  std::vector<size_t> Outermost() const;

  // The silent meters beside this one: what it reads is incomplete.
  std::vector<size_t> SilentBeside(size_t channel) const;

  // Contradictions between meters, and channels taken for the same thing.
  const std::vector<Note>& notes() const { return notes_; }

 private:
  void MarkContainer(size_t channel);

  std::vector<Note> notes_;
  std::vector<std::string> names_;
  std::vector<ChannelScope> scopes_;
  std::vector<bool> tells_;
  std::vector<std::vector<size_t>> around_;  // directly, silent or not
  std::vector<std::vector<size_t>> within_;
  std::vector<bool> is_container_;
};

}  // namespace beryl
