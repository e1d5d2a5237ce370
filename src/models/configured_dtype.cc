#include "models/configured_dtype.h"

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::models {

ConfiguredDtype::ConfiguredDtype(Config& config)
    : named_(config.Text({"dtype", "torch_dtype"}, "")),
      bits_(config.Text({"quantization_config.bits"}, "")),
      method_(config.Text({"quantization_config.quant_method"}, "")) {
  if (config.Bool({"quantization_config.load_in_4bit"}, false)) bits_ = "4";
  if (config.Bool({"quantization_config.load_in_8bit"}, false)) bits_ = "8";
}

Dtype ConfiguredDtype::Own() const {
  if (bits_ == "4") return Dtype::kInt4;
  if (bits_ == "8") return Dtype::kInt8;
  return ParseDtype(named_).value_or(Dtype::kFloat32);
}

std::string ConfiguredDtype::OtherThan(Dtype dtype) const {
  const bool quantized = !bits_.empty() || !method_.empty();
  const bool narrow = bits_ == "4" || bits_ == "8";
  if (quantized ? narrow && dtype == Own() : named_.empty() || named_ == DtypeName(dtype)) {
    return "";
  }
  std::string says = named_;
  if (quantized) {
    says += fmt::format("{}weights quantized{}{}", says.empty() ? "" : ", ",
                        bits_.empty() ? "" : " to " + bits_ + " bits",
                        method_.empty() ? "" : " (" + method_ + ")");
  }
  return Printable(says);
}

}  // namespace beryl::models
