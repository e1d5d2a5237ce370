#include "base/progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl {
namespace {
constexpr auto kInterval = std::chrono::milliseconds(100);
}

Progress::Progress(const std::string& what, uint64_t total, bool enabled)
    : what_(Printable(what)),
      total_(total),
      enabled_(enabled),
      next_(std::chrono::steady_clock::now() + kInterval) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::Update(uint64_t done) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  const std::string text =
      total_ > 0
          ? fmt::format("\r\x1b[K[{:3d}%] {}", std::min<uint64_t>(100, done * 100 / total_), what_)
          : fmt::format("\r\x1b[K[{} MiB] {}", done >> 20, what_);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace beryl
