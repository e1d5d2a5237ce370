// The interface of importers, one implementation per format.
#pragma once

#include <memory>
#include <string_view>

#include "importers/importers.h"

namespace beryl::importers {

class Importer {
 public:
  virtual ~Importer() = default;
  virtual FormatDescriptor Descriptor() const = 0;
  // How certain it is, from the first bytes of the (decompressed) text, that this is its format: 0
  // (no) to 100. Text that any format of its family could be, such as a trace without events, is a
  // 1.
  virtual int Sniff(std::string_view first_bytes) const = 0;
  // Appends to `trace`; fills `report`.
  virtual Status Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
                      ImportReport& report) const = 0;
};

#define BERYL_IMPORTER(make) std::unique_ptr<Importer> make();
#include "importers/importer_table.inc"
#undef BERYL_IMPORTER

}  // namespace beryl::importers
