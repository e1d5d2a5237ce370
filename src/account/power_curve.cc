#include "account/power_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/compensated_sum.h"

namespace beryl::account {
namespace {

constexpr Nanos kForever{std::numeric_limits<int64_t>::max()};

double Mean(double a, double b) { return a + (b - a) / 2; }

}  // namespace

Joules PowerCurve::Integral() const {
  CompensatedSum sum;
  for (size_t i = 0; i < start_w.size(); ++i) {
    if (std::isnan(start_w[i])) continue;
    sum.Add((Watts{Mean(start_w[i], end_w[i])} * (times[i + 1] - times[i])).value);
  }
  return {sum.value()};
}

Joules PowerCurve::Integral(Nanos from, Nanos to) const {
  if (empty() || to <= from) return {};
  CurveCursor cursor(*this, from);
  return cursor.Advance(to).energy;
}

uint64_t ReadingsIn(const PowerChannel& channel, Span span) {
  const auto first = std::lower_bound(channel.times.begin(), channel.times.end(), span.from);
  return static_cast<uint64_t>(std::upper_bound(first, channel.times.end(), span.to) - first);
}

PowerCurve MakeCurve(const PowerChannel& channel, Policy policy) {
  PowerCurve curve;
  curve.times = channel.times;
  const bool counter = channel.kind == ChannelKind::kEnergyCounter;
  for (size_t i = 0; i + 1 < channel.times.size(); ++i) {
    double start = channel.values[i];
    double end = policy == Policy::kLinear ? channel.values[i + 1] : start;
    if (counter) {
      const Joules energy{channel.values[i + 1] - channel.values[i]};
      start = end = (energy / (channel.times[i + 1] - channel.times[i])).value;
    }
    curve.start_w.push_back(start);
    curve.end_w.push_back(end);
  }
  for (const PowerGap& gap : channel.gaps) {
    curve.start_w[gap.reading - 1] = curve.end_w[gap.reading - 1] = std::nan("");
  }
  return curve;
}

std::string PolicyName(const PowerChannel& channel, Policy policy) {
  if (channel.kind == ChannelKind::kEnergyCounter) return "exact";
  return policy == Policy::kLinear ? "linear" : "hold";
}

PowerCurve Below(const PowerCurve& curve, Watts ceiling) {
  PowerCurve below;
  if (curve.empty()) return below;
  auto add = [&](Nanos time, double start, double end) {
    below.times.push_back(time);
    below.start_w.push_back(std::min(start, ceiling.value));
    below.end_w.push_back(std::min(end, ceiling.value));
  };
  for (size_t i = 0; i < curve.start_w.size(); ++i) {
    const double start = curve.start_w[i];
    const double end = curve.end_w[i];
    if (std::isnan(start)) {
      below.times.push_back(curve.times[i]);
      below.start_w.push_back(start);
      below.end_w.push_back(end);
      continue;
    }
    Nanos crossing = curve.times[i];
    if ((start < ceiling.value) != (end < ceiling.value)) {
      const auto length = static_cast<double>((curve.times[i + 1] - curve.times[i]).value);
      crossing.value += std::llround(length * ((ceiling.value - start) / (end - start)));
    }
    if (crossing <= curve.times[i] || crossing >= curve.times[i + 1]) {
      add(curve.times[i], start, end);
      continue;
    }
    add(curve.times[i], start, ceiling.value);
    add(crossing, ceiling.value, end);
  }
  below.times.push_back(curve.times.back());
  return below;
}

PowerCurve Within(const PowerCurve& curve, Span span) {
  PowerCurve part;
  for (size_t i = 0; i < curve.start_w.size(); ++i) {
    const Nanos begin = curve.times[i];
    const Nanos end = curve.times[i + 1];
    const Nanos from = std::max(begin, span.from);
    const Nanos to = std::min(end, span.to);
    if (to <= from) continue;
    // An end that stays has exactly the power that it had.
    const double rise_w = curve.end_w[i] - curve.start_w[i];
    const auto length = static_cast<double>((end - begin).value);
    const auto at = [&](Nanos time) {
      return curve.start_w[i] + rise_w * (static_cast<double>((time - begin).value) / length);
    };
    part.times.push_back(from);
    part.start_w.push_back(from == begin ? curve.start_w[i] : at(from));
    part.end_w.push_back(to == end ? curve.end_w[i] : at(to));
    if (to == span.to || i + 1 == curve.start_w.size()) part.times.push_back(to);
  }
  return part;
}

CurveCursor::CurveCursor(const PowerCurve& curve, Nanos from) : curve_(curve), now_(from) {
  if (curve.empty()) {
    piece_end_ = kForever;
    return;
  }
  const auto after = std::upper_bound(curve.times.begin(), curve.times.end(), from);
  next_piece_ = static_cast<size_t>(after - curve.times.begin());
  if (next_piece_ == 0) {
    piece_begin_ = from;  // the time before the first reading counts as a piece
    piece_end_ = curve.times.front();
    return;
  }
  --next_piece_;
  EnterPiece();
}

void CurveCursor::EnterPiece() {
  if (next_piece_ >= curve_.start_w.size()) {
    piece_begin_ = curve_.times.back();
    piece_end_ = kForever;
    piece_start_w_ = piece_slope_ = 0;
    piece_known_ = false;
    return;
  }
  const size_t i = next_piece_++;
  piece_begin_ = curve_.times[i];
  piece_end_ = curve_.times[i + 1];
  piece_known_ = !std::isnan(curve_.start_w[i]);
  piece_start_w_ = piece_known_ ? curve_.start_w[i] : 0;
  const double rise = piece_known_ ? curve_.end_w[i] - curve_.start_w[i] : 0;
  piece_slope_ = rise / static_cast<double>((piece_end_ - piece_begin_).value);
}

CurveCursor::Slice CurveCursor::WithinPiece(Nanos to) {
  const int64_t time = to.value - now_.value;
  const double from_begin = static_cast<double>(now_.value - piece_begin_.value);
  const double middle = from_begin + static_cast<double>(time) / 2;
  now_ = to;
  return {Joules{(piece_start_w_ + piece_slope_ * middle) * static_cast<double>(time) * 1e-9},
          piece_known_ ? time : 0};
}

CurveCursor::Slice CurveCursor::AdvanceFar(Nanos to) {
  Slice slice;
  CompensatedSum energy;
  while (now_ < to) {
    const Slice part = WithinPiece(std::min(to, piece_end_));
    energy.Add(part.energy.value);
    slice.known_ns += part.known_ns;
    if (now_ == piece_end_) EnterPiece();
  }
  slice.energy = Joules{energy.value()};
  return slice;
}

}  // namespace beryl::account
