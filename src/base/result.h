// Result<T>: a value or an Error, shaped like std::expected, which C++20 does not have. Status is a
// Result without a value. TRY passes an Error on to the caller.
//
// An Error is for what stops the work: a file that cannot be opened, text that is not JSON, two
// clocks that do not overlap. Bad *data* inside readable input is not an Error: it is counted and
// located in a report, and the work goes on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace beryl {

enum class ErrorCode {
  kIo,       // the operating system refused
  kInvalid,  // the input is not valid
  kMisuse,   // the caller asked for something that makes no sense; the CLI exits with 2
  // Errors that a client of the monitor can act upon.
  kNotFound,   // there is no such session, window or process
  kForbidden,  // the caller may not see it
  kTooMuch,    // a limit is reached
  kNotNow,     // impossible in the present state, such as a session that has ended
};

// The message says what went wrong, where, and what to do next, in words that hold for whoever
// asked: the command line, a client of the monitor, a script. `options` are those of the request
// that it is about, "decoder_seq"; each door adds them in its own spelling.
struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message = {};
  std::vector<std::string_view> options = {};  // of static storage
};

inline Error IoError(std::string message) { return {ErrorCode::kIo, std::move(message)}; }
inline Error InvalidError(std::string message, std::vector<std::string_view> options = {}) {
  return {ErrorCode::kInvalid, std::move(message), std::move(options)};
}
inline Error MisuseError(std::string message, std::vector<std::string_view> options = {}) {
  return {ErrorCode::kMisuse, std::move(message), std::move(options)};
}
// The same error, of a part: "run.beryl: ...".
inline Error ErrorOf(std::string_view part, Error error) {
  error.message.insert(0, std::string(part) + ": ");
  return error;
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Precondition of these: has_value().
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // Precondition: !has_value().
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void operator*() const {}

  // Precondition: !has_value().
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

// `return {};` means success.
using Status = Result<void>;

}  // namespace beryl

// The value of a Result; if it is an Error, the enclosing function returns that Error:
//   const Config config = TRY(ReadConfig(path));
//   TRY(file.Commit(bytes));
#define TRY(...)                                 \
  __extension__({                                \
    auto tried = (__VA_ARGS__);                  \
    if (!tried) return std::move(tried).error(); \
    *std::move(tried);                           \
  })
