#include "server/api/library_entries.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "flows/lent_files.h"
#include "flows/open_library.h"
#include "server/api/api.h"
#include "types/unknown.h"

namespace beryl::server {
namespace {

constexpr size_t kPiece = size_t{256} << 10;

std::string_view PlaceOf(EntryKind kind) {
  switch (kind) {
    case EntryKind::kRun:
      return "runs";
    case EntryKind::kPrediction:
      return "predictions";
    case EntryKind::kProfile:
      return "profiles";
    case EntryKind::kDataset:
      return "datasets";
  }
  return "runs";
}

class FileStream : public HttpStream {
 public:
  FileStream(ByteSource source, uint64_t bytes) : source_(std::move(source)), bytes_(bytes) {}
  std::optional<std::string> Next() override {
    std::string piece(kPiece, '\0');
    const auto got = source_.Read(piece.data(), piece.size());
    // Too few bytes end the connection: the client sees that the file is not whole.
    if (!got || *got == 0) return std::nullopt;
    piece.resize(*got);
    return piece;
  }
  std::optional<uint64_t> size() const override { return bytes_; }

 private:
  ByteSource source_;
  const uint64_t bytes_;
};

// Only ASCII, without the characters that end the field.
std::string PlainName(const std::string& name) {
  std::string plain = name;
  for (char& letter : plain) {
    if (letter < ' ' || letter > '~' || letter == '"' || letter == '\\') letter = '_';
  }
  return plain;
}

}  // namespace

Result<LibraryEntry> FindEntry(store::Library& library, const std::string& id, EntryKind kind) {
  auto entry = TRY(library.Get(id));
  if (entry.kind == kind) return entry;
  return Error{ErrorCode::kNotFound, fmt::format("'{}' is a {}, not a {}", Printable(id),
                                                 EntryKindName(entry.kind), EntryKindName(kind))};
}

HttpAnswer EntriesAnswer(const EntryList& list, views::Format format) {
  return ResultAnswer(views::Write(list, format, {}), format, HttpReuse::kCheck);
}

HttpAnswer EntryAnswer(const store::Library& library, LibraryEntry entry) {
  EntryList list;
  list.provenance = MakeProvenance({library.name()});
  list.page.entries.push_back(std::move(entry));
  return EntriesAnswer(list, views::Format::kJson);
}

HttpAnswer AddedAnswer(const store::Library& library, store::AddedEntry added) {
  const std::string place = fmt::format("/api/v1/{}/{}", PlaceOf(added.entry.kind), added.entry.id);
  HttpAnswer answer = EntryAnswer(library, std::move(added.entry));
  answer.status = added.is_new ? 201 : 200;
  answer.reuse = HttpReuse::kNever;
  answer.fields.push_back({"location", place});
  return answer;
}

Result<EntryPatch> ReadEntryPatch(std::string body, std::vector<ProblemPart>& wrong) {
  EntryPatch patch;
  const auto text = [&](json::Value value, const char* pointer) -> std::optional<std::string> {
    const auto given = value.String();
    if (!given) wrong.push_back({{}, pointer, "expected a text"});
    return given ? std::optional(std::string(*given)) : std::nullopt;
  };
  const auto member = [&](json::Key key, json::Value value) {
    if (key == "name") {
      patch.name = text(value, "/name");
    } else if (key == "notes") {
      patch.notes = text(value, "/notes");
    } else if (key == "model") {
      patch.model = text(value, "/model");
    } else if (key == "tags") {
      std::vector<std::string> tags;
      bool good = value.IsArray();
      good = good && value.ForEachElement([&](json::Value tag) {
        const auto given = tag.String();
        if (given) tags.emplace_back(*given);
        good = good && given;
      }) && good;
      if (!good) wrong.push_back({{}, "/tags", "expected a list of texts"});
      patch.tags = std::move(tags);
    } else if (key == "accuracy") {
      const std::string_view token = Trim(value.Token());
      const auto number = token == "null" ? kUnknown : ParseNumber(token).value_or(kUnknown);
      if (token != "null" && !ParseNumber(token)) {
        wrong.push_back({{}, "/accuracy", "expected a number, or null if it is not known"});
      }
      patch.accuracy = number;
    } else {
      wrong.push_back({{},
                       "/" + std::string(key.Text()),
                       "there is no such member; there are name, tags, notes, model, accuracy"});
    }
  };
  TRY(json::WalkObject(body, "the body", member));
  return patch;
}

Result<HttpAnswer> FileAnswer(store::Library& library, const EntryFile& file) {
  const std::string path = TRY(library.PathOf(file.stored.digest));
  HttpAnswer answer;
  // Never what the uploader called it: a browser would run a page from here.
  answer.type = "application/octet-stream";
  const std::string name = flows::OriginalName(file);
  answer.fields.push_back(
      {"content-disposition", fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}",
                                          PlainName(name), PercentEncode(name))});
  answer.stream =
      std::make_shared<FileStream>(TRY(ByteSource::OpenAsItIs(path)), file.stored.bytes);
  return answer;
}

}  // namespace beryl::server
