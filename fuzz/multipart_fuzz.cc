// What is read of a form with files must not depend on how the network cut it, must need no more
// memory than the head of a part, and has to be what a writer of forms put in. The first byte of
// the input chooses the size of the pieces; the first line is a Content-Type.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"
#include "server/http/multipart.h"

namespace beryl::server {
namespace {

using fuzz::Require;

constexpr size_t kMostKept = (size_t{8} << 10) + 256;  // the head of a part, and a delimiter

struct Part {
  PartHead head;
  std::string bytes;
  bool has_ended = false;

  bool operator==(const Part& other) const {
    return head.name == other.head.name && head.file_name == other.head.file_name &&
           head.type == other.head.type && bytes == other.bytes && has_ended == other.has_ended;
  }
};

struct Read {
  std::vector<Part> parts;
  std::string refusal;  // empty: a whole form
};

// Pieces of `piece` bytes, or, if it is 0, of all sizes.
Read ReadIn(std::string_view form, const std::string& boundary, size_t piece) {
  Read read;
  MultipartReader reader(
      boundary,
      {[&](const PartHead& head) -> Status {
         Require(read.parts.empty() || read.parts.back().has_ended, "a part ends before the next");
         read.parts.push_back({head, "", false});
         return {};
       },
       [&](std::string_view bytes) -> Status {
         Require(!read.parts.empty() && !read.parts.back().has_ended, "bytes are of a part");
         Require(!bytes.empty(), "bytes are some");
         read.parts.back().bytes += bytes;
         return {};
       },
       [&]() -> Status {
         Require(!read.parts.empty() && !read.parts.back().has_ended, "what ends has begun");
         read.parts.back().has_ended = true;
         return {};
       }});
  size_t size = piece;
  for (size_t at = 0; at < form.size(); at += size) {
    if (piece == 0) size = 1 + (at * 7919) % 311;
    const auto taken = reader.Take(form.substr(at, size));
    if (!taken) {
      read.refusal = taken.error().message;
      Require(!read.refusal.empty(), "a refusal says why");
      return read;
    }
    Require(reader.kept_bytes() <= kMostKept, "what is kept is bounded");
  }
  const auto ended = reader.End();
  if (!ended) read.refusal = ended.error().message;
  return read;
}

// Bytes of a part that was not whole may or may not have been given already.
void ForgetWhatIsOpen(Read& read) {
  if (!read.parts.empty() && !read.parts.back().has_ended) read.parts.back().bytes.clear();
}

void CheckPieces(std::string_view form, const std::string& boundary, size_t piece) {
  Read whole = ReadIn(form, boundary, form.size() + 1);
  for (const size_t size : {piece, size_t{1}, size_t{0}}) {
    Read cut = ReadIn(form, boundary, size);
    ForgetWhatIsOpen(whole);
    ForgetWhatIsOpen(cut);
    Require(whole.refusal == cut.refusal, "whether it is a form does not depend on its pieces");
    Require(whole.parts == cut.parts, "nor does what is in it");
  }
  const std::string delimiter = "\r\n--" + boundary;
  for (const Part& part : whole.parts) {
    Require(part.bytes.find(delimiter) == std::string::npos, "no delimiter is inside of a part");
    Require(!part.has_ended || form.find(part.bytes) != std::string_view::npos,
            "a part is as it was sent");
    Require(!whole.refusal.empty() || part.has_ended, "the parts of a form are whole");
  }
}

// What a writer of forms makes of pieces of the input is read as these pieces.
void CheckRoundTrip(std::string_view text, const std::string& boundary, size_t piece) {
  std::vector<Part> wanted;
  std::string form;
  for (size_t at = 0; at < text.size() && wanted.size() < 20;) {
    const size_t end = std::min(text.find('\0', at), text.size());
    Part part;
    part.head.name = "field " + std::to_string(wanted.size());
    if (wanted.size() % 2 == 0) part.head.file_name = "a \"b\" \\c";
    part.bytes = text.substr(at, end - at);
    part.has_ended = true;
    at = end + 1;
    if (("\r\n" + part.bytes).find("\r\n--" + boundary) != std::string::npos) continue;
    form += (form.empty() ? "--" : "\r\n--") + boundary +
            "\r\nContent-Disposition: form-data; name=\"" + part.head.name + "\"";
    if (part.head.file_name) form += "; filename=\"a \\\"b\\\" \\\\c\"";
    form += "\r\n\r\n" + part.bytes;
    wanted.push_back(std::move(part));
  }
  if (wanted.empty()) return;
  form += "\r\n--" + boundary + "--\r\n";
  const Read read = ReadIn(form, boundary, piece);
  Require(read.refusal.empty(), "what is written as a form is one");
  Require(read.parts == wanted, "what was written is read");
}

void Try(std::string_view text, size_t piece) {
  const size_t end = std::min(text.find('\n'), text.size());
  const auto named = BoundaryOf(text.substr(0, end));
  if (named) Require(!named->empty() && named->size() <= 70, "a boundary is as long as it may be");
  const std::string boundary = named.value_or("x-y");
  const std::string_view form = text.substr(std::min(end + 1, text.size()));
  CheckPieces(form, boundary, piece);
  CheckRoundTrip(form, boundary, piece);
}

}  // namespace
}  // namespace beryl::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return beryl::fuzz::TryInPieces(bytes, size, &beryl::server::Try);
}
