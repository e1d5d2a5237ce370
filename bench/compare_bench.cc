// How often a comparison raises a false alarm, and how often it finds a change: on pairs of
// simulated runs with drift, load and autocorrelation. Prints both curves, then how long comparing
// takes.
#include <chrono>

#include "analyze/simulated_runs_testing.h"
#include "measuring.h"

namespace beryl::analyze {
namespace {

constexpr size_t kPairs = 200;
constexpr double kOften = 0.8;
constexpr double kRarely = 0.05;

bool PrintFalseAlarms() {
  bool holds = true;
  fmt::print(
      "without a difference, {} pairs: shares of gates that fail, and of lines that are "
      "falsely found\n{:>10} {:>12} {:>12} {:>12}\n",
      kPairs, "runs/side", "limit 0 %", "limit 5 %", "lines");
  for (const size_t each : {1, 2, 3, 4, 6, 8, 12}) {
    const SimulatedRates rates = SimulatePairs({}, {}, each, kPairs, 1000 + each);
    fmt::print("{:>10} {:>11.1f}% {:>11.1f}% {:>11.1f}%\n", each,
               100 * rates.Rate(rates.gates_failed_at_0), 100 * rates.Rate(rates.gates_failed_at_5),
               100 * rates.FalseDiscovery());
    holds = holds && rates.Rate(rates.gates_failed_at_0) <= kRarely &&
            rates.FalseDiscovery() <= kRarely;
  }
  return holds;
}

bool PrintPowerByRuns() {
  bool holds = true;
  fmt::print(
      "\nwith 5 % more energy, {} pairs: shares of changes that are found\n{:>10} {:>12} "
      "{:>12} {:>12}\n",
      kPairs, "runs/side", "verdict", "gate at 0 %", "gate at 5 %");
  for (const size_t each : {1, 2, 3, 4, 6, 8, 12}) {
    const SimulatedRates rates = SimulatePairs({}, {0.05}, each, kPairs, 2000 + each);
    fmt::print("{:>10} {:>11.1f}% {:>11.1f}% {:>11.1f}%\n", each, 100 * rates.Rate(rates.told),
               100 * rates.Rate(rates.gates_failed_at_0),
               100 * rates.Rate(rates.gates_failed_at_5));
    if (each == 6) holds = rates.Rate(rates.told) >= kOften;
  }
  return holds;
}

bool PrintPowerBySize() {
  bool holds = true;
  fmt::print(
      "\nwith six runs a side, {} pairs; every third line changes\n{:>10} {:>12} {:>12} "
      "{:>14} {:>12}\n",
      kPairs, "change", "verdict", "gate at 5 %", "lines found", "false lines");
  for (const double share : {0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2}) {
    const SimulatedRates all = SimulatePairs({}, {share}, 6, kPairs, 3000);
    const SimulatedRates some = SimulatePairs({}, {share, 3}, 6, kPairs, 4000);
    fmt::print(
        "{:>9.0f}% {:>11.1f}% {:>11.1f}% {:>13.1f}% {:>11.1f}%\n", 100 * share,
        100 * all.Rate(all.told), 100 * all.Rate(all.gates_failed_at_5),
        100.0 * static_cast<double>(some.found_lines) / static_cast<double>(some.changed_lines),
        100 * some.FalseDiscovery());
    holds = holds && some.FalseDiscovery() <= kRarely;
  }
  return holds;
}

void PrintTime() {
  std::mt19937_64 random(5);
  SimulatedProgram program;
  program.operations = 400;
  program.steps = 500;
  fmt::print("\ncomparing runs of {} operations in {} steps\n", program.operations, program.steps);
  for (const size_t each : {1, 6}) {
    SimulatedPair pair = SimulatePair(program, {0.05}, each, random);
    const auto start = std::chrono::steady_clock::now();
    pair.Compare({{"", 0.05}});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    fmt::print("{:>10} runs a side: {:.1f} ms\n", each, took.count());
  }
}

}  // namespace
}  // namespace beryl::analyze

int main(int argc, char** argv) {
  if (beryl::OnlyLists(argc, argv)) {
    fmt::print("compare\n");
    return 0;
  }
  const bool alarms = beryl::analyze::PrintFalseAlarms();
  const bool runs = beryl::analyze::PrintPowerByRuns();
  const bool sizes = beryl::analyze::PrintPowerBySize();
  beryl::analyze::PrintTime();
  const bool kept = alarms && runs && sizes;
  fmt::print("\n{}\n",
             kept ? "kept: false alarms and false lines at most 5 %; six runs a side find a "
                    "change of 5 % in at least 80 of 100 pairs"
                  : "BROKEN: see above");
  return kept ? 0 : 1;
}
