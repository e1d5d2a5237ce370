#include "base/token_file.h"

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace beryl {

Result<std::string> ReadToken(const std::string& path) {
  constexpr size_t kMost = size_t{1} << 16;
  constexpr size_t kShortest = 16;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return MisuseError(
        fmt::format("'{}': others can read or write the token; run: chmod 600 {}", path, path));
  }
  auto source = TRY(ByteSource::Open(path));
  const std::string text = TRY(ReadAll(source, kMost));
  std::string token(Trim(std::string_view(text).substr(0, text.find('\n'))));
  if (token.size() < kShortest) {
    return MisuseError(
        fmt::format("'{}': a token has at least {} characters; make one with: openssl rand -hex 32",
                    path, kShortest));
  }
  return token;
}

}  // namespace beryl
