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

void PutInOrder(const std::vector<KinetoRecord>& records, std::vector<uint32_t>& events) {
  const auto before = [&](uint32_t a, uint32_t b) { return IsBefore(records[a], records[b]); };
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
    const auto first = events.begin();
    if (to - from > 1) {
      std::stable_sort(first + static_cast<std::ptrdiff_t>(from),
                       first + static_cast<std::ptrdiff_t>(to), before);
    }
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
    PutInOrder(records, events);
    order.insert(order.end(), events.begin(), events.end());
  }
  return order;
}

}  // namespace beryl::importers
