#include "base/shared_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace beryl {

Result<SharedLibrary> SharedLibrary::Load(const std::string& name, const std::string& needs,
                                          const std::string& packages) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(name, handle);
  const char* const said = ::dlerror();
  return IoError(fmt::format("{}, which cannot be loaded: {}; install {}", needs,
                             said != nullptr ? said : name.c_str(), packages));
}

void* SharedLibrary::Address(const char* symbol) {
  void* const address = ::dlsym(handle_, symbol);
  if (address == nullptr && lacks_.empty()) lacks_ = symbol;
  return address;
}

Status SharedLibrary::HasAll() const {
  if (lacks_.empty()) return {};
  return IoError(fmt::format("{} was loaded, but has no {}", name_, lacks_));
}

}  // namespace beryl
