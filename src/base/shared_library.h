// A library of the system that is loaded when it is first needed: nobody else waits for it at the
// start of the program, or has to install it, and building needs nothing of it.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "base/result.h"

namespace beryl {

class SharedLibrary {
 public:
  // It stays until the process ends. The error says who needs it ("https needs OpenSSL") and which
  // packages it comes with.
  static Result<SharedLibrary> Load(const std::string& name, const std::string& needs,
                                    const std::string& packages);

  // Null if the library, and those that it brings, have no such function. `call` must be of the
  // function's type, which nobody checks.
  template <typename Call>
  void Find(const char* symbol, Call& call) {
    void* const address = Address(symbol);
    static_assert(sizeof(call) == sizeof(address));
    std::memcpy(&call, &address, sizeof(address));
  }
  // An error if something was sought and not found; it says what.
  Status HasAll() const;

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  void* Address(const char* symbol);

  std::string name_;
  void* handle_;
  std::string lacks_;  // the first
};

}  // namespace beryl
