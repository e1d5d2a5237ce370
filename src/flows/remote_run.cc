#include "flows/remote_run.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/http_client.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/token_file.h"
#include "flows/lent_files.h"
#include "types/library_json.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRuns = "/api/v1/runs";
constexpr size_t kPiece = size_t{256} << 10;

// A form with files (multipart/form-data), a piece at a time.
class Form {
 public:
  Form() {
    std::random_device random;
    for (int i = 0; i < 4; ++i) boundary_ += fmt::format("{:08x}", random());
  }

  void Add(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    Begin(name, "");
    parts_.back().text += text;
  }
  Status AddFile(std::string_view name, const std::string& path) {
    std::error_code failed;
    const uint64_t size = fs::file_size(path, failed);
    if (failed || !fs::is_regular_file(path, failed)) {
      return InvalidError(
          fmt::format("{}: {}", path, failed ? failed.message() : "only a file can be sent"));
    }
    std::string quoted;
    for (const char c : fs::path(path).filename().string()) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c == '\r' || c == '\n' ? ' ' : c;
    }
    Begin(name, fmt::format("; filename=\"{}\"", quoted));
    parts_.back().path = path;
    parts_.back().size = size;
    return {};
  }
  // Nothing is added after this.
  void End() { parts_.push_back({"\r\n" + delimiter() + "--\r\n", "", 0}); }

  std::string type() const { return "multipart/form-data; boundary=" + boundary_; }
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const Part& part : parts_) bytes += part.text.size() + part.size;
    return bytes;
  }

  Result<std::string_view> Next() {
    if (file_) {
      buffer_.resize(kPiece);
      const size_t got = TRY(file_->Read(buffer_.data(), buffer_.size()));
      if (got > 0) return std::string_view(buffer_).substr(0, got);
      file_.reset();
    }
    if (next_ == parts_.size()) return std::string_view();
    const Part& part = parts_[next_++];
    if (!part.path.empty()) file_ = TRY(ByteSource::OpenAsItIs(part.path));
    return std::string_view(part.text);
  }

 private:
  struct Part {
    std::string text;
    std::string path;  // of the file after it; empty: none
    uint64_t size = 0;
  };

  void Begin(std::string_view name, std::string_view file_name) {
    parts_.push_back({fmt::format("{}{}\r\nContent-Disposition: form-data; name=\"{}\"{}\r\n\r\n",
                                  parts_.empty() ? "" : "\r\n", delimiter(), name, file_name),
                      "", 0});
  }

  std::string delimiter() const { return "--" + boundary_; }

  std::string boundary_;
  std::vector<Part> parts_;
  size_t next_ = 0;
  std::optional<ByteSource> file_;
  std::string buffer_;
};

Status AddFiles(const RunFiles& files, Form& form) {
  for (const std::string& run : files.runs) {
    for (const std::string& file : FilesOfRun(run)) TRY(form.AddFile("run", file));
  }
  const auto add = [&](const std::vector<std::string>& ops,
                       const std::vector<std::string>& power) -> Status {
    for (const std::string& file : ops) TRY(form.AddFile("ops", file));
    for (const std::string& file : power) TRY(form.AddFile("power", file));
    return {};
  };
  TRY(add(files.ops, files.power));
  for (const RankFiles& rank : files.ranks) {
    form.Add("rank", rank.rank);
    TRY(add(rank.ops, rank.power));
  }
  return {};
}

// The server's own words of a problem (RFC 9457), or what there is instead.
std::string ProblemText(const HttpReply& reply) {
  std::string text;
  std::vector<std::string> parts;
  std::string body = reply.body;
  const auto whole = json::WalkObject(body, "", [&](json::Key key, json::Value value) {
    if (key == "detail") text = std::string(value.String().value_or(""));
    if (!(key == "errors")) return;
    value.ForEachElement([&](json::Value element) {
      std::string where;
      std::string what;
      element.ForEachMember([&](json::Key member, json::Value said) {
        const auto words = said.String();
        if (member == "detail") what = std::string(words.value_or(""));
        if (member == "parameter" || member == "pointer") where = std::string(words.value_or(""));
      });
      parts.push_back(where.empty() ? what : where + ": " + what);
    });
  });
  if (!whole || text.empty()) text = reply.reason;
  if (!parts.empty()) text += fmt::format(" ({})", fmt::join(parts, "; "));
  return text;
}

Error Refusal(const HttpPlace& place, const HttpReply& reply) {
  std::string remedy;
  if (reply.status == 401) remedy = "; name the file with the token that it asks for";
  Error error = InvalidError(
      fmt::format("{}: {}: {}{}", place.url(), reply.status, ProblemText(reply), remedy));
  if (reply.status == 401) error.options = {"token_file"};
  return error;
}

// What every request to a server has.
struct Remote {
  static Result<Remote> Of(const RemoteServer& server, const std::string& url) {
    Remote remote;
    remote.place = TRY(ParseHttpPlace(url));
    if (!server.token_file.empty()) {
      remote.fields.emplace_back("Authorization", "Bearer " + TRY(ReadToken(server.token_file)));
    }
    return remote;
  }

  HttpPlace place;
  std::vector<std::pair<std::string, std::string>> fields;
};

Result<LibraryEntry> TheOne(const HttpPlace& place, const HttpReply& reply) {
  auto entries = ReadEntries(reply.body, place.url());
  if (!entries || entries->size() != 1) {
    return InvalidError(fmt::format("{}: what answers there is no beryl serve", place.url()));
  }
  return std::move(entries->front());
}

// "http://box:8420/api/v1/runs/ID" in two parts; an id is one part.
std::pair<std::string, std::string> SplitRun(const RemoteServer& server, const std::string& run) {
  const size_t at = run.find(kRuns);
  if (at == std::string::npos) return {server.url, run};
  std::string id = run.substr(std::min(run.size(), at + kRuns.size() + 1));
  return {run.substr(0, at), id.substr(0, id.find_first_of("/?#"))};
}

Result<std::string> PullFile(const RemoteServer& server, const Remote& remote,
                             const LibraryEntry& entry, const EntryFile& file,
                             const std::string& path) {
  HttpCall call;
  call.fields = remote.fields;
  call.target = fmt::format("{}/{}/file?digest={}", kRuns, entry.id, file.stored.digest);
  auto output = TRY(GrowingFile::Open(path));
  Sha256 digest;
  auto shown = server.watch ? server.watch("receiving " + path, file.stored.bytes) : nullptr;
  const auto take = [&](std::string_view bytes) -> Status {
    digest.Add(bytes);
    TRY(output.Append(bytes));
    if (shown) shown(output.size());
    return {};
  };
  const HttpReply reply = TRY(CallHttp(remote.place, call, take));
  if (reply.status != 200) return Refusal(remote.place, reply);
  if (digest.Finish() != file.stored.digest) {
    return IoError(
        fmt::format("{}: {} came with other bytes than it was kept with; nothing was "
                    "written",
                    remote.place.url(), OriginalName(file)));
  }
  TRY(output.Show());
  return path;
}

}  // namespace

Result<RemoteRun> PushRun(const RemoteServer& server, const RunFiles& files,
                          const LibraryEntry& said) {
  TRY(CheckOneRun(files));
  const Remote remote = TRY(Remote::Of(server, server.url));
  Form form;
  form.Add("name", said.name);
  for (const std::string& tag : said.tags) form.Add("tag", tag);
  form.Add("notes", said.notes);
  form.Add("model", said.model);
  form.Add("machine", said.machine);
  if (said.figures.accuracy) form.Add("accuracy", fmt::format("{}", *said.figures.accuracy));
  TRY(AddFiles(files, form));
  form.End();
  HttpCall call = {"POST", std::string(kRuns), remote.fields, form.bytes(), {}};
  call.fields.emplace_back("Content-Type", form.type());
  auto shown =
      server.watch ? server.watch("sending to " + remote.place.url(), form.bytes()) : nullptr;
  uint64_t sent = 0;
  call.next_piece = [&]() -> Result<std::string_view> {
    const std::string_view piece = TRY(form.Next());
    if (shown) shown(sent += piece.size());
    return piece;
  };
  const HttpReply reply = TRY(CallHttp(remote.place, call));
  if (reply.status != 200 && reply.status != 201) return Refusal(remote.place, reply);
  const LibraryEntry entry = TRY(TheOne(remote.place, reply));
  return RemoteRun{entry.id, fmt::format("{}{}/{}", remote.place.url(), kRuns, entry.id),
                   reply.status == 201, entry.bytes()};
}

Result<std::vector<std::string>> PullRun(const RemoteServer& server, const std::string& run,
                                         const std::string& output, bool force) {
  const auto [url, id] = SplitRun(server, run);
  if (url.empty()) {
    return MisuseError(
        fmt::format("{}: on which server? give its address, or the URL of the run", Printable(run)),
        {"from"});
  }
  const Remote remote = TRY(Remote::Of(server, url));
  HttpCall call;
  call.fields = remote.fields;
  call.target = fmt::format("{}/{}", kRuns, EscapeForQuery(id));
  const HttpReply reply = TRY(CallHttp(remote.place, call));
  if (reply.status != 200) return Refusal(remote.place, reply);
  const LibraryEntry entry = TRY(TheOne(remote.place, reply));
  std::error_code ignored;
  // As for `cp`, a name with a slash behind it is a folder's.
  if (output.ends_with('/')) fs::create_directories(output, ignored);
  const bool is_folder = fs::is_directory(output, ignored);
  if (!is_folder && entry.files.size() > 1) {
    return MisuseError(
        fmt::format("{} has {} files; name a folder for them", entry.id, entry.files.size()),
        {"output"});
  }
  std::vector<std::string> paths;
  for (const EntryFile& file : entry.files) {
    paths.push_back(is_folder ? (fs::path(output) / OriginalName(file)).string() : output);
    const std::string& path = paths.back();
    if (std::count(paths.begin(), paths.end(), path) > 1) {
      return InvalidError(fmt::format("{} has two files with the name {}", entry.id, path));
    }
    if (force || path == "-" || !fs::exists(path, ignored)) continue;
    return MisuseError(fmt::format("{}: there is such a file; name another, or replace it", path),
                       {"output", "force"});
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    TRY(PullFile(server, remote, entry, entry.files[i], paths[i]));
  }
  return paths;
}

}  // namespace beryl::flows
