// pprof's profile.proto, gzipped: https://github.com/google/pprof/blob/main/proto/profile.proto
#include <algorithm>
#include <array>

#include "base/deflate.h"
#include "base/string_table.h"
#include "base/text.h"
#include "base/wire_writer.h"
#include "views/export.h"
#include "views/text/notes.h"

namespace beryl::views {
namespace {

// Field numbers of profile.proto.
enum Profile : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kComment = 13,
  kDefaultSampleType = 14,
};

class ProfileWriter {
 public:
  ProfileWriter(const AccountReport& report, const std::vector<double>& self_s)
      : report_(report), self_s_(self_s) {}

  std::string Write() {
    ValueType("energy", "microjoules");
    ValueType("time", "nanoseconds");
    Samples();
    Locations();
    profile_.Integer(kDefaultSampleType, strings_.Intern("energy"));
    if (!report_.channels.empty()) {
      const ChannelAccount& first = report_.channels.front();
      profile_.Integer(kTimeNanos,
                       static_cast<uint64_t>(std::max<int64_t>(0, first.window_start.value)));
      profile_.Integer(kDurationNanos,
                       static_cast<uint64_t>((first.window_end - first.window_start).value));
    }
    profile_.Packed(kComment, std::array<StringId, 2>{
                                  strings_.Intern(Printable(StampLine(report_.provenance))),
                                  strings_.Intern(Printable(report_.context.energy_source))});
    for (StringId id = 0; id < strings_.size(); ++id) {
      profile_.Bytes(kStringTable, strings_.Text(id));
    }
    return Gzip(profile_.bytes());
  }

 private:
  void ValueType(std::string_view type, std::string_view unit) {
    WireWriter value;
    value.Integer(1, strings_.Intern(type));
    value.Integer(2, strings_.Intern(unit));
    profile_.Bytes(kSampleType, value.bytes());
  }

  // A name is one function wherever it occurs, because pprof adds up by function.
  uint64_t LocationOf(NodeId node) {
    std::string text = Printable(report_.tree.tree.nodes[node].name);
    if (text.empty()) text = "?";  // as in the other exports: pprof has no name for a nameless one
    const StringId name = strings_.Intern(text);
    if (number_of_name_.size() <= name) number_of_name_.resize(name + 1, 0);
    if (number_of_name_[name] == 0) {
      names_.push_back(name);
      number_of_name_[name] = names_.size();
    }
    return number_of_name_[name];
  }

  void Samples() {
    const auto& self = report_.tree.columns.front().self;
    const auto microjoules = RoundTogether(self, 1e-6);
    const auto nanoseconds = RoundTogether(self_s_, 1e-9);
    const auto& nodes = report_.tree.tree.nodes;
    for (NodeId id = 0; id < nodes.size(); ++id) {
      if (microjoules[id] == 0 && nanoseconds[id] == 0) continue;
      std::vector<uint64_t> stack;  // the innermost first
      for (NodeId at = id; at != 0; at = nodes[at].parent) stack.push_back(LocationOf(at));
      stack.push_back(LocationOf(0));
      WireWriter sample;
      sample.Packed(1, stack);
      sample.Packed(2, std::array<uint64_t, 2>{microjoules[id], nanoseconds[id]});
      profile_.Bytes(kSample, sample.bytes());
    }
  }

  void Locations() {
    for (uint64_t id = 1; id <= names_.size(); ++id) {
      WireWriter line;
      line.Integer(1, id);
      WireWriter location;
      location.Integer(1, id);
      location.Bytes(4, line.bytes());
      profile_.Bytes(kLocation, location.bytes());
      WireWriter function;
      function.Integer(1, id);
      function.Integer(2, names_[id - 1]);
      function.Integer(3, names_[id - 1]);
      profile_.Bytes(kFunction, function.bytes());
    }
  }

  const AccountReport& report_;
  const std::vector<double>& self_s_;
  StringTable strings_;
  std::vector<StringId> names_;           // of functions and locations, whose ids start at 1
  std::vector<uint64_t> number_of_name_;  // by string
  WireWriter profile_;
};

}  // namespace

std::string WritePprof(const AccountReport& report, const std::vector<double>& self_s) {
  return ProfileWriter(report, self_s).Write();
}

}  // namespace beryl::views
