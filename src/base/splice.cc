#include "base/splice.h"

#include <algorithm>

#include <fmt/format.h>

namespace beryl {

void Splice::Replace(uint64_t at, uint64_t erased, std::string_view bytes) {
  places_.push_back({at, static_cast<uint32_t>(erased), static_cast<uint32_t>(bytes.size())});
  inserted_ += bytes;
}

Status Splice::Copy(ByteSource& source, const std::function<Status(std::string_view)>& put) const {
  std::string buffer(size_t{1} << 17, '\0');
  uint64_t position = 0;
  // Reads up to there, or all if nothing is said.
  const auto pass = [&](uint64_t until, bool keep) -> Status {
    while (position < until) {
      const auto want = std::min<uint64_t>(buffer.size(), until - position);
      const size_t got = TRY(source.Read(buffer.data(), want));
      if (keep) TRY(put(std::string_view(buffer.data(), got)));
      position += got;
      if (got < want) break;
    }
    return {};
  };
  std::string_view inserted = inserted_;
  for (const Place& place : places_) {
    TRY(pass(place.at, true));
    TRY(put(inserted.substr(0, place.inserted)));
    inserted.remove_prefix(place.inserted);
    TRY(pass(place.at + place.erased, false));
    if (position != place.at + place.erased) {
      return InvalidError(fmt::format("{}: it became shorter while it was read", source.name()));
    }
  }
  return pass(UINT64_MAX, true);
}

}  // namespace beryl
