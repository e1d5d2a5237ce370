// OpTrace: what a deep-learning run did, operation by operation.
//
// An importer makes it, account shares energy out over it, tree gives it its shape. Everything that
// many operations have in common (name, place in the model, phase, shapes) is stored once, in an
// OpKind; an Op is when and where one of them ran, 32 bytes, because there are millions.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_table.h"
#include "base/units.h"
#include "types/note.h"

namespace beryl {

enum class Phase : uint8_t { kForward, kBackward, kOptimizer };
inline constexpr int kPhaseCount = 3;
std::string_view PhaseName(Phase phase);  // "forward", ...

// What a step of a path is.
enum class PathKind : uint8_t {
  kModule,      // a module or name scope of the program
  kAnnotation,  // a region the program marked
  kOperation,   // a tensor operation or a call that the host made
  kKernel,      // what an accelerator ran for an operation
  kOutside,     // the collection of what no module claims
};

using PathId = uint32_t;
inline constexpr PathId kRootPath = 0;

// The places operations have in the program, as a tree of interned steps. Id 0 is the root, whose
// name is empty.
class PathTable {
 public:
  struct Step {
    PathId parent = kRootPath;
    StringId name = 0;
    StringId type = 0;  // the class of a module where the trace tells it, else the empty string
    PathKind kind = PathKind::kModule;
  };

  PathTable() : steps_(1) {}

  // Parents always come before their children.
  PathId Intern(PathId parent, StringId name, PathKind kind, StringId type = 0);
  const Step& operator[](PathId id) const { return steps_[id]; }
  size_t size() const { return steps_.size(); }

 private:
  std::vector<Step> steps_;
  std::unordered_map<uint64_t, std::vector<PathId>> children_;
};

// All there is to say of an operation but when it ran.
struct OpKind {
  PathId path = kRootPath;   // its place in the tree, nested operations included
  PathId scope = kRootPath;  // the innermost module it belongs to; kRootPath: none
  StringId op = 0;           // its own name in there; the qualified name is the scope's, "/", this
  StringId type = 0;         // MatMul, aten::addmm, ...
  StringId shapes = 0;       // of the inputs as the trace writes them; empty where it does not
  Phase phase = Phase::kForward;
  uint16_t rank = 0;  // which of OpTrace::ranks ran it

  bool operator==(const OpKind&) const = default;
};

inline constexpr uint32_t kNoLane = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t kNoStep = std::numeric_limits<uint32_t>::max();

// One run of an operation, over the half-open interval [start, end).
struct Op {
  Nanos start;
  Nanos end;
  uint32_t kind = 0;
  // Operations of one lane nest as calls do: only the innermost is at work. Those with
  // kNoLane are at work all the time they run.
  uint32_t lane = kNoLane;
  uint32_t step = kNoStep;
  uint16_t device = 0;
};

// A step of training or a pass of inference, as far as the trace tells them apart.
struct RunStep {
  std::string name;
  Nanos start;
  Nanos end;
};

// What became of one input file.
struct ImportReport {
  std::string file;
  std::string format;
  uint64_t events = 0;      // all elements of the trace
  uint64_t operations = 0;  // those that became an Op
  std::vector<Note> notes;  // what was not taken as it stood, each with its first byte
  // Accelerator events with and without the operation that launched them.
  uint64_t device_events = 0;
  uint64_t with_correlation = 0;
  uint64_t tied = 0;
  // Host operations by whether a module claims them; both 0 where the trace tells no modules.
  uint64_t inside_modules = 0;
  uint64_t outside_modules = 0;
  std::string rank;  // which rank of a distributed run it is, as it says itself or was told; or ""

  // Something at that byte of the decompressed text.
  void Count(Note note, uint64_t offset, uint64_t count = 1);
  // How often there was something of that class.
  uint64_t Total(NoteClass note_class) const;
};

// What one kind of operation made went into another: an arrow of the program's dataflow.
struct Dataflow {
  uint32_t from = 0;  // indices into OpTrace::kinds
  uint32_t to = 0;

  auto operator<=>(const Dataflow&) const = default;
};

// What can be said of operations without looking at each.
struct OpGlance {
  struct Device {
    uint64_t count = 0;
    Nanos start;  // of the first, and when the last ended; only where there are any
    Nanos end;

    void Include(Nanos from, Nanos to, uint64_t operations);
  };
  std::vector<Device> devices;  // as OpTrace::devices

  Device All() const;
};

// Operations kept packed, in order of their start: a run of ten million would fill memory
// otherwise.
class PackedOps {
 public:
  virtual ~PackedOps() = default;
  virtual const OpGlance& glance() const = 0;
  virtual size_t blocks() const = 0;
  // Replaces `ops` by those of a block. False: it cannot be read, and `ops` is empty. Safe on
  // several threads at once.
  virtual bool Unpack(size_t block, std::vector<Op>& ops) const = 0;
};

// Two moments known to be the same: `local` on a trace's own clock, `epoch` in nanoseconds since
// the epoch.
struct ClockAnchor {
  Nanos local;
  Nanos epoch;
};

struct OpTrace {
  // Times of `ops` and `steps`. `clock` names what they are counted from, for messages.
  std::string clock = "epoch";
  std::vector<ClockAnchor> anchors;
  StringTable strings;
  PathTable paths;
  std::vector<OpKind> kinds;  // each of at least one op
  std::vector<Op> ops;
  std::shared_ptr<const PackedOps> packed;  // more of them; all of them, if there are any
  std::vector<std::string> devices;         // "CPU:0", "GPU:1"; with several machines "node2/GPU:1"
  std::vector<RunStep> steps;
  std::vector<ImportReport> reports;
  // Sorted, each once; empty where the trace tells nothing of inputs and flows.
  std::vector<Dataflow> dataflow;
  // The ranks of a distributed run; a run that is none has one rank without a name.
  std::vector<std::string> ranks = {""};
  // The machine whose files are being read; goes before the names of its devices. Empty: the only
  // one.
  std::string machine;

  // The number of a device of `machine`; a name that is new becomes one.
  uint16_t DeviceNumber(const std::string& name);
  // The number of a rank; a name that is new becomes one.
  uint16_t RankNumber(const std::string& name);
  // The number of the step of that name; a name that is new becomes one, empty and at `start`.
  // Ranks go through the same steps.
  uint32_t StepNumber(const std::string& name, Nanos start);

  OpGlance Glance() const;
  // All operations, some at a time: visit(std::span<const Op>). Returns how many blocks could not
  // be read.
  template <typename Visit>
  size_t ForEachSpan(Visit&& visit) const {
    size_t unreadable = 0;
    if (!ops.empty()) visit(std::span<const Op>(ops));
    std::vector<Op> buffer;
    for (size_t block = 0; packed && block < packed->blocks(); ++block) {
      if (!packed->Unpack(block, buffer)) ++unreadable;
      visit(std::span<const Op>(buffer));
    }
    return unreadable;
  }
  // Puts packed operations into `ops`, behind those that are there. Returns as ForEachSpan does.
  size_t Unpack();

  std::string QualifiedName(const OpKind& kind) const;
  std::string PathText(PathId path) const;  // joined by "/"
};

// "CPU:0" of "node2/CPU:0", and "node2".
std::string_view BareDevice(std::string_view name);
std::string_view MachineOf(std::string_view name);

}  // namespace beryl
