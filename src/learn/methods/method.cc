#include "learn/methods/method.h"

#include <array>

namespace beryl::learn {

const MethodSteps& StepsOf(Method method) {
#define BERYL_METHOD_STEPS(id, ...) &id##Steps,
  static constexpr std::array kSteps = {BERYL_METHODS(BERYL_METHOD_STEPS)};
#undef BERYL_METHOD_STEPS
  return *kSteps[static_cast<size_t>(method)];
}

}  // namespace beryl::learn
