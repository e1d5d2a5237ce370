// Finds the forward operation of a backward operation.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "importers/number_index.h"
#include "importers/pytorch_records.h"

namespace beryl::importers {

class ForwardOperations {
 public:
  // `records` must outlive this.
  explicit ForwardOperations(const std::vector<KinetoRecord>& records) : records_(records) {}

  // A forward operation that has a sequence number.
  void Remember(uint32_t index) {
    Remember({records_[index].sequence, records_[index].thread}, index);
    Remember({records_[index].sequence, kAnyThread}, index);
  }

  // Each forward thread counts on its own. On a CPU, backward runs on the thread of its forward
  // pass, so prefer that thread's operation with the number.
  uint32_t Of(const KinetoRecord& record) const {
    if (record.sequence == kNoNumber) return NumberIndex::kNone;
    auto forward = forwards_.find({record.sequence, record.thread});
    if (forward == forwards_.end()) forward = forwards_.find({record.sequence, kAnyThread});
    return forward == forwards_.end() ? NumberIndex::kNone : forward->second;
  }

 private:
  struct Key {
    int64_t sequence;
    StringId thread;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return static_cast<uint64_t>(key.sequence) * 0x9E3779B97F4A7C15ULL + key.thread;
    }
  };
  static constexpr StringId kAnyThread = std::numeric_limits<StringId>::max();

  // The last operation with a number, by start, made the backward node.
  void Remember(const Key& key, uint32_t index) {
    auto [entry, is_new] = forwards_.try_emplace(key, index);
    if (!is_new && records_[entry->second].start <= records_[index].start) entry->second = index;
  }

  const std::vector<KinetoRecord>& records_;
  std::unordered_map<Key, uint32_t, KeyHash> forwards_;
};

}  // namespace beryl::importers
