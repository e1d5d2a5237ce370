#include "importers/pytorch_order.h"

#include <algorithm>
#include <map>

#include "base/sort_by_key.h"

namespace beryl::importers {
namespace {

bool IsBefore(const KinetoRecord& x, const KinetoRecord& y) {
  if (x.start != y.start) return x.start < y.start;
  if (x.end != y.end) return x.end > y.end;
  auto rank = [](KinetoCategory category) {
    if (category == KinetoCategory::kAnnotation) return 0;
    if (category == KinetoCategory::kModule) return 1;
    return category == KinetoCategory::kCpuOp ? 2 : 3;
  };
  if (rank(x.category) != rank(y.category)) return rank(x.category) < rank(y.category);
  // Old versions write whole microseconds, and events in the order they ended; ids go by start.
  if (x.external_id != y.external_id && x.category == y.category) {
    return x.external_id < y.external_id;
  }
  return false;
}

// Of events that start together, which are few, in the order that `before` says; those that it does
// not tell apart stay as they are.
template <typename Before>
void OrderEqualStarts(uint32_t* first, uint32_t* last, Before&& before) {
  constexpr std::ptrdiff_t kFew = 32;
  if (last - first > kFew) {
    std::stable_sort(first, last, before);
    return;
  }
  for (uint32_t* next = first + 1; next < last; ++next) {
    std::rotate(std::upper_bound(first, next, *next, before), next, next + 1);
  }
}

// By start, and then as `before` says. Equal ones stay in the order of the file.
template <typename Before>
void PutInOrder(const std::vector<KinetoRecord>& records, std::vector<uint32_t>& events,
                Before&& before_record) {
  const auto before = [&](uint32_t a, uint32_t b) { return before_record(records[a], records[b]); };
  // Newer versions write a thread's events in order, older ones in the order they ended.
  if (std::is_sorted(events.begin(), events.end(), before)) return;
  constexpr uint64_t kSignBit = uint64_t{1} << 63;
  std::vector<KeyedIndex> by_start;
  by_start.reserve(events.size());
  for (const uint32_t event : events) {
    by_start.push_back({static_cast<uint64_t>(records[event].start.value) ^ kSignBit, event});
  }
  SortByKey(by_start);
  for (size_t i = 0; i < events.size(); ++i) events[i] = by_start[i].index;
  for (size_t from = 0, to = 0; from < events.size(); from = to) {
    while (to < events.size() && by_start[to].key == by_start[from].key) ++to;
    if (to - from > 1) OrderEqualStarts(events.data() + from, events.data() + to, before);
  }
}

}  // namespace

std::vector<uint32_t> HostOrder(const std::vector<KinetoRecord>& records) {
  std::map<StringId, std::vector<uint32_t>> of_thread;
  std::vector<uint32_t>* last = nullptr;
  StringId last_thread = 0;
  for (uint32_t i = 0; i < records.size(); ++i) {
    if (!IsHostOp(records[i].category) && !IsScope(records[i].category)) continue;
    if (last == nullptr || records[i].thread != last_thread) {
      last_thread = records[i].thread;
      last = &of_thread[last_thread];
    }
    last->push_back(i);
  }
  std::vector<uint32_t> order;
  for (auto& [thread, events] : of_thread) {
    PutInOrder(records, events, IsBefore);
    order.insert(order.end(), events.begin(), events.end());
  }
  return order;
}

std::vector<uint32_t> DeviceOrder(const std::vector<KinetoRecord>& records) {
  std::vector<uint32_t> order;
  bool encloses = false;
  for (uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].category != KinetoCategory::kDevice) continue;
    order.push_back(i);
    encloses = encloses || records[i].encloses;
  }
  if (encloses) {
    PutInOrder(records, order, [](const KinetoRecord& x, const KinetoRecord& y) {
      return x.start != y.start ? x.start < y.start : x.end > y.end;
    });
  }
  return order;
}

}  // namespace beryl::importers
