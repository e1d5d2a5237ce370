// Maps an event's description to its kind of operation: place in the model, type and phase. Each
// kind of the trace is made once.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "importers/hlo_table.h"
#include "importers/xla_events.h"
#include "importers/xla_names.h"
#include "types/op_trace.h"

namespace beryl::importers {

inline constexpr uint32_t kNoKind = std::numeric_limits<uint32_t>::max();

// Kinds are numbered as in OpTrace::kinds. Every `number` identifies the XlaWhat beside it.
class XlaKinds {
 public:
  // `strings` belong to every XlaWhat; all three must outlive this.
  XlaKinds(OpTrace& trace, const StringTable& strings, HloTable& programs)
      : trace_(trace), strings_(strings), programs_(programs) {}

  // For the kinds added from now on.
  void SetRank(uint16_t rank) { rank_ = rank; }

  // An operation on a line of the host.
  uint32_t OfHost(uint32_t number, const XlaWhat& what);
  // What a device executed; kNoKind if the event does not say what for.
  uint32_t OfDevice(uint32_t number, const XlaWhat& what);
  // What a device executed for an operation of the host.
  uint32_t OfLaunch(uint32_t number, const XlaWhat& what, uint32_t launcher_number,
                    const XlaWhat& launcher);
  // What a device executed for an unknown operation.
  uint32_t Untied(uint32_t number, const XlaWhat& what);

 private:
  std::optional<OpKind> FromNames(const XlaWhat& what);
  OpKind FromFramework(const FrameworkName& name, std::string_view type, bool trains,
                       const XlaWhat& what);
  OpKind FromInstruction(const XlaWhat& what);
  OpKind FromTensorFlow(std::string_view name, std::string_view type);
  OpKind Make(std::string_view scope, std::string_view op, std::string_view type);
  void AddKernel(OpKind& kind, std::string_view name);
  uint32_t Number(OpKind kind);

  OpTrace& trace_;
  const StringTable& strings_;
  HloTable& programs_;
  uint16_t rank_ = 0;
  std::map<std::tuple<PathId, PathId, StringId, StringId, Phase>, uint32_t> numbers_;
  std::vector<uint32_t> host_;
  std::vector<uint32_t> device_;
  std::vector<uint32_t> untied_;
  std::unordered_map<uint64_t, uint32_t> launched_;
};

}  // namespace beryl::importers
