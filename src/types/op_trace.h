// OpTrace: the operations that a deep-learning run executed.
//
// Importers make it, account attributes energy to it, tree derives the structure from it. What many
// operations have in common (name, place in the model, phase, shapes) is stored once, in an OpKind.
// An Op is only when and where one of them ran, 32 bytes, because there are millions.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_table.h"
#include "base/units.h"
#include "types/note.h"

namespace beryl {

enum class Phase : uint8_t { kForward, kBackward, kOptimizer };
inline constexpr int kPhaseCount = 3;
std::string_view PhaseName(Phase phase);  // "forward", ...

// What an element of a path is.
enum class PathKind : uint8_t {
  kModule,      // a module or name scope of the program
  kAnnotation,  // a region the program marked
  kOperation,   // a tensor operation or a host call
  kKernel,      // what an accelerator executed for an operation
  kOutside,     // the collection of everything outside of modules
};

using PathId = uint32_t;
inline constexpr PathId kRootPath = 0;

// The places of operations in the program, as a tree of interned elements. Id 0 is the root, whose
// name is empty.
class PathTable {
 public:
  struct Step {
    PathId parent = kRootPath;
    StringId name = 0;
    StringId type = 0;  // the class of a module, if the trace has it; otherwise the empty string
    PathKind kind = PathKind::kModule;

    bool operator==(const Step&) const = default;
  };

  PathTable();

  // Parents always precede their children.
  PathId Intern(PathId parent, StringId name, PathKind kind, StringId type = 0);
  const Step& operator[](PathId id) const { return steps_[id]; }
  size_t size() const { return steps_.size(); }

 private:
  struct Slot {
    PathId path = kRootPath;  // the root, which nobody looks for: free
    uint32_t hash = 0;
  };
  static uint32_t HashOf(const Step& step);
  // The slot of an equal step, or else the free one where it belongs.
  size_t SlotOf(const Step& step, uint32_t hash) const;
  void Grow();

  std::vector<Step> steps_;
  std::vector<Slot> slots_;  // open addressing
};

// Everything about an operation except when it ran.
struct OpKind {
  PathId path = kRootPath;   // its place in the tree, nested operations included
  PathId scope = kRootPath;  // the innermost module it belongs to; kRootPath: none
  StringId op = 0;      // its own name in the scope; the qualified name is the scope's, "/", this
  StringId type = 0;    // MatMul, aten::addmm, ...
  StringId shapes = 0;  // of the inputs as the trace writes them; empty if it does not
  Phase phase = Phase::kForward;
  uint16_t rank = 0;  // index into OpTrace::ranks
  // The number type of a matrix product as the trace writes it ("c10::BFloat16"); empty if it does
  // not.
  StringId dtype = 0;

  bool operator==(const OpKind&) const = default;
};

inline constexpr uint32_t kNoLane = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t kNoStep = std::numeric_limits<uint32_t>::max();

// One execution of an operation, over the half-open interval [start, end).
struct Op {
  Nanos start;
  Nanos end;
  uint32_t kind = 0;
  // Operations of one lane nest like calls: only the innermost is at work. Those with kNoLane are
  // at work all the time they run.
  uint32_t lane = kNoLane;
  uint32_t step = kNoStep;
  uint16_t device = 0;
};

// A training step or an inference pass, if the trace marks them.
struct RunStep {
  std::string name;
  Nanos start;
  Nanos end;
};

// How one input file was imported.
struct ImportReport {
  std::string file;
  std::string format;
  uint64_t events = 0;      // all elements of the trace
  uint64_t operations = 0;  // those that became an Op
  std::vector<Note> notes;  // what was not used as it is, each with its first byte
  // Accelerator events with and without the operation that launched them.
  uint64_t device_events = 0;
  uint64_t with_correlation = 0;
  uint64_t tied = 0;
  // Host operations inside and outside of modules; both 0 if the trace has no modules.
  uint64_t inside_modules = 0;
  uint64_t outside_modules = 0;
  std::string rank;  // the rank of a distributed run that it states or was given; or ""
  Nanos moved;       // what was added to the times in the file

  // Adds a note about that byte of the decompressed text.
  void Count(Note note, uint64_t offset, uint64_t count = 1);
  // The number of notes of that class, by count.
  uint64_t Total(NoteClass note_class) const;
};

// A result of one kind of operation is used by another: an arrow of the program's dataflow.
struct Dataflow {
  uint32_t from = 0;  // indices into OpTrace::kinds
  uint32_t to = 0;

  auto operator<=>(const Dataflow&) const = default;
};

// A summary of operations, so that not every one must be read.
struct OpGlance {
  struct Device {
    uint64_t count = 0;
    Nanos start;  // start of the first operation and end of the last; only if there are any
    Nanos end;

    void Include(Nanos from, Nanos to, uint64_t operations);
  };
  std::vector<Device> devices;  // in the order of OpTrace::devices

  Device All() const;
};

// Operations in packed form, ordered by start: ten million would otherwise fill memory.
class PackedOps {
 public:
  virtual ~PackedOps() = default;
  virtual const OpGlance& glance() const = 0;
  virtual size_t blocks() const = 0;
  // Replaces `ops` by those of a block. False if it cannot be read, and `ops` is empty then.
  // Thread-safe.
  virtual bool Unpack(size_t block, std::vector<Op>& ops) const = 0;
};

// Two times known to be equal: `local` on a trace's own clock, `epoch` in nanoseconds since the
// epoch.
struct ClockAnchor {
  Nanos local;
  Nanos epoch;
};

struct OpTrace {
  // Times of `ops` and `steps`. `clock` names their origin, for messages.
  std::string clock = "epoch";
  std::vector<ClockAnchor> anchors;
  StringTable strings;
  PathTable paths;
  std::vector<OpKind> kinds;  // each has at least one op
  std::vector<Op> ops;
  std::shared_ptr<const PackedOps> packed;  // if not null, operations are here and not in `ops`
  std::vector<std::string> devices;         // "CPU:0", "GPU:1"; with several machines "node2/GPU:1"
  std::vector<RunStep> steps;
  std::vector<ImportReport> reports;
  // Sorted, without duplicates; empty if the trace has no inputs and flows.
  std::vector<Dataflow> dataflow;
  // The ranks of a distributed run; any other run has one rank without a name.
  std::vector<std::string> ranks = {""};
  // The machine whose files are being read; prefixes the names of its devices. Empty: the only one.
  std::string machine;

  // The number of a device of `machine`; adds a new name.
  uint16_t DeviceNumber(const std::string& name);
  // The number of a rank; adds a new name.
  uint16_t RankNumber(const std::string& name);
  // The number of the step with that name; adds a new name as an empty step at `start`. Ranks share
  // the same steps.
  uint32_t StepNumber(const std::string& name, Nanos start);

  OpGlance Glance() const;
  // How often operations of each kind ran.
  std::vector<uint64_t> CountKinds() const;
  // Visits all operations in batches: visit(std::span<const Op>). Returns how many blocks could not
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
  // Unpacks packed operations, appending them to `ops`. Returns the same as ForEachSpan.
  size_t Unpack();

  std::string QualifiedName(const OpKind& kind) const;
  std::string PathText(PathId path) const;  // joined by "/"
};

// "CPU:0" from "node2/CPU:0", and "node2".
std::string_view BareDevice(std::string_view name);
std::string_view MachineOf(std::string_view name);

}  // namespace beryl
