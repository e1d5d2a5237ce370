#include "flows/near_names.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::flows {
namespace {

constexpr size_t kFewNames = 12;
constexpr size_t kNear = 3;

}  // namespace

std::string NearNames(const std::string& word, const std::vector<std::string>& known) {
  std::vector<std::string> near;
  // Every word is a few letters away from a short one, and every letter one from any other.
  const size_t most = std::min(kNear, std::max<size_t>(word.size() > 1 ? 1 : 0, word.size() / 3));
  for (const std::string& name : known) {
    // A part of a long name is close too: "bert" matches the BERTs.
    if (EditDistance(name, word) <= most ||
        (!word.empty() && name.find(word) != std::string::npos)) {
      near.push_back(fmt::format("'{}'", Printable(name)));
    }
  }
  std::stable_sort(near.begin(), near.end(), [&](const auto& a, const auto& b) {
    return EditDistance(a, word) < EditDistance(b, word);
  });
  if (near.size() > kFewNames) near.resize(kFewNames);
  if (!near.empty()) return fmt::format("; did you mean {}?", fmt::join(near, ", "));
  if (known.empty() || known.size() > kFewNames) return "";
  return fmt::format("; there are {}", fmt::join(known, ", "));
}

std::string UnknownWord(const std::vector<std::string>& words,
                        const std::vector<CommandSynopsis>& commands,
                        const std::optional<CommandSynopsis>& chosen) {
  std::vector<std::string> known;
  if (!chosen) {
    if (words.empty() || words.front().starts_with('-')) return "";
    for (const CommandSynopsis& command : commands) known.push_back(command.name);
    return fmt::format("unknown command '{}'{}", words.front(), NearNames(words.front(), known));
  }
  for (const auto& option : chosen->options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  std::erase_if(known, [](const std::string& name) { return !name.starts_with("--"); });
  for (const std::string& given : words) {
    const std::string word = given.substr(0, given.find('='));
    if (!word.starts_with("--") || word == "--") continue;
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return fmt::format("unknown option '{}'{}", word, NearNames(word, known));
  }
  return "";
}

}  // namespace beryl::flows
