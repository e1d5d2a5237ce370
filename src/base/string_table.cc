#include "base/string_table.h"

#include <algorithm>

namespace beryl {
namespace {
constexpr size_t kBlockBytes = size_t{1} << 16;
constexpr size_t kFirstSlots = 256;
}  // namespace

StringTable::StringTable() : slots_(kFirstSlots, 0) { Intern(""); }

StringId StringTable::Add(std::string_view text, uint64_t hash) {
  const auto id = static_cast<StringId>(entries_.size());
  entries_.push_back({Store(text), hash});
  if (entries_.size() * 2 > slots_.size()) {
    Grow();
    return id;
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = id + 1;
  return id;
}

std::string_view StringTable::Store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > block_left_) {
    block_left_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(block_left_));
    block_next_ = blocks_.back().get();
  }
  char* place = block_next_;
  std::memcpy(place, text.data(), text.size());
  block_next_ += text.size();
  block_left_ -= text.size();
  return {place, text.size()};
}

void StringTable::Grow() {
  std::vector<StringId> bigger(slots_.size() * 2, 0);
  const size_t mask = bigger.size() - 1;
  for (size_t id = 0; id < entries_.size(); ++id) {
    size_t slot = entries_[id].hash & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = static_cast<StringId>(id) + 1;
  }
  slots_ = std::move(bigger);
}

}  // namespace beryl
