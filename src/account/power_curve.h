// A channel's power as a function of time: straight pieces between readings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "account/account.h"
#include "account/span.h"
#include "base/units.h"
#include "types/power_trace.h"

namespace beryl::account {

// Piece i covers [times[i], times[i+1]), from start_w[i] to end_w[i]. NaN: unknown. Power is also
// unknown before the first time and after the last.
struct PowerCurve {
  std::vector<Nanos> times;
  std::vector<double> start_w;
  std::vector<double> end_w;

  bool empty() const { return start_w.empty(); }
  Nanos start() const { return times.front(); }
  Nanos end() const { return times.back(); }
  Joules Integral() const;
  Joules Integral(Nanos from, Nanos to) const;
};

// How many readings are between two times, these included.
uint64_t ReadingsIn(const PowerChannel& channel, Span span);

PowerCurve MakeCurve(const PowerChannel& channel, Policy policy);
// The policy that MakeCurve applies to this channel: "hold", "linear" or "exact".
std::string PolicyName(const PowerChannel& channel, Policy policy);

// The part of a curve below `ceiling`: what a device draws when idle.
PowerCurve Below(const PowerCurve& curve, Watts ceiling);

// The part of a curve between two times.
PowerCurve Within(const PowerCurve& curve, Span span);

// Integrates a curve from left to right.
class CurveCursor {
 public:
  // `curve` must outlive the cursor. Starts at `from`.
  CurveCursor(const PowerCurve& curve, Nanos from);

  struct Slice {
    Joules energy;
    int64_t known_ns = 0;  // time for which power is known
  };
  // The energy from the cursor up to `to`, which must not be earlier.
  Slice Advance(Nanos to) {
    // Nearly always both ends are in one piece of constant power.
    if (to < piece_end_ && piece_slope_ == 0) {
      const int64_t time = to.value - now_.value;
      now_ = to;
      return {Joules{piece_start_w_ * static_cast<double>(time) * 1e-9}, piece_known_ ? time : 0};
    }
    return AdvanceFar(to);
  }

 private:
  Slice AdvanceFar(Nanos to);
  Slice WithinPiece(Nanos to);
  void EnterPiece();

  const PowerCurve& curve_;
  size_t next_piece_ = 0;
  Nanos now_;
  Nanos piece_begin_;
  Nanos piece_end_;
  double piece_start_w_ = 0;
  double piece_slope_ = 0;  // watts per nanosecond
  bool piece_known_ = false;
};

}  // namespace beryl::account
