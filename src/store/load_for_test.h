// Run files in memory, for tests.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "store/store.h"

namespace beryl::store {

inline std::string BytesOfFile(const std::string& path) {
  auto source = ByteSource::Open(path);
  auto bytes = ReadAll(*source, size_t{1} << 30);
  return *bytes;
}

inline StoredRun Loaded(const std::string& bytes, const LoadOptions& options = {}) {
  StoredRun run;
  auto source = ByteSource::FromMemory(bytes, "run.beryl");
  auto ok = Load(source, options, run);
  EXPECT_TRUE(ok) << ok.error().message;
  return run;
}

}  // namespace beryl::store
