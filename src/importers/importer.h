// The interface behind the front door, one implementation a format.
#pragma once

#include <memory>
#include <string_view>

#include "importers/importers.h"

namespace beryl::importers {

class Importer {
 public:
  virtual ~Importer() = default;
  virtual FormatDescriptor Descriptor() const = 0;
  // How sure it is, from the first bytes of the (decompressed) text, that this is its format: 0
  // (no) to 100. A text that any reader of its family could take, such as a trace without events,
  // is a 1.
  virtual int Sniff(std::string_view first_bytes) const = 0;
  // Appends to `trace`; fills `report`.
  virtual Result<bool> Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
                            ImportReport& report) const = 0;
};

std::unique_ptr<Importer> MakeTensorFlowImporter();
std::unique_ptr<Importer> MakePyTorchImporter();
std::unique_ptr<Importer> MakePyTorchLegacyImporter();
std::unique_ptr<Importer> MakeXPlaneImporter();
std::unique_ptr<Importer> MakeXlaTraceImporter();

}  // namespace beryl::importers
