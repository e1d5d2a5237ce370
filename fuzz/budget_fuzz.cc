#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "analyze/analyze.h"
#include "base/file.h"
#include "base/text.h"
#include "tree/tree.h"

namespace {

void Require(bool law, const char* what) {
  if (law) return;
  std::fprintf(stderr, "broken law: %s\n", what);
  std::abort();
}

// A small run with a layer, a phase and a device without a meter.
struct SmallRun {
  beryl::OpTrace trace;
  beryl::Footprint footprint;
  beryl::TraceTree built;
  beryl::TraceTree folded;

  SmallRun() {
    footprint.channels.emplace_back().channel = "CPU:0";
    for (const char* path :
         {"bert/layer_0/dense/MatMul", "bert/layer_1/dense/MatMul", "total/Add"}) {
      beryl::OpKind kind;
      kind.path = beryl::kRootPath;
      for (const std::string_view name : beryl::Split(path, '/')) {
        kind.scope = kind.path;
        kind.op = trace.strings.Intern(name);
        kind.path = trace.paths.Intern(kind.path, kind.op, beryl::PathKind::kModule);
      }
      kind.phase = static_cast<beryl::Phase>(trace.kinds.size() % beryl::kPhaseCount);
      beryl::EnergyShare share;
      share.kind = static_cast<uint32_t>(trace.kinds.size());
      share.step = share.kind % 2;
      share.energy = beryl::Joules{10};
      share.busy = beryl::Nanos{1'000'000};
      footprint.shares.push_back(share);
      trace.kinds.push_back(kind);
    }
    footprint.unmetered.push_back({0, 0, beryl::Nanos{1'000}, 1});
    built = beryl::tree::Build(trace);
    folded = beryl::Fold(built);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const SmallRun run;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto source = beryl::ByteSource::FromMemory(text, "fuzz");
  auto lines = beryl::analyze::ReadBudget(source);
  if (!lines) {
    Require(lines.error().message.find("fuzz") != std::string::npos, "an error names its file");
    return 0;
  }
  Require(!lines->empty(), "a budget has a line");
  uint64_t last = 0;
  for (const beryl::BudgetLine& line : *lines) {
    Require(line.line > last, "lines are in the order of the file");
    last = line.line;
    Require(!line.pattern.empty(), "a line has a pattern");
    Require(line.limit_energy.has_value() != line.limit_share.has_value(), "a line has one limit");
    const double limit = line.limit_energy ? line.limit_energy->value : *line.limit_share;
    Require(std::isfinite(limit) && limit >= 0, "a limit is a number from 0");
  }
  const auto verdicts =
      beryl::analyze::CheckBudget(*lines, run.trace, run.footprint, run.built, run.folded);
  Require(verdicts.size() == lines->size(), "a verdict for every line");
  for (const beryl::BudgetVerdict& verdict : verdicts) {
    Require(verdict.passed || !verdict.reason.empty(), "a failure says why");
    Require(!verdict.passed || verdict.energy.has_value(), "nothing unknown passes");
    Require(!verdict.passed || verdict.budget.whole_run || verdict.matched_count > 0,
            "nothing passes that meets nothing");
  }
  // The same text as a gate: misuse or a share from 0.
  if (auto gate = beryl::analyze::ParseGate(text); gate) {
    Require(std::isfinite(gate->limit) && gate->limit >= 0, "a gate's limit is a share");
  }
  return 0;
}
