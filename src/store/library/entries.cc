// Entries: one row each, and a row for each of their files.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sha256.h"
#include "base/text.h"
#include "store/library/page_token.h"
#include "store/library/state.h"

namespace beryl::store {
namespace {

constexpr const char* kColumns =
    "id, kind, form, name, tags, notes, created, model, machine, profile, request, origin"
#define BERYL_ENTRY_FIGURE(name) ", " #name
    BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
    ;
constexpr size_t kLongestSearch = 1000;

SqlValue OrNull(const std::optional<double>& figure) {
  return figure && std::isfinite(*figure) ? SqlValue(*figure) : SqlValue();
}

// Sorted, each once, each on one line.
std::vector<std::string> PlainTags(const std::vector<std::string>& tags) {
  std::vector<std::string> plain;
  for (const std::string& tag : tags) {
    if (std::string text = Printable(Trim(tag)); !text.empty()) plain.push_back(std::move(text));
  }
  std::sort(plain.begin(), plain.end());
  plain.erase(std::unique(plain.begin(), plain.end()), plain.end());
  return plain;
}

// "\na\nb\n", so that "\na\n" finds a tag.
std::string TagText(const std::vector<std::string>& tags) {
  return tags.empty() ? "" : fmt::format("\n{}\n", fmt::join(tags, "\n"));
}

std::vector<std::string> TagsIn(const std::string& text) {
  std::vector<std::string> tags;
  for (const std::string_view tag : Split(text, '\n')) {
    if (!tag.empty()) tags.emplace_back(tag);
  }
  return tags;
}

std::string SearchText(const LibraryEntry& entry) {
  return LowerCase(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", entry.name, fmt::join(entry.tags, "\n"),
                               entry.notes, entry.model, entry.machine, entry.profile));
}

// A pattern of LIKE that finds the text anywhere.
std::string Anywhere(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

// The same for entries with the same files, in whatever order.
std::string ContentOf(const LibraryEntry& entry) {
  if (entry.files.empty()) return entry.id;
  std::vector<std::string> lines;
  for (const EntryFile& file : entry.files) {
    lines.push_back(
        fmt::format("{} {} {}", file.stored.digest, FileRoleName(file.role), file.rank));
  }
  std::sort(lines.begin(), lines.end());
  return Sha256Of(fmt::format("{}", fmt::join(lines, "\n")));
}

void MakePlain(LibraryEntry& entry) {
  for (std::string* text : {&entry.name, &entry.model, &entry.machine, &entry.profile}) {
    *text = Printable(*text);
  }
  entry.tags = PlainTags(entry.tags);
  entry.notes = StoredText(entry.notes);
}

LibraryEntry EntryOf(const SqlRow& row) {
  LibraryEntry entry;
  entry.id = TextOf(row[0]);
  entry.kind = FindEntryKind(TextOf(row[1])).value_or(EntryKind::kRun);
  entry.form = FindRunForm(TextOf(row[2]));
  entry.name = TextOf(row[3]);
  entry.tags = TagsIn(TextOf(row[4]));
  entry.notes = TextOf(row[5]);
  entry.created = TimeOf(row[6]).value_or(Nanos{});
  entry.model = TextOf(row[7]);
  entry.machine = TextOf(row[8]);
  entry.profile = TextOf(row[9]);
  entry.request = TextOf(row[10]);
  entry.origin = FindOrigin(TextOf(row[11]));
  size_t column = 12;
#define BERYL_ENTRY_FIGURE(name) entry.figures.name = NumberOf(row[column++]);
  BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  return entry;
}

Status ReadFilesOf(Session& session, std::vector<LibraryEntry>& entries) {
  std::map<std::string, LibraryEntry*> by_id;
  std::vector<std::string> ids;
  for (LibraryEntry& entry : entries) {
    by_id[entry.id] = &entry;
    ids.push_back(entry.id);
  }
  return ReadFiles(session, ids, [&](const std::string& id, EntryFile file) {
    by_id.at(id)->files.push_back(std::move(file));
  });
}

// The entry that `where` finds with one parameter, with its files.
Result<std::optional<LibraryEntry>> FindEntry(Session& session, const std::string& where,
                                              const SqlRow& parameters) {
  const auto rows = TRY(
      session.Execute(fmt::format("SELECT {} FROM entry WHERE {}", kColumns, where), parameters));
  if (rows.empty()) return std::optional<LibraryEntry>();
  std::vector<LibraryEntry> found = {EntryOf(rows[0])};
  TRY(ReadFilesOf(session, found));
  return std::optional(std::move(found[0]));
}

Result<LibraryEntry> LoadEntry(Session& session, const std::string& library, const std::string& id,
                               const std::string& lock = "") {
  auto found = TRY(FindEntry(session, "id = $1" + lock, {id}));
  if (found) return *std::move(found);
  return Error{ErrorCode::kNotFound,
               fmt::format("{}: there is no entry '{}'", library, Printable(id))};
}

Status InsertEntry(Database& database, Session& session, const LibraryEntry& entry) {
  SqlRow values = {entry.id,
                   std::string(EntryKindName(entry.kind)),
                   std::string(entry.form ? RunFormName(*entry.form) : ""),
                   entry.name,
                   TagText(entry.tags),
                   entry.notes,
                   entry.created.value,
                   entry.model,
                   entry.machine,
                   entry.profile,
                   entry.request,
                   std::string(entry.origin ? OriginName(*entry.origin) : "")};
#define BERYL_ENTRY_FIGURE(name) values.push_back(OrNull(entry.figures.name));
  BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  values.push_back(ContentOf(entry));
  values.push_back(SearchText(entry));
  TRY(session.Execute(fmt::format("INSERT INTO entry ({}, content, search) VALUES ({})", kColumns,
                                  Placeholders(1, values.size())),
                      values));
  return AddFiles(database, session, entry.id, entry.files);
}

// The conditions of a filter, with their parameters.
struct Conditions {
  std::string sql = "TRUE";
  SqlRow parameters;

  // `condition` has one "{}", for the parameter.
  void Add(std::string_view condition, SqlValue value) {
    parameters.push_back(std::move(value));
    sql += " AND " + fmt::format(fmt::runtime(condition), fmt::format("${}", parameters.size()));
  }
  // What says which list it is, for page tokens.
  std::string Text() const {
    std::string text = sql;
    for (const SqlValue& value : parameters) {
      text += fmt::format("\n{}{}", TextOf(value), WholeOf(value));
    }
    return text;
  }
};

Result<Conditions> ConditionsOf(const EntryFilter& filter) {
  Conditions conditions;
  if (filter.kind) conditions.Add("kind = {}", std::string(EntryKindName(*filter.kind)));
  if (filter.form) conditions.Add("form = {}", std::string(RunFormName(*filter.form)));
  for (const std::string& tag : PlainTags(filter.tags)) {
    conditions.Add("tags LIKE {} ESCAPE '\\'", Anywhere("\n" + tag + "\n"));
  }
  if (!filter.model.empty()) conditions.Add("model = {}", Printable(filter.model));
  if (!filter.machine.empty()) conditions.Add("machine = {}", Printable(filter.machine));
  if (!filter.profile.empty()) conditions.Add("profile = {}", Printable(filter.profile));
  if (filter.text.size() > kLongestSearch) {
    return MisuseError(fmt::format("the text to search for has more than {} bytes", kLongestSearch),
                       {"text"});
  }
  if (!filter.text.empty()) {
    conditions.Add("search LIKE {} ESCAPE '\\'", Anywhere(LowerCase(StoredText(filter.text))));
  }
  if (filter.since) conditions.Add("created >= {}", filter.since->value);
  if (filter.until) conditions.Add("created < {}", filter.until->value);
  return conditions;
}

}  // namespace

Result<LibraryEntry> EntryToAdd(LibraryEntry entry) {
  MakePlain(entry);
  if (entry.id.empty()) entry.id = RandomName();
  if (!IsLibraryId(entry.id)) {
    return MisuseError(fmt::format("'{}' cannot be the id of an entry", Printable(entry.id)));
  }
  if (!entry.request.empty()) {
    entry.request = TRY(StoredJson(std::move(entry.request), "request of the entry"));
  }
  return entry;
}

Result<AddedEntry> AddEntry(Database& database, Session& session, const std::string& library,
                            LibraryEntry entry) {
  auto same = TRY(FindEntry(session, "kind = $1 AND content = $2",
                            {std::string(EntryKindName(entry.kind)), ContentOf(entry)}));
  if (!same) same = TRY(FindEntry(session, "id = $1", {entry.id}));
  if (same) return AddedEntry{*std::move(same), false};
  if (entry.created == Nanos{}) entry.created = TRY(database.Now(session));
  TRY(InsertEntry(database, session, entry));
  return AddedEntry{TRY(LoadEntry(session, library, entry.id)), true};
}

Result<AddedEntry> Library::Add(LibraryEntry entry) {
  const LibraryEntry plain = TRY(EntryToAdd(std::move(entry)));
  return state_->database->Change(
      [&](Session& session) { return AddEntry(*state_->database, session, name(), plain); });
}

Result<LibraryEntry> Library::Get(const std::string& id) {
  return state_->database->Read([&](Session& session) { return LoadEntry(session, name(), id); });
}

Result<EntryPage> Library::List(const EntryFilter& filter, const PageRequest& request) {
  TRY(CheckPage(request));
  auto conditions = TRY(ConditionsOf(filter));
  const std::string list = "entries " + conditions.Text();
  if (!request.token.empty()) {
    const PageEnd before = TRY(ReadPageToken(list, request.token));
    // Each condition has one parameter.
    conditions.sql +=
        fmt::format(" AND (created, id) < (${}, ${})", conditions.parameters.size() + 1,
                    conditions.parameters.size() + 2);
    conditions.parameters.emplace_back(before.created.value);
    conditions.parameters.emplace_back(before.id);
  }
  return state_->database->Read([&](Session& session) -> Result<EntryPage> {
    EntryPage page;
    const auto rows = TRY(session.Execute(
        fmt::format("SELECT {} FROM entry WHERE {} ORDER BY created DESC, id DESC LIMIT {}",
                    kColumns, conditions.sql, request.size + 1),
        conditions.parameters));
    for (const SqlRow& row : rows) page.entries.push_back(EntryOf(row));
    if (page.entries.size() > static_cast<size_t>(request.size)) {
      page.entries.pop_back();
      const LibraryEntry& last = page.entries.back();
      page.next_token = MakePageToken(list, {last.created, last.id});
    }
    TRY(ReadFilesOf(session, page.entries));
    return page;
  });
}

Result<LibraryEntry> Library::Change(const std::string& id, const EntryPatch& patch) {
  return state_->database->Change([&](Session& session) -> Result<LibraryEntry> {
    LibraryEntry entry = TRY(LoadEntry(session, name(), id, state_->database->dialect().lock));
    if (patch.name) entry.name = *patch.name;
    if (patch.tags) entry.tags = *patch.tags;
    if (patch.notes) entry.notes = *patch.notes;
    if (patch.model) entry.model = *patch.model;
    if (patch.accuracy) {
      entry.figures.accuracy =
          std::isfinite(*patch.accuracy) ? std::optional(*patch.accuracy) : std::nullopt;
    }
    MakePlain(entry);
    TRY(
        session.Execute("UPDATE entry SET name = $2, tags = $3, notes = $4, model = $5, "
                        "accuracy = $6, search = $7 WHERE id = $1",
                        {id, entry.name, TagText(entry.tags), entry.notes, entry.model,
                         OrNull(entry.figures.accuracy), SearchText(entry)}));
    return entry;
  });
}

Result<LibraryEntry> Library::Remove(const std::string& id) {
  return state_->database->Change([&](Session& session) -> Result<LibraryEntry> {
    LibraryEntry entry = TRY(LoadEntry(session, name(), id, state_->database->dialect().lock));
    TRY(session.Execute("DELETE FROM file_use WHERE owner = $1", {id}));
    TRY(session.Execute("DELETE FROM entry WHERE id = $1", {id}));
    return entry;
  });
}

}  // namespace beryl::store
