// What the profilers of TensorFlow, JAX and XLA call things: planes, lines, events and the
// operations behind them. Decided by the structure of a name, not by lists of known ones, wherever
// there is a structure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "types/op_trace.h"

namespace beryl::importers {

// `scope/name:Type`, as TensorFlow names the run of an operation.
struct TensorFlowEventName {
  std::string_view name;
  std::string_view type;
};
// Nothing if it is not of that form.
std::optional<TensorFlowEventName> ParseTensorFlowEvent(std::string_view text);

// A type that is the name of a function (`__inference_train_step_42`): the event is a call, and
// what the function does has events of its own.
bool IsFunctionType(std::string_view type);

// The name that XLA keeps of what an instruction was made from:
// `jit(train_step)/transpose(jvp(Net))/Dense_0/dot_general`. Transformations stand around scopes
// and are taken off.
struct FrameworkName {
  std::string path;             // "train_step/Net/Dense_0/dot_general"
  std::string type;             // what stood behind a ':' at the end, if anything
  bool backward = false;        // a transposition: the gradient
  bool differentiated = false;  // part of what a gradient was taken of, or of the gradient
};
// Nothing if it names no operation: an argument of the program (`p['params']['kernel']`), a part of
// the runtime (`XlaModule:`).
std::optional<FrameworkName> ParseFrameworkName(std::string_view text);

// `jit_train_step(154)`: the name of a compiled module and the number of its program.
struct ModuleName {
  std::string_view name;
  std::optional<int64_t> program;
};
ModuleName ParseModuleName(std::string_view text);

// "GPU:0" of `/device:GPU:0`, "TPU:1" of `/device:TPU:1 SparseCore 0`; nothing if the plane shows
// no device.
std::optional<std::string> DeviceOfPlane(std::string_view plane);
// A plane of what the host did, thread by thread.
bool IsHostPlane(std::string_view plane);

// What a line of a device's plane shows, from the finest to what is never work.
enum class DeviceLine : uint8_t {
  kStream,        // what a queue of the device ran: `Stream #14(Kernel)`
  kOps,           // `XLA Ops`: the instructions of a program
  kOther,         // a line with a name of its own
  kFrameworkOps,  // `Framework Ops`: the same, by the operation they come from
  kModules,       // `XLA Modules`: the same, by program
  kSteps,         // `Steps`
  kRepetition,    // scopes, source lines, counters: views of the same time
};
DeviceLine DeviceLineOf(std::string_view line);

// A type that sets up or steps tf.data's iterators, and computes nothing: `PrefetchDataset`,
// `MakeIterator`.
bool IsInputPipeline(std::string_view type);

// Why an event of a host's line that is no operation is none, for the report.
NoteKind MachineryReason(std::string_view name);

// The phase of an operation that ran without a graph, of which only the type is known.
Phase EagerPhase(std::string_view type);

}  // namespace beryl::importers
