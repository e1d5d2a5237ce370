// The number type of a model's weights by its configuration.
#pragma once

#include <string>

#include "models/config.h"
#include "types/description.h"

namespace beryl::models {

class ConfiguredDtype {
 public:
  explicit ConfiguredDtype(Config& config);

  // The one that is described unless another is asked for.
  Dtype Own() const;
  // What the configuration says in words, if it is not `dtype`; otherwise empty.
  std::string OtherThan(Dtype dtype) const;

 private:
  std::string named_;
  std::string bits_;    // of quantized weights
  std::string method_;  // of quantizing them
};

}  // namespace beryl::models
