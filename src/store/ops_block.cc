#include "store/ops_block.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "store/encoding.h"

namespace beryl::store {
namespace {

// Where operations ran: a lane of a device. A block has few, so they are listed and numbered.
struct Place {
  uint64_t lane = 0;  // plus one; 0: none
  uint16_t device = 0;
  OpGlance::Device ran;
};

// What stands before the columns.
struct Head {
  uint64_t count = 0;
  uint64_t unit = 1;
  int64_t first_start = 0;
  int64_t last_start = 0;
  std::vector<Place> places;
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
  Head head;
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
    if (is_new) head.places.push_back({lane, op.device, {}});
    head.places[place->second].ran.Include(op.start, op.end, 1);
    places.push_back(place->second);
    if (i + 1 == ops.size() || ops[i + 1].step != op.step) {
      // A sequence of one step: its number, and where it ends.
      PutVarint(steps, op.step == kNoStep ? 0 : uint64_t{op.step} + 1);
      PutVarint(steps, i + 1);
      ++step_runs;
    }
  }
  std::string out;
  const int64_t first = ops.empty() ? 0 : ops.front().start.value;
  PutVarint(out, ops.size());
  PutVarint(out, unit);
  PutSigned(out, first);
  PutVarint(out, static_cast<uint64_t>(before.value - first));
  PutVarint(out, head.places.size());
  for (const Place& place : head.places) {
    PutVarint(out, place.lane);
    PutVarint(out, place.device);
    PutVarint(out, place.ran.count);
    PutVarint(out, static_cast<uint64_t>(place.ran.start.value - first));
    PutVarint(out, static_cast<uint64_t>((place.ran.end - place.ran.start).value));
  }
  PutVarint(out, step_runs);
  out += steps;
  for (const auto* column : {&starts, &durations, &kinds, &places}) PutColumn(out, *column);
  return out;
}

namespace {

// The time `after` past `from`, saturated.
int64_t Later(int64_t from, uint64_t after) {
  return after > static_cast<uint64_t>(kFarthestTime - from) ? kFarthestTime
                                                             : from + static_cast<int64_t>(after);
}

std::optional<Head> ReadHead(Decoder& decoder, const OpNumbers& numbers) {
  Head head;
  head.count = decoder.Varint();
  head.unit = decoder.Varint();
  head.first_start = decoder.Signed();
  if (head.count > kOpsInBlock || head.unit == 0 || head.unit > 1'000'000'000) return std::nullopt;
  if (head.first_start < -kFarthestTime || head.first_start > kFarthestTime) return std::nullopt;
  head.last_start = Later(head.first_start, decoder.Varint());
  for (size_t left = decoder.Count(); left > 0; --left) {
    Place place;
    place.lane = decoder.Below(uint64_t{kMostLanes} + 1);
    const uint32_t device = decoder.Below(numbers.devices.size());
    place.ran.count = decoder.Varint();
    place.ran.start = Nanos{Later(head.first_start, decoder.Varint())};
    place.ran.end = Nanos{Later(place.ran.start.value, decoder.Varint())};
    if (decoder.failed() || place.ran.count > head.count) return std::nullopt;
    place.device = numbers.devices[device];
    head.places.push_back(place);
  }
  return head;
}

bool ReadSteps(Decoder& decoder, const OpNumbers& numbers, std::vector<Op>& ops) {
  size_t filled = 0;
  for (size_t left = decoder.Count(); left > 0; --left) {
    const uint32_t number = decoder.Below(numbers.steps.size() + 1);
    const uint64_t until = decoder.Varint();
    if (decoder.failed() || until > ops.size()) return false;
    const uint32_t step = number == 0 ? kNoStep : numbers.steps[number - 1];
    for (; filled < until; ++filled) ops[filled].step = step;
  }
  return filled == ops.size();
}

bool Decode(std::string_view bytes, const OpNumbers& numbers, std::vector<Op>& ops) {
  Decoder decoder(bytes);
  const auto head = ReadHead(decoder, numbers);
  if (!head) return false;
  ops.resize(head->count);
  if (!ReadSteps(decoder, numbers, ops)) return false;
  ColumnReader starts(decoder, head->count);
  ColumnReader durations(decoder, head->count);
  ColumnReader kinds(decoder, head->count);
  ColumnReader places(decoder, head->count);
  if (!starts.ok() || !durations.ok() || !kinds.ok() || !places.ok()) return false;
  const uint64_t longest = 2 * static_cast<uint64_t>(kFarthestTime) / head->unit;
  int64_t start = head->first_start;
  for (Op& op : ops) {
    const uint64_t delta = starts.Next();
    const uint64_t duration = durations.Next();
    const uint64_t kind = kinds.Next();
    const uint64_t number = places.Next();
    if (delta > longest || duration > longest || kind >= numbers.kinds ||
        number >= head->places.size()) {
      return false;
    }
    const Place& place = head->places[number];
    start = Later(start, delta * head->unit);
    op.start = Nanos{start};
    op.end = Nanos{Later(start, duration * head->unit)};
    // Others rely on the block's summary, so check it.
    if (op.start < place.ran.start || op.end > place.ran.end) return false;
    op.kind = numbers.first_kind + static_cast<uint32_t>(kind);
    op.lane =
        place.lane == 0 ? kNoLane : numbers.first_lane + static_cast<uint32_t>(place.lane - 1);
    op.device = place.device;
  }
  return start <= head->last_start;
}

}  // namespace

bool RunFileOps::Add(std::string bytes, std::shared_ptr<const OpNumbers> numbers) {
  Decoder decoder(bytes);
  const auto head = ReadHead(decoder, *numbers);
  if (!head || head->first_start < last_start_) return false;
  last_start_ = head->last_start;
  for (const Place& place : head->places) {
    if (place.device >= glance_.devices.size()) glance_.devices.resize(place.device + size_t{1});
    glance_.devices[place.device].Include(place.ran.start, place.ran.end, place.ran.count);
  }
  blocks_.push_back({std::move(bytes), std::move(numbers)});
  return true;
}

bool RunFileOps::Unpack(size_t block, std::vector<Op>& ops) const {
  if (Decode(blocks_[block].bytes, *blocks_[block].numbers, ops)) return true;
  ops.clear();
  return false;
}

}  // namespace beryl::store
