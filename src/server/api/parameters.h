// The parameters of a request to the API. Each is asked for by name; what nobody asked for, and
// what has no such value, is refused, all of it in one answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/api/problem.h"
#include "server/http/message.h"

namespace beryl::server {

class Parameters {
 public:
  explicit Parameters(const HttpRequest& request);

  // The value, or "" if it is not given. It is wrong to give one twice.
  std::string Text(std::string_view name);
  // All values, in order.
  std::vector<std::string> Texts(std::string_view name);
  // An empty number or word is wrong, as it would be for a program that reads the contract.
  std::optional<double> Number(std::string_view name, double above);
  std::optional<int64_t> Whole(std::string_view name, int64_t least, int64_t most);
  bool Flag(std::string_view name);  // "name", "name=true", "name=1"; "false" and "0" are no
  // One of `words`; "" if it is not given.
  std::string Word(std::string_view name, const std::vector<std::string>& words);
  template <typename Value>
  Value Choice(std::string_view name, const std::vector<std::pair<std::string, Value>>& values,
               Value otherwise) {
    std::vector<std::string> words;
    for (const auto& value : values) words.push_back(value.first);
    const std::string word = Word(name, words);
    for (const auto& value : values) {
      if (value.first == word) return value.second;
    }
    return otherwise;
  }
  // "a,b" or the name several times.
  std::vector<std::string> List(std::string_view name);
  void Require(std::string_view name);
  bool IsGiven(std::string_view name) const;
  void Refuse(std::string_view name, std::string detail);

  // Once all have been asked for: everything that is wrong.
  const std::vector<ProblemPart>& Wrong();

 private:
  std::optional<std::string> Given(std::string_view name);

  std::vector<HttpField> given_;
  std::vector<bool> known_;
  std::vector<std::string> asked_;
  std::vector<ProblemPart> wrong_;
  bool is_checked_ = false;
};

}  // namespace beryl::server
