// Connections to the database of a library that nobody uses now. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace beryl::store {

template <typename Connection>
class IdleConnections {
 public:
  // Null if there is none.
  std::unique_ptr<Connection> Take() {
    const std::lock_guard lock(mutex_);
    if (connections_.empty()) return nullptr;
    auto connection = std::move(connections_.back());
    connections_.pop_back();
    return connection;
  }
  void Put(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock(mutex_);
    connections_.push_back(std::move(connection));
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    connections_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace beryl::store
