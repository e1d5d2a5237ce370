// Reads a form with files, multipart/form-data (RFC 7578), in pieces as they come: nothing of a
// file is kept here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beryl::server {

// The boundary that a Content-Type names; nothing if it is another type.
std::optional<std::string> BoundaryOf(std::string_view content_type);

// What the head of a part says.
struct PartHead {
  std::string name;                      // of the field
  std::optional<std::string> file_name;  // nothing: the field is a text
  std::string type = {};                 // as the client says
};

class MultipartReader {
 public:
  // Called for each part: its head, its bytes in pieces, its end. An Error ends the reading.
  struct Sink {
    std::function<Status(const PartHead&)> begin;
    std::function<Status(std::string_view)> take;
    std::function<Status()> end;
  };
  MultipartReader(const std::string& boundary, Sink sink);

  // kInvalid if it is no such form.
  Status Take(std::string_view piece);
  // What waits for more to come: at most the head of a part.
  size_t kept_bytes() const { return waiting_.size(); }
  // No more comes.
  Status End() const;

 private:
  enum class Place { kBefore, kBoundary, kHead, kPart, kAfter };
  Result<bool> Step();

  const std::string delimiter_;  // "\r\n--boundary"
  const Sink sink_;
  Place place_ = Place::kBefore;
  std::string waiting_;  // what was not used yet
  size_t parts_ = 0;
};

}  // namespace beryl::server
