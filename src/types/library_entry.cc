#include "types/library_entry.h"

#include <algorithm>
#include <array>

#include "types/library_job.h"

namespace beryl {
namespace {

constexpr std::array<std::string_view, kEntryKindCount> kKinds = {"run", "prediction", "profile",
                                                                  "dataset"};
constexpr std::array<std::string_view, kRunFormCount> kForms = {"run-file", "recording", "traces"};
constexpr std::array<std::string_view, kFileRoleCount> kRoles = {"run", "ops", "power", "result",
                                                                 "other"};
constexpr std::array<std::string_view, kJobStateCount> kStates = {"queued", "running", "done",
                                                                  "failed", "cancelled"};

template <typename Enum, size_t kSize>
std::optional<Enum> Find(const std::array<std::string_view, kSize>& names, std::string_view name) {
  const auto* const place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) return std::nullopt;
  return static_cast<Enum>(place - names.begin());
}

}  // namespace

std::string_view EntryKindName(EntryKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::optional<EntryKind> FindEntryKind(std::string_view name) {
  return Find<EntryKind>(kKinds, name);
}
std::string_view RunFormName(RunForm form) { return kForms[static_cast<size_t>(form)]; }
std::optional<RunForm> FindRunForm(std::string_view name) { return Find<RunForm>(kForms, name); }
std::string_view FileRoleName(FileRole role) { return kRoles[static_cast<size_t>(role)]; }
std::optional<FileRole> FindFileRole(std::string_view name) { return Find<FileRole>(kRoles, name); }
std::string_view JobStateName(JobState state) { return kStates[static_cast<size_t>(state)]; }
std::optional<JobState> FindJobState(std::string_view name) {
  return Find<JobState>(kStates, name);
}

bool IsDigest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool IsLibraryId(std::string_view text) {
  return text.size() == 16 &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz") == text.npos;
}

uint64_t LibraryEntry::bytes() const {
  uint64_t sum = 0;
  for (const EntryFile& file : files) sum += file.stored.bytes;
  return sum;
}

}  // namespace beryl
