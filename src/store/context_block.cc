#include "store/context_block.h"

#include "store/encoding.h"

namespace beryl::store {

std::string EncodeContext(const StoredRun& run) {
  std::string out;
  PutVarint(out, run.context.ops_files.size());
  for (const std::string& file : run.context.ops_files) PutString(out, file);
  std::string power_files;
  for (const std::string& file : run.context.power_files) {
    power_files += (power_files.empty() ? "" : ", ") + file;
  }
  PutString(out, power_files);
  PutString(out, run.context.label);
  PutString(out, run.tool);
  PutString(out, run.ops.clock);
  PutString(out, run.power.clock);
  PutString(out, run.power.report.file);
  PutVarint(out, run.ops.anchors.size());
  for (const ClockAnchor& anchor : run.ops.anchors) {
    PutSigned(out, anchor.local.value);
    PutSigned(out, anchor.epoch.value);
  }
  PutVarint(out, 0);  // the first versions had notes here, as sentences
  return out;
}

}  // namespace beryl::store
