// The user behind a request, and what that user may watch: their own processes, or all for root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beryl::server {

struct Caller {
  uint32_t uid = 0;
  uint64_t connection = 0;  // 0: cannot be distinguished
};

// One end of a TCP connection in the kernel's table: the address in network order.
struct TcpEnd {
  unsigned char address[16] = {};
  uint8_t length = 4;  // of the address: 4 or 16
  uint16_t port = 0;
  bool operator==(const TcpEnd&) const = default;
};

// The user of the socket from `client` to `server`, from the text of /proc/net/tcp or tcp6; nothing
// if the table has no such live connection. Connections being closed do not count: their owner
// reads as root.
std::optional<uint32_t> OwnerOfConnection(std::string_view table, const TcpEnd& client,
                                          const TcpEnd& server);

// The user ids of a process, from the text of /proc/PID/status.
struct ProcessOwner {
  uint32_t real = 0;
  uint32_t effective = 0;
  uint32_t saved = 0;
};
std::optional<ProcessOwner> OwnerOfProcess(std::string_view status);

struct Guard {
  std::string procfs = "/proc";
  uint32_t monitor_uid = 0;
  // Whether the monitor has rights beyond those of its user; otherwise it watches only its own
  // user's processes.
  bool serves_all = false;
  static Guard OfThisProcess(const std::string& procfs);

  // Fails with kNotFound or kForbidden, or with kTooMuch if it cannot be determined now.
  Status MayWatch(const Caller& caller, int32_t pid) const;
  // Whether a process exists and has not ended, as far as that is known.
  bool IsRunning(int32_t pid) const;
  bool MaySee(const Caller& caller, uint32_t owner) const {
    return caller.uid == 0 || caller.uid == owner;
  }
};

// Whether an authorization header carries a token (base/token_file.h); takes the same time for any
// wrong one of its length.
bool CarriesToken(std::string_view header, std::string_view token);

}  // namespace beryl::server
