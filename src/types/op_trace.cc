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

void ImportReport::Count(Note note, uint64_t offset, uint64_t count) {
  note.count = count;
  note.first_byte = offset;
  CountNote(notes, note);
}

uint64_t ImportReport::Total(NoteClass note_class) const {
  uint64_t total = 0;
  for (const Note& note : notes) {
    if (ClassOf(note.kind) == note_class) total += note.count;
  }
  return total;
}

namespace {

uint16_t NumberOf(const std::string& name, std::vector<std::string>& names) {
  auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) place = names.insert(names.end(), name);
  return static_cast<uint16_t>(place - names.begin());
}

}  // namespace

uint16_t OpTrace::DeviceNumber(const std::string& name) {
  return NumberOf(machine.empty() ? name : machine + "/" + name, devices);
}

uint16_t OpTrace::RankNumber(const std::string& name) {
  // The unnamed rank is for runs without ranks: the first name replaces it.
  if (ranks.size() == 1 && ranks.front().empty() && kinds.empty()) ranks.front() = name;
  return NumberOf(name, ranks);
}

uint32_t OpTrace::StepNumber(const std::string& name, Nanos start) {
  auto place = std::find_if(steps.begin(), steps.end(),
                            [&](const RunStep& step) { return step.name == name; });
  if (place == steps.end()) place = steps.insert(steps.end(), {name, start, start});
  return static_cast<uint32_t>(place - steps.begin());
}

void OpGlance::Device::Include(Nanos from, Nanos to, uint64_t operations) {
  if (operations == 0) return;
  start = count == 0 ? from : std::min(start, from);
  end = count == 0 ? to : std::max(end, to);
  count += operations;
}

OpGlance::Device OpGlance::All() const {
  Device all;
  for (const Device& device : devices) all.Include(device.start, device.end, device.count);
  return all;
}

OpGlance OpTrace::Glance() const {
  OpGlance glance;
  if (packed) glance = packed->glance();
  glance.devices.resize(devices.size());
  for (const Op& op : ops) glance.devices[op.device].Include(op.start, op.end, 1);
  return glance;
}

std::vector<uint64_t> OpTrace::CountKinds() const {
  std::vector<uint64_t> counts(kinds.size(), 0);
  ForEachSpan([&](std::span<const Op> some) {
    for (const Op& op : some) ++counts[op.kind];
  });
  return counts;
}

size_t OpTrace::Unpack() {
  size_t unreadable = 0;
  if (packed) ops.reserve(ops.size() + packed->glance().All().count);
  std::vector<Op> some;
  for (size_t block = 0; packed && block < packed->blocks(); ++block) {
    if (!packed->Unpack(block, some)) ++unreadable;
    ops.insert(ops.end(), some.begin(), some.end());
  }
  packed.reset();
  return unreadable;
}

std::string_view BareDevice(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

std::string_view MachineOf(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
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
