// Comparing the names and classes that frameworks and versions give to the same module.
#pragma once

#include <string>
#include <string_view>

namespace beryl {

// A name without the separators of frameworks: "layer_._3", "layer.3" and "layer/3" are equal.
// Attributes of wrappers are dropped.
std::string NameKey(std::string_view name);
// The same without the name of what is around it, which may be repeated: "model.layers.0" in
// "model" is "layers.0".
std::string NameKey(std::string_view name, std::string_view around);

// Whether one class name is the other with an insertion: BertSdpaSelfAttention and
// BertSelfAttention, RMSNorm and LlamaRMSNorm, Linear8bitLt and Linear.
bool AreRelated(std::string_view a, std::string_view b);

}  // namespace beryl
