#include "server/caller.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "sources/machine.h"
#include "sources/processes.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfStatus = 1 << 16;
constexpr std::string_view kEstablished = "01";

template <typename Number>
std::optional<Number> Parse(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The words of a line, without empty ones.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' ')) {
    if (!Trim(word).empty()) words.push_back(Trim(word));
  }
  return words;
}

// "0100007F:C383": the address as 32-bit words in the machine's order, and the port.
std::optional<TcpEnd> ParseEnd(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  TcpEnd end;
  end.length = static_cast<uint8_t>(colon / 2);
  for (size_t word = 0; word < colon / 8; ++word) {
    const auto bits = Parse<uint32_t>(text.substr(word * 8, 8), 16);
    if (!bits) return std::nullopt;
    for (size_t i = 0; i < 4; ++i) {
      end.address[word * 4 + i] = static_cast<unsigned char>(*bits >> (8 * i));
    }
  }
  const auto port = Parse<uint16_t>(text.substr(colon + 1), 16);
  if (!port) return std::nullopt;
  end.port = *port;
  return end;
}

bool HasRights(std::string_view status) {
  constexpr uint64_t kDacReadSearch = uint64_t{1} << 2;
  constexpr uint64_t kSysAdmin = uint64_t{1} << 21;
  constexpr uint64_t kPerfmon = uint64_t{1} << 38;
  for (const std::string_view line : Split(status, '\n')) {
    if (!line.starts_with("CapEff:")) continue;
    const auto rights = Parse<uint64_t>(Trim(line.substr(7)), 16);
    return rights && (*rights & (kDacReadSearch | kSysAdmin | kPerfmon)) != 0;
  }
  return false;
}

Result<std::string> ReadSmallFile(const std::string& path) {
  auto source = TRY(ByteSource::Open(path));
  return ReadAll(source, kMostOfStatus);
}

// Then a failure to open a file does not show whether it exists.
bool IsOutOfDescriptors() {
  const int fd = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd < 0 && (errno == EMFILE || errno == ENFILE);
}

}  // namespace

std::optional<uint32_t> OwnerOfConnection(std::string_view table, const TcpEnd& client,
                                          const TcpEnd& server) {
  for (const std::string_view line : Split(table, '\n')) {
    const std::vector<std::string_view> words = Words(line);
    if (words.size() < 10 || words[3] != kEstablished) continue;
    const auto local = ParseEnd(words[1]);
    const auto remote = ParseEnd(words[2]);
    if (!local || !remote || *local != client || *remote != server) continue;
    const auto inode = Parse<uint64_t>(words[9], 10);
    if (!inode || *inode == 0) return std::nullopt;
    return Parse<uint32_t>(words[7], 10);
  }
  return std::nullopt;
}

std::optional<ProcessOwner> OwnerOfProcess(std::string_view status) {
  for (const std::string_view line : Split(status, '\n')) {
    if (!line.starts_with("Uid:")) continue;
    std::vector<uint32_t> ids;
    for (const std::string_view word : Split(line.substr(4), '\t')) {
      if (const auto id = Parse<uint32_t>(Trim(word), 10)) ids.push_back(*id);
    }
    if (ids.size() < 3) return std::nullopt;
    return ProcessOwner{ids[0], ids[1], ids[2]};
  }
  return std::nullopt;
}

bool Guard::IsRunning(int32_t pid) const {
  sources::Machine machine;
  machine.procfs = procfs;
  return sources::IsRunning(machine, pid) || IsOutOfDescriptors();
}

Guard Guard::OfThisProcess(const std::string& procfs) {
  Guard guard;
  guard.procfs = procfs;
  guard.monitor_uid = geteuid();
  const auto status = ReadSmallFile("/proc/self/status");
  guard.serves_all = guard.monitor_uid == 0 || (status && HasRights(*status));
  return guard;
}

Status Guard::MayWatch(const Caller& caller, int32_t pid) const {
  if (pid <= 0) {
    return InvalidError(fmt::format("{} is not a process id", pid));
  }
  const Error no_such{ErrorCode::kNotFound, fmt::format("no such process: {}", pid)};
  const auto status = ReadSmallFile(fmt::format("{}/{}/status", procfs, pid));
  if (!status && IsOutOfDescriptors()) {
    return Error{ErrorCode::kTooMuch,
                 "the monitor is out of file descriptors; stop some sessions, or allow it more "
                 "(ulimit -n, LimitNOFILE=)"};
  }
  if (!status) return no_such;
  const auto owner = OwnerOfProcess(*status);
  if (!owner) return no_such;
  const auto is_of = [&](uint32_t uid) {
    return owner->real == uid && owner->effective == uid && owner->saved == uid;
  };
  if (caller.uid != 0 && !is_of(caller.uid)) {
    return Error{ErrorCode::kForbidden,
                 fmt::format("process {} does not belong to user {}: only root may watch it", pid,
                             caller.uid)};
  }
  if (!serves_all && !is_of(monitor_uid)) {
    return Error{ErrorCode::kForbidden,
                 fmt::format("process {} does not belong to user {}, as whom the monitor runs "
                             "unprivileged; run it as a service (docs/monitor.md)",
                             pid, monitor_uid)};
  }
  return {};
}

bool CarriesToken(std::string_view header, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (token.empty() || !header.starts_with(kScheme)) return false;
  header.remove_prefix(kScheme.size());
  if (header.size() != token.size()) return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < token.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (static_cast<unsigned char>(header[i]) ^
                                                          static_cast<unsigned char>(token[i])));
  }
  return difference == 0;
}

}  // namespace beryl::server
