// A ring of records between one writer thread and one reader thread. Neither waits for the other,
// and nothing is allocated: a record without room is refused, and the writer counts that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace beryl::sources {

class Ring {
 public:
  // `bytes` is a power of two.
  explicit Ring(size_t bytes) : bytes_(bytes) {}

  // Writes the parts, concatenated, as one record; false if there is no room.
  bool Put(std::span<const std::span<const std::byte>> parts) {
    size_t size = 0;
    for (const auto& part : parts) size += part.size();
    const size_t whole = Padded(sizeof(uint64_t) + size);
    const size_t from = written_.load(std::memory_order_relaxed);
    if (whole > bytes_.size() - (from - read_.load(std::memory_order_acquire))) return false;
    const uint64_t header = size;
    size_t at = Copy(from, std::as_bytes(std::span(&header, 1)));
    for (const auto& part : parts) at = Copy(at, part);
    written_.store(from + whole, std::memory_order_release);
    return true;
  }

  // Moves the oldest record into `out`; false if there is none.
  bool Take(std::vector<std::byte>& out) {
    const size_t from = read_.load(std::memory_order_relaxed);
    if (from == written_.load(std::memory_order_acquire)) return false;
    uint64_t size = 0;
    CopyOut(from, std::as_writable_bytes(std::span(&size, 1)));
    out.resize(size);
    CopyOut(from + sizeof(size), out);
    read_.store(from + Padded(sizeof(size) + size), std::memory_order_release);
    return true;
  }

 private:
  static size_t Padded(size_t size) { return (size + 7) & ~size_t{7}; }

  // Positions only grow; their low bits are the place in the ring.
  size_t Copy(size_t at, std::span<const std::byte> part) {
    if (part.empty()) return at;
    const size_t start = at & (bytes_.size() - 1);
    const size_t first = std::min(part.size(), bytes_.size() - start);
    std::memcpy(bytes_.data() + start, part.data(), first);
    std::memcpy(bytes_.data(), part.data() + first, part.size() - first);
    return at + part.size();
  }
  void CopyOut(size_t at, std::span<std::byte> out) const {
    if (out.empty()) return;
    const size_t start = at & (bytes_.size() - 1);
    const size_t first = std::min(out.size(), bytes_.size() - start);
    std::memcpy(out.data(), bytes_.data() + start, first);
    std::memcpy(out.data() + first, bytes_.data(), out.size() - first);
  }

  std::vector<std::byte> bytes_;
  std::atomic<size_t> written_ = 0;
  std::atomic<size_t> read_ = 0;
};

}  // namespace beryl::sources
