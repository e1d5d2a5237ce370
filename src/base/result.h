// Result<T>: a value or an Error, shaped like std::expected, which C++20 does not have.
//
// An Error is for what stops the work: a file that cannot be opened, text that is not JSON, two
// clocks that do not meet. Bad *data* inside readable input is not an Error: it is counted and
// located in a report, and the work goes on.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace beryl {

enum class ErrorCode {
  kIo,       // the operating system said no
  kInvalid,  // the input is not what it has to be
  kMisuse,   // the caller asked for something that makes no sense; the CLI exits with 2
};

// The message says what went wrong, where, and what to do next.
struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;
};

inline Error IoError(std::string message) { return {ErrorCode::kIo, std::move(message)}; }
inline Error InvalidError(std::string message) { return {ErrorCode::kInvalid, std::move(message)}; }
inline Error MisuseError(std::string message) { return {ErrorCode::kMisuse, std::move(message)}; }

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Precondition of these: has_value().
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // Precondition: !has_value().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace beryl
