#include "learn/learn.h"

namespace beryl::learn {

Result<Dataset> ReadTrees(ByteSource& source, const DatasetOptions&) {
  return InvalidError(source.name() + ": trees as JSON lines cannot be read yet");
}

}  // namespace beryl::learn
