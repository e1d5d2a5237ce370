#include "types/op_trace.h"

#include <algorithm>
#include <array>
#include <utility>

namespace beryl {
namespace {
constexpr size_t kFirstPathSlots = 64;
}  // namespace

std::string_view PhaseName(Phase phase) {
  static constexpr std::array<std::string_view, kPhaseCount> kNames = {"forward", "backward",
                                                                       "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

PathTable::PathTable() : steps_(1), slots_(kFirstPathSlots) {}

uint32_t PathTable::HashOf(const Step& step) {
  const uint64_t place = (static_cast<uint64_t>(step.parent) << 32) | step.name;
  const uint64_t what = (static_cast<uint64_t>(step.type) << 8) | static_cast<uint64_t>(step.kind);
  const uint64_t hash = (place ^ (what * 0xC2B2AE3D27D4EB4FULL)) * 0x9E3779B97F4A7C15ULL;
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

size_t PathTable::SlotOf(const Step& step, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].path != kRootPath; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && steps_[slot.path] == step) break;
  }
  return at;
}

PathId PathTable::Intern(PathId parent, StringId name, PathKind kind, StringId type) {
  const Step step{parent, name, type, kind};
  const uint32_t hash = HashOf(step);
  Slot& slot = slots_[SlotOf(step, hash)];
  if (slot.path != kRootPath) return slot.path;
  const auto id = static_cast<PathId>(steps_.size());
  slot = {id, hash};
  steps_.push_back(step);
  if (steps_.size() * 2 > slots_.size()) Grow();
  return id;
}

void PathTable::Grow() {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.path == kRootPath) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].path != kRootPath) at = (at + 1) & mask;
    slots_[at] = slot;
  }
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
