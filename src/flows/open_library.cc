#include "flows/open_library.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "types/library_json.h"

namespace beryl::flows {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

Result<std::optional<Nanos>> TimeOf(const std::string& text, std::string_view option) {
  if (text.empty()) return std::optional<Nanos>();
  const auto time = ParseTimeText(text);
  if (time) return time;
  return MisuseError(
      fmt::format("'{}' is no time: write 2026-11-18 or 2026-11-18T01:32:48Z", Printable(text)),
      {option});
}

}  // namespace

std::string LibraryPlace(const std::string& given) {
  if (!given.empty()) return given;
  if (const std::string place = Environment("BERYL_LIBRARY"); !place.empty()) return place;
  std::filesystem::path root = Environment("XDG_DATA_HOME");
  if (!root.is_absolute()) root = std::filesystem::path(Environment("HOME")) / ".local" / "share";
  return (root / "beryl" / "library").string();
}

Result<std::unique_ptr<store::Library>> OpenLibrary(const std::string& given,
                                                    const store::LibraryOptions& options) {
  return store::Library::Open(LibraryPlace(given), options);
}

Result<EntryList> ListLibrary(store::Library& library, const ListRequest& request) {
  EntryFilter filter = request.filter;
  if (!request.since.empty()) filter.since = TRY(TimeOf(request.since, "since"));
  if (!request.until.empty()) filter.until = TRY(TimeOf(request.until, "until"));
  auto page = TRY(library.List(filter, request.page));
  return EntryList{MakeProvenance({library.name()}), std::move(page)};
}

Result<LibraryGarbage> CollectLibraryGarbage(store::Library& library,
                                             const store::GarbageAges& ages) {
  auto garbage = TRY(library.CollectGarbage(ages));
  garbage.provenance = MakeProvenance({library.name()});
  return garbage;
}

Result<LibraryCheck> VerifyLibrary(store::Library& library,
                                   const std::function<void(uint64_t, uint64_t)>& watch) {
  auto check = TRY(library.Verify(watch));
  check.provenance = MakeProvenance({library.name()});
  return check;
}

}  // namespace beryl::flows
