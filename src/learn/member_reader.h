// Reads members of a JSON file that has to be right: the first thing that is not is kept, with the
// member's name, and everything after that is passed over.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "learn/member_name.h"

namespace beryl::learn {

class MemberReader {
 public:
  // Empty: nothing is wrong so far.
  const std::string& why() const { return why_; }
  bool ok() const { return why_.empty(); }
  void Fail(std::string_view path, std::string_view what);

  // These leave `into` as it is where the value is not of that kind.
  void Read(json::Value value, std::string_view path, double& into);
  void Read(json::Value value, std::string_view path, uint64_t& into);
  void Read(json::Value value, std::string_view path, bool& into);
  void Read(json::Value value, std::string_view path, std::string& into);
  void Read(json::Value value, std::string_view path, std::vector<double>& into);
  void Read(json::Value value, std::string_view path, std::vector<std::string>& into);

  // Calls visit(name, path, value) for each member, and fails if one of `required` was not there.
  template <typename Visit>
  void ReadObject(json::Value value, const std::string& path,
                  std::initializer_list<std::string_view> required, Visit&& visit) {
    if (!ok()) return;
    if (!value.IsObject()) return Expected(value, path, "an object");
    std::vector<bool> seen(required.size());
    const bool sound = value.ForEachMember([&](json::Key key, json::Value member) {
      const std::string name = PlainMemberName(key);
      size_t at = 0;
      for (const std::string_view one : required) {
        if (one == name) seen[at] = true;
        ++at;
      }
      if (ok()) visit(std::string_view(name), path + "." + name, member);
    });
    if (!sound) Fail(path, "cannot be read");
    size_t at = 0;
    for (const std::string_view one : required) {
      if (!seen[at++]) Fail(path + "." + std::string(one), "is missing");
    }
  }

 private:
  void Expected(json::Value value, std::string_view path, std::string_view what);
  std::string why_;
};

}  // namespace beryl::learn
