#include "store/ops_block.h"

#include <algorithm>
#include <unordered_map>

#include "store/encoding.h"

namespace beryl::store {
namespace {

// Where an operation ran: its lane and its device. Few in a block, so they are listed and numbered.
struct Place {
  uint64_t lane = 0;  // plus one; 0: none
  uint16_t device = 0;
};

// Most traces count in whole microseconds; then so does the block.
uint64_t UnitOf(const std::vector<Op>& ops) {
  constexpr int64_t kMicro = 1000;
  return std::all_of(ops.begin(), ops.end(),
                     [](const Op& op) {
                       return op.start.value % kMicro == 0 && op.end.value % kMicro == 0;
                     })
             ? kMicro
             : 1;
}

}  // namespace

std::string EncodeOps(const std::vector<Op>& ops) {
  const uint64_t unit = UnitOf(ops);
  std::vector<uint64_t> starts;
  std::vector<uint64_t> durations;
  std::vector<uint64_t> kinds;
  std::vector<uint64_t> places;
  std::unordered_map<uint64_t, uint64_t> number_of_place;
  std::string place_list;
  std::string steps;
  uint64_t step_runs = 0;
  for (auto* column : {&starts, &durations, &kinds, &places}) column->reserve(ops.size());
  Nanos before = ops.empty() ? Nanos{} : ops.front().start;
  for (size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    starts.push_back(static_cast<uint64_t>((op.start - before).value) / unit);
    before = op.start;
    durations.push_back(static_cast<uint64_t>((op.end - op.start).value) / unit);
    kinds.push_back(op.kind);
    const uint64_t lane = op.lane == kNoLane ? 0 : uint64_t{op.lane} + 1;
    const auto [place, is_new] =
        number_of_place.try_emplace(lane << 16 | op.device, number_of_place.size());
    if (is_new) {
      PutVarint(place_list, lane);
      PutVarint(place_list, op.device);
    }
    places.push_back(place->second);
    if (i + 1 == ops.size() || ops[i + 1].step != op.step) {
      // A run of one step: its number, and where it ends.
      PutVarint(steps, op.step == kNoStep ? 0 : uint64_t{op.step} + 1);
      PutVarint(steps, i + 1);
      ++step_runs;
    }
  }
  std::string out;
  PutVarint(out, ops.size());
  PutVarint(out, unit);
  PutSigned(out, ops.empty() ? 0 : ops.front().start.value);
  PutVarint(out, number_of_place.size());
  out += place_list;
  PutVarint(out, step_runs);
  out += steps;
  for (const auto* column : {&starts, &durations, &kinds, &places}) PutColumn(out, *column);
  return out;
}

bool DecodeOps(std::string_view bytes, const OpNumbers& numbers, std::vector<Op>& ops) {
  Decoder decoder(bytes);
  const uint64_t count = decoder.Varint();
  const uint64_t unit = decoder.Varint();
  int64_t start = decoder.Signed();
  if (count > kOpsInBlock || unit == 0 || unit > 1'000'000'000) return false;
  if (start < -kFarthestTime || start > kFarthestTime) return false;

  std::vector<Place> places;
  for (size_t left = decoder.Count(); left > 0; --left) {
    Place place;
    place.lane = decoder.Below(uint64_t{kMostLanes} + 1);
    place.device = static_cast<uint16_t>(decoder.Below(numbers.devices.size()));
    if (decoder.failed()) return false;
    place.device = numbers.devices[place.device];
    places.push_back(place);
  }
  ops.resize(count);
  size_t filled = 0;
  for (size_t left = decoder.Count(); left > 0; --left) {
    const uint32_t number = decoder.Below(numbers.steps.size() + 1);
    const uint64_t until = decoder.Varint();
    if (decoder.failed() || until > count) return false;
    const uint32_t step = number == 0 ? kNoStep : numbers.steps[number - 1];
    for (; filled < until; ++filled) ops[filled].step = step;
  }
  if (filled != count) return false;

  ColumnReader starts(decoder, count);
  ColumnReader durations(decoder, count);
  ColumnReader kinds(decoder, count);
  ColumnReader place_numbers(decoder, count);
  if (!starts.ok() || !durations.ok() || !kinds.ok() || !place_numbers.ok()) return false;
  const uint64_t longest = static_cast<uint64_t>(kFarthestTime) * 2 / unit;
  // Everything is checked, and once at the end: a branch an operation would cost more.
  bool good = true;
  for (Op& op : ops) {
    const uint64_t delta = starts.Next();
    const uint64_t duration = durations.Next();
    const uint64_t kind = kinds.Next();
    uint64_t place = place_numbers.Next();
    good = good && delta <= longest && duration <= longest && kind < numbers.kinds &&
           place < places.size();
    if (!good) return false;
    start += static_cast<int64_t>(delta * unit);
    if (start > kFarthestTime) return false;
    op.start = Nanos{start};
    op.end = Nanos{start + static_cast<int64_t>(std::min(
                               duration * unit, static_cast<uint64_t>(kFarthestTime - start)))};
    op.kind = numbers.first_kind + static_cast<uint32_t>(kind);
    const Place& at = places[place];
    op.lane = at.lane == 0 ? kNoLane : numbers.first_lane + static_cast<uint32_t>(at.lane - 1);
    op.device = at.device;
  }
  return true;
}

}  // namespace beryl::store
