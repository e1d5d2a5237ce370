// Who asks, and what he may watch: processes of his own, or all of them if he is root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/answer.h"

namespace beryl::server {

struct Caller {
  uint32_t uid = 0;
  uint64_t connection = 0;  // 0: cannot be told apart
};

// One end of a TCP connection as the kernel's table has it: the address in network order.
struct TcpEnd {
  unsigned char address[16] = {};
  uint8_t length = 4;  // of the address: 4 or 16
  uint16_t port = 0;
  bool operator==(const TcpEnd&) const = default;
};

// The user whose socket `client` is connected to `server`, from the text of /proc/net/tcp or tcp6;
// nothing if no living connection of the table is that. Connections that are being closed do not
// count: their owner reads as root there.
std::optional<uint32_t> OwnerOfConnection(std::string_view table, const TcpEnd& client,
                                          const TcpEnd& server);

// What a process runs as, from the text of /proc/PID/status.
struct ProcessOwner {
  uint32_t real = 0;
  uint32_t effective = 0;
  uint32_t saved = 0;
};
std::optional<ProcessOwner> OwnerOfProcess(std::string_view status);

// Whether a process is there and has not ended.
bool IsAlive(const std::string& procfs, int32_t pid);

struct Guard {
  std::string procfs = "/proc";
  uint32_t monitor_uid = 0;
  // Whether the monitor runs with rights beyond those of its user; else it watches only what is
  // its user's.
  bool serves_all = false;
  static Guard OfThisProcess(const std::string& procfs);

  Answer<bool> MayWatch(const Caller& caller, int32_t pid) const;
  bool MaySee(const Caller& caller, uint32_t owner) const {
    return caller.uid == 0 || caller.uid == owner;
  }
};

// A shared secret. Reads the first line of a file that nobody but its owner may read.
Result<std::string> ReadToken(const std::string& path);
// Whether an authorization header carries it; takes as long for any wrong one of its length.
bool CarriesToken(std::string_view header, std::string_view token);

}  // namespace beryl::server
