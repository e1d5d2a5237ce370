#include "types/library_json.h"

#include <array>
#include <charconv>
#include <ctime>

#include "base/json.h"
#include "base/text.h"

namespace beryl {
namespace {

constexpr int64_t kBillion = 1'000'000'000;

std::optional<std::string> OrNull(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// "NNNN" at a place of a text.
std::optional<int> DigitsAt(std::string_view text, size_t at, size_t count) {
  int number = 0;
  const char* const begin = text.data() + at;
  const auto read = std::from_chars(begin, begin + count, number);
  return read.ec == std::errc() && read.ptr == begin + count && *begin != '-'
             ? std::optional(number)
             : std::nullopt;
}

// Reads the members of one object, and keeps what was wrong first.
class EntryReader {
 public:
  std::optional<LibraryEntry> Read(json::Value value) {
    const bool whole =
        value.ForEachMember([&](json::Key key, json::Value member) { TakeMember(key, member); });
    if (!whole) wrong_ = "it is not a whole object";
    if (wrong_.empty() && !IsLibraryId(entry_.id)) wrong_ = "it has no valid 'id'";
    if (!wrong_.empty()) return std::nullopt;
    return std::move(entry_);
  }
  const std::string& wrong() const { return wrong_; }

 private:
  void Refuse(const char* member) {
    if (wrong_.empty()) wrong_ = std::string("its '") + member + "' is not valid";
  }

  void Take(json::Value value, const char* member, std::string& text) {
    if (value.Token() == "null") return;
    const auto found = value.String();
    if (!found) return Refuse(member);
    text = std::string(*found);
  }
  template <typename Enum, typename Find>
  void TakeWord(json::Value value, const char* member, Enum& word, Find&& find) {
    if (value.Token() == "null") return;
    const auto text = value.String();
    const auto found = text ? find(*text) : std::nullopt;
    if (!found) return Refuse(member);
    word = *found;
  }

  void TakeMember(json::Key key, json::Value value) {
    if (key == "id") return Take(value, "id", entry_.id);
    if (key == "name") return Take(value, "name", entry_.name);
    if (key == "notes") return Take(value, "notes", entry_.notes);
    if (key == "model") return Take(value, "model", entry_.model);
    if (key == "machine") return Take(value, "machine", entry_.machine);
    if (key == "profile") return Take(value, "profile", entry_.profile);
    if (key == "kind") return TakeWord(value, "kind", entry_.kind, FindEntryKind);
    if (key == "form") return TakeWord(value, "form", entry_.form, FindRunForm);
    if (key == "origin") return TakeWord(value, "origin", entry_.origin, FindOrigin);
    if (key == "created") return TakeWord(value, "created", entry_.created, ParseTimeText);
    if (key == "request") {
      if (value.Token() == "null") return;
      entry_.request = std::string(value.Raw(std::string_view::npos));
      if (!IsJsonObject(entry_.request)) Refuse("request");
    }
    if (key == "tags" && !value.ForEachElement([&](json::Value tag) {
          const auto text = tag.String();
          if (text) entry_.tags.emplace_back(*text);
          if (!text) Refuse("tags");
        })) {
      Refuse("tags");
    }
    if (key == "figures" && !value.ForEachMember([&](json::Key name, json::Value figure) {
          TakeFigure(name, figure);
        })) {
      Refuse("figures");
    }
    if (key == "files" && !value.ForEachElement([&](json::Value file) { TakeFile(file); })) {
      Refuse("files");
    }
  }

  void TakeFigure(json::Key name, json::Value value) {
    const std::string_view token = value.Token();
    if (token == "null") return;
    const auto number = ParseNumber(token);
    if (!number) return Refuse("figures");
#define BERYL_ENTRY_FIGURE(figure) \
  if (name == #figure) entry_.figures.figure = number;
    BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  }

  void TakeFile(json::Value value) {
    EntryFile file;
    const bool whole = value.ForEachMember([&](json::Key key, json::Value member) {
      if (key == "name") Take(member, "name", file.name);
      if (key == "digest") Take(member, "digest", file.stored.digest);
      if (key == "rank") Take(member, "rank", file.rank);
      if (key == "media_type") Take(member, "media_type", file.media_type);
      if (key == "role") TakeWord(member, "role", file.role, FindFileRole);
      if (key == "bytes") {
        const auto bytes = member.Integer();
        if (!bytes || *bytes < 0) return Refuse("bytes");
        file.stored.bytes = static_cast<uint64_t>(*bytes);
      }
    });
    if (!whole || !IsDigest(file.stored.digest)) Refuse("files");
    entry_.files.push_back(std::move(file));
  }

  LibraryEntry entry_;
  std::string wrong_;
};

}  // namespace

std::string TimeText(Nanos time) {
  int64_t seconds = time.value / kBillion;
  int64_t nanos = time.value % kBillion;
  if (nanos < 0) {
    nanos += kBillion;
    --seconds;
  }
  std::tm parts{};
  const auto when = static_cast<std::time_t>(seconds);
  ::gmtime_r(&when, &parts);
  std::array<char, 64> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string digits = std::to_string(kBillion + nanos);  // all nine of them
  digits.front() = '.';
  return std::string(text.data(), length) + digits + "Z";
}

std::optional<Nanos> ParseTimeText(std::string_view given) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000000000Z";
  constexpr size_t kDate = 10;
  constexpr size_t kSeconds = 19;
  std::string text(given);
  if (text.size() == kDate) text += kForm.substr(kDate);
  if (text.size() == kSeconds + 1 && text.back() == 'Z') {
    text.pop_back();
    text += kForm.substr(kSeconds);
  }
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : text[i] != kForm[i]) return std::nullopt;
  }
  std::tm parts{};
  parts.tm_year = *DigitsAt(text, 0, 4) - 1900;
  parts.tm_mon = *DigitsAt(text, 5, 2) - 1;
  parts.tm_mday = *DigitsAt(text, 8, 2);
  parts.tm_hour = *DigitsAt(text, 11, 2);
  parts.tm_min = *DigitsAt(text, 14, 2);
  parts.tm_sec = *DigitsAt(text, 17, 2);
  const int64_t seconds = ::timegm(&parts);
  if (seconds < -9'000'000'000 || seconds > 9'000'000'000) return std::nullopt;
  const Nanos time = {seconds * kBillion + *DigitsAt(text, 20, 9)};
  // A day that there is not, such as February 30, would become another.
  return TimeText(time) == text ? std::optional(time) : std::nullopt;
}

bool IsJsonObject(const std::string& text) {
  return Trim(text).starts_with('{') && !json::FindSyntaxError(text);
}

void WriteEntryMembers(JsonWriter& json, const LibraryEntry& entry) {
  json.Member("id", entry.id).Member("kind", EntryKindName(entry.kind));
  json.Member("form", entry.form ? std::optional(RunFormName(*entry.form)) : std::nullopt);
  json.Member("name", entry.name).Member("tags", entry.tags).Key("notes").Lines(entry.notes);
  json.Member("created", TimeText(entry.created)).Member("model", OrNull(entry.model));
  json.Member("machine", OrNull(entry.machine)).Member("profile", OrNull(entry.profile));
  json.Member("origin", entry.origin ? std::optional(OriginName(*entry.origin)) : std::nullopt);
  json.Key("request").Json(entry.request.empty() ? "null" : entry.request);
  json.Key("figures").BeginObject();
#define BERYL_ENTRY_FIGURE(name) json.Member(#name, entry.figures.name);
  BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  json.End().Member("bytes", entry.bytes());
  json.Objects("files", entry.files, [&](const EntryFile& file) {
    json.Member("name", file.name).Member("role", FileRoleName(file.role));
    json.Member("rank", OrNull(file.rank)).Member("bytes", file.stored.bytes);
    json.Member("digest", file.stored.digest).Member("media_type", OrNull(file.media_type));
  });
}

std::string WriteManifest(const std::vector<LibraryEntry>& entries, const Provenance& provenance) {
  JsonWriter json(1);
  json.BeginObject().Member("schema", kManifestSchema);
  WriteProvenance(json, provenance);
  json.Objects("entries", entries,
               [&](const LibraryEntry& entry) { WriteEntryMembers(json, entry); });
  json.End();
  return json.Take() + "\n";
}

namespace {

// Of a JSON object with that schema; `what` it should be.
Result<std::vector<LibraryEntry>> ReadEntriesOf(const char* wanted, const char* what,
                                                std::string text, const std::string& name) {
  std::vector<LibraryEntry> entries;
  std::string schema;
  std::string wrong;
  bool has_entries = false;
  TRY(json::WalkObject(text, name, [&](json::Key key, json::Value value) {
    if (key == "schema") schema = std::string(value.String().value_or(""));
    if (!(key == "entries")) return;
    has_entries = value.ForEachElement([&](json::Value element) {
      EntryReader reader;
      auto entry = reader.Read(element);
      if (entry) entries.push_back(*std::move(entry));
      if (!entry && wrong.empty()) {
        wrong = "entry " + std::to_string(entries.size() + 1) + ": " + reader.wrong();
      }
    });
  }));
  if (schema != wanted) {
    return InvalidError(name + ": this is no " + what + ": its 'schema' is not " + wanted);
  }
  if (!has_entries) wrong = "it has no list of 'entries'";
  if (!wrong.empty()) return InvalidError(name + ": " + wrong);
  return entries;
}

}  // namespace

Result<std::vector<LibraryEntry>> ReadEntries(std::string text, const std::string& name) {
  return ReadEntriesOf(kListSchema, "list of a library", std::move(text), name);
}

Result<std::vector<LibraryEntry>> ReadManifest(std::string text, const std::string& name) {
  return ReadEntriesOf(kManifestSchema, "manifest of a library", std::move(text), name);
}

}  // namespace beryl
