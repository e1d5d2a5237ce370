#include "types/op_trace.h"

#include <algorithm>
#include <array>

namespace beryl {

std::string_view PhaseName(Phase phase) {
  static constexpr std::array<std::string_view, kPhaseCount> kNames = {"forward", "backward",
                                                                       "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

PathId PathTable::Intern(PathId parent, StringId name, PathKind kind, StringId type) {
  std::vector<PathId>& same = children_[(static_cast<uint64_t>(parent) << 32) | name];
  for (const PathId id : same) {
    if (steps_[id].kind == kind && steps_[id].type == type) return id;
  }
  const auto id = static_cast<PathId>(steps_.size());
  steps_.push_back({parent, name, type, kind});
  same.push_back(id);
  return id;
}

void ImportReport::Count(Finding::Kind kind, std::string_view reason, uint64_t offset,
                         uint64_t count) {
  auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.kind == kind && finding.reason == reason;
  });
  if (same == findings.end()) {
    findings.push_back({kind, std::string(reason), 0, offset});
    same = findings.end() - 1;
  }
  same->count += count;
  same->first_offset = std::min(same->first_offset, offset);
}

uint16_t OpTrace::DeviceNumber(const std::string& name) {
  auto place = std::find(devices.begin(), devices.end(), name);
  if (place == devices.end()) place = devices.insert(devices.end(), name);
  return static_cast<uint16_t>(place - devices.begin());
}

std::string OpTrace::PathText(PathId path) const {
  std::vector<PathId> up;
  for (; path != kRootPath; path = paths[path].parent) up.push_back(path);
  std::string text;
  for (auto step = up.rbegin(); step != up.rend(); ++step) {
    if (step != up.rbegin()) text += '/';
    text += strings.Text(paths[*step].name);
  }
  return text;
}

std::string OpTrace::QualifiedName(const OpKind& kind) const {
  std::string text = PathText(kind.scope);
  if (kind.scope != kRootPath) text += '/';
  return text += strings.Text(kind.op);
}

}  // namespace beryl
