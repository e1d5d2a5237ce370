// Interprets the names of TensorFlow's, JAX's and XLA's profilers: planes, lines, events and the
// operations behind them. Relies on the structure of a name, not on lists of known names, wherever
// there is a structure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "types/op_trace.h"

namespace beryl::importers {

// `scope/name:Type`, TensorFlow's name for an execution of an operation.
struct TensorFlowEventName {
  std::string_view name;
  std::string_view type;
};
// Nothing if it does not have that form.
std::optional<TensorFlowEventName> ParseTensorFlowEvent(std::string_view text);

// A type that is a function's name (`__inference_train_step_42`): the event is a call, and the
// function's operations have events of their own.
bool IsFunctionType(std::string_view type);

// XLA's name for the origin of an instruction:
// `jit(train_step)/transpose(jvp(Net))/Dense_0/dot_general`. Transformations around scopes are
// removed.
struct FrameworkName {
  std::string path;             // "train_step/Net/Dense_0/dot_general"
  std::string type;             // the text after a ':' at the end, if any
  bool backward = false;        // a transposition: the gradient
  bool differentiated = false;  // part of a differentiated function, or of its gradient
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

// "GPU:0" from `/device:GPU:0`, "TPU:1" from `/device:TPU:1 SparseCore 0`; nothing if the plane is
// not a device.
std::optional<std::string> DeviceOfPlane(std::string_view plane);
// A plane of the host's activity, by thread.
bool IsHostPlane(std::string_view plane);

// What a line of a device's plane shows, from the finest to what is never work.
enum class DeviceLine : uint8_t {
  kStream,        // what a queue of the device executed: `Stream #14(Kernel)`
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

// Why an event of a host's line is not an operation, for the report.
NoteKind MachineryReason(std::string_view name);

// The phase of an operation that ran without a graph, for which only the type is known.
Phase EagerPhase(std::string_view type);

}  // namespace beryl::importers
