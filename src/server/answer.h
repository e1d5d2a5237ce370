// What a client is told: what it asked for, or why not, in the kinds that it can act upon.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace beryl::server {

enum class Refusal {
  kInvalid,    // the request makes no sense
  kNotFound,   // no such session, window or process
  kForbidden,  // not the caller's to see
  kTooMuch,    // a limit is reached
  kNotNow,     // it will be possible later
  kBroken,     // the machine said no
};

struct Refused {
  Refusal kind = Refusal::kInvalid;
  std::string message;
};

template <typename T>
class [[nodiscard]] Answer {
 public:
  Answer(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Answer(Refused refused) : state_(std::move(refused)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  // Precondition of these: it is no refusal.
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  // Precondition: it is one.
  const Refused& refused() const { return std::get<1>(state_); }

 private:
  std::variant<T, Refused> state_;
};

}  // namespace beryl::server
