// Simulated runs of a training program, for tests and benchmarks of comparisons: what varies does
// so at every time scale, from step to step and from run to run.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "tree/tree.h"
#include "tree/tree_testing.h"

namespace beryl::analyze {

struct SimulatedProgram {
  size_t operations = 24;
  size_t steps = 80;
  // Relative standard deviations.
  double run = 0.012;    // of all of a run: placement, temperature of the room
  double part = 0.01;    // of an operation in a run: caches, choice of kernels
  double drift = 0.015;  // the machine warms up: from a run's start to its end
  double slow = 0.02;    // autocorrelated over `memory` of its past at each step
  double memory = 0.8;
  double step = 0.04;  // of an operation from step to step
  // Others' work: it starts in a step with this probability, lasts this many steps on average, and
  // adds this share.
  double load_starts = 0.01;
  double load_steps = 10;
  double load = 0.08;
  // Readings miss short operations: the smallest vary most, up to so many times `step`.
  double small = 5;
};

// A change of the program: every `every`-th operation takes `share` more.
struct SimulatedChange {
  double share = 0;
  size_t every = 1;
};

struct SimulatedRun {
  std::string label;
  tree::TraceMaker maker;
  TraceTree folded;
};

inline std::string SimulatedOperation(size_t index) {
  return fmt::format("net/part{}x/op{}x", index % 5, index);
}

inline SimulatedRun Simulate(const SimulatedProgram& program, const SimulatedChange& change,
                             const std::string& label, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  SimulatedRun run;
  run.label = label;
  std::vector<uint32_t> kinds;
  std::vector<double> energies;
  for (size_t op = 0; op < program.operations; ++op) {
    kinds.push_back(run.maker.Kind(SimulatedOperation(op)));
    const double changed = change.share > 0 && op % change.every == 0 ? 1 + change.share : 1;
    energies.push_back(10 / static_cast<double>(op + 1) * changed *
                       std::exp(program.part * normal(random)));
  }
  const double of_run = std::exp(program.run * normal(random));
  const double drift = program.drift * normal(random);
  double slow = normal(random);
  bool loaded = uniform(random) < program.load_starts * program.load_steps;
  for (uint32_t step = 0; step < program.steps; ++step) {
    slow = program.memory * slow + std::sqrt(1 - program.memory * program.memory) * normal(random);
    if (uniform(random) < (loaded ? 1 / program.load_steps : program.load_starts)) loaded = !loaded;
    const double warm = 1 - std::exp(-4.0 * step / static_cast<double>(program.steps));
    const double common =
        of_run * (1 + drift * warm) * (1 + program.slow * slow) * (loaded ? 1 + program.load : 1);
    for (size_t op = 0; op < kinds.size(); ++op) {
      const double own = program.step * (1 + (program.small - 1) * static_cast<double>(op) /
                                                 static_cast<double>(kinds.size()));
      run.maker.Share(kinds[op], energies[op] * common * std::max(0.0, 1 + own * normal(random)),
                      "CPU:0", step);
    }
  }
  return run;
}

// Two sides of `each` runs.
struct SimulatedPair {
  std::vector<SimulatedRun> runs;
  size_t each;

  Comparison Compare(const std::vector<GateLimit>& gates) {
    std::vector<RunToCompare> refs;
    for (SimulatedRun& run : runs) {
      run.folded = Fold(tree::Build(run.maker.trace()));
      refs.push_back({run.label, &run.maker.trace(), &run.maker.footprint(), &run.folded});
    }
    CompareOptions options;
    options.sides = {each, each};
    options.differences_level = ParseNameLevel("operation");
    options.gates = gates;
    return analyze::Compare(refs, options);
  }
};

inline SimulatedPair SimulatePair(const SimulatedProgram& program, const SimulatedChange& change,
                                  size_t each, std::mt19937_64& random) {
  SimulatedPair pair;
  pair.each = each;
  for (size_t run = 0; run < 2 * each; ++run) {
    pair.runs.push_back(Simulate(program, run < each ? SimulatedChange() : change,
                                 fmt::format("r{}", run), random));
  }
  return pair;
}

// What comparisons of many pairs came to.
struct SimulatedRates {
  size_t pairs = 0;
  size_t gates_failed_at_0 = 0;  // --fail-above 0%
  size_t gates_failed_at_5 = 0;
  size_t told = 0;           // the verdict is certain, and its sign is right
  size_t changed_lines = 0;  // of operations that changed
  size_t found_lines = 0;    // and were found
  double false_share = 0;    // of the lines found in a pair, those that did not change: the sum

  double Rate(size_t count) const {
    return static_cast<double>(count) / static_cast<double>(pairs);
  }
  double FalseDiscovery() const { return false_share / static_cast<double>(pairs); }
};

inline SimulatedRates SimulatePairs(const SimulatedProgram& program, const SimulatedChange& change,
                                    size_t each, size_t pairs, uint64_t seed) {
  std::mt19937_64 random(seed);
  SimulatedRates rates;
  rates.pairs = pairs;
  for (size_t i = 0; i < pairs; ++i) {
    const Comparison found =
        SimulatePair(program, change, each, random).Compare({{"", 0}, {"", 0.05}});
    rates.gates_failed_at_0 += found.gates[0].passed ? 0 : 1;
    rates.gates_failed_at_5 += found.gates[1].passed ? 0 : 1;
    const TotalVerdict& verdict = found.verdicts[0];
    rates.told += verdict.certain && *verdict.change.change > 0 ? 1 : 0;
    size_t found_here = 0;
    size_t false_here = 0;
    for (const DifferenceRow& row : found.differences) {
      const size_t op = std::stoul(row.path.substr(row.path.rfind("/op") + 3));
      const bool changed = change.share > 0 && op % change.every == 0;
      rates.changed_lines += changed ? 1 : 0;
      if (!row.found) continue;
      ++found_here;
      rates.found_lines += changed ? 1 : 0;
      false_here += changed ? 0 : 1;
    }
    if (found_here > 0) {
      rates.false_share += static_cast<double>(false_here) / static_cast<double>(found_here);
    }
  }
  return rates;
}

}  // namespace beryl::analyze
