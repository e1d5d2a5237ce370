#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "server/http.h"
#include "server/machine_meters.h"
#include "server/otlp_push.h"
#include "server/rpc/desk.h"
#include "server/server.h"
#include "server/sessions.h"
#include "server/stderr_log.h"
#include "views/views.h"

namespace beryl::server {
namespace {

constexpr Nanos kPowerForExporters{1'000'000'000};
constexpr size_t kMostOfPem = 1 << 20;
constexpr rlim_t kMostDescriptors = 65536;

void Say(const std::string& what) {
  static LineLog log(STDERR_FILENO, "beryl monitor: ");
  log.Say(what);
}

// Sessions and connections take descriptors; as many as we may have.
void TakeAllDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kMostDescriptors);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A program with rights on its file (setcap) is started by somebody who has less: it opens for him
// only what he could open himself.
Result<bool> CheckPaths(const MonitorOptions& options) {
  if (::getauxval(AT_SECURE) == 0) return true;
  std::vector<std::string> paths = {options.tls_cert, options.tls_key, options.token_file,
                                    options.discover.replay, options.folder};
  for (const std::string& meter : options.discover.meters) {
    paths.push_back(meter.substr(0, meter.find(',')));
  }
  for (const std::string& path : paths) {
    // By the real ids, and without our rights.
    if (path.empty() || ::access(path.c_str(), R_OK) == 0) continue;
    return IoError(fmt::format("'{}': {}", Printable(path), std::strerror(errno)));
  }
  return true;
}

Result<std::string> ReadFileOf(const std::string& path) {
  auto source = ByteSource::Open(path);
  if (!source) return source.error();
  return ReadAll(*source, kMostOfPem);
}

// The two loopback addresses, of which a machine without IPv6 has one, and the socket.
std::vector<Address> UsualAddresses() {
  std::vector<Address> addresses;
  Address six;
  six.host = "::1";
  six.port = 50051;
  six.is_ipv6 = true;
  addresses.push_back(six);
  Address four;
  four.host = "127.0.0.1";
  four.port = 50051;
  addresses.push_back(four);
  Address socket;
  socket.path = DefaultSocket();
  if (!socket.path.empty()) addresses.push_back(socket);
  return addresses;
}

Result<DeskOptions> PlacesToListen(const MonitorOptions& options) {
  DeskOptions desk;
  std::vector<Address> addresses;
  for (const std::string& text : options.listen) {
    auto address = ParseAddress(text);
    if (!address) return address.error();
    addresses.push_back(std::move(*address));
  }
  if (addresses.empty()) {
    addresses = UsualAddresses();
    desk.skip_missing = true;
  }
  for (const Address& address : addresses) {
    (address.is_local() ? desk.local : desk.remote).push_back(address);
  }
  const bool has_all =
      !options.tls_cert.empty() && !options.tls_key.empty() && !options.token_file.empty();
  const bool has_some =
      !options.tls_cert.empty() || !options.tls_key.empty() || !options.token_file.empty();
  if (!desk.remote.empty() && !has_all) {
    return MisuseError(fmt::format(
        "--listen {}: others can reach that address; it takes --tls-cert, --tls-key and "
        "--token-file, all three",
        desk.remote.front().text()));
  }
  if (desk.remote.empty() && has_some) {
    return MisuseError(
        "--tls-cert, --tls-key and --token-file are for addresses that others can reach, and none "
        "is given by --listen");
  }
  if (desk.remote.empty()) return desk;
  auto certificate = ReadFileOf(options.tls_cert);
  if (!certificate) return certificate.error();
  auto key = ReadFileOf(options.tls_key);
  if (!key) return key.error();
  auto token = ReadToken(options.token_file);
  if (!token) return token.error();
  desk.certificate = std::move(*certificate);
  desk.key = std::move(*key);
  desk.token = std::move(*token);
  return desk;
}

// Blocks the signals that end us, in every thread to come, and waits for one.
class EndSignal {
 public:
  EndSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  void Wait() {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{};
};

}  // namespace

std::string DefaultSocket() {
  if (const char* runtime = ::secure_getenv("RUNTIME_DIRECTORY"); runtime != nullptr && *runtime) {
    return std::string(runtime) + "/monitor.sock";
  }
  if (::geteuid() == 0) {
    ::mkdir("/run/beryl", 0755);
    return "/run/beryl/monitor.sock";
  }
  const char* home = ::secure_getenv("XDG_RUNTIME_DIR");
  return home != nullptr && *home ? std::string(home) + "/beryl.sock" : "";
}

Result<bool> RunMonitor(const MonitorOptions& options) {
  EndSignal end;
  TakeAllDescriptors();
  if (auto ok = CheckPaths(options); !ok) return ok.error();
  auto desk_options = PlacesToListen(options);
  if (!desk_options) return desk_options.error();
  const bool exports = !options.metrics.empty() || !options.otlp.empty();
  std::optional<Address> metrics;
  if (!options.metrics.empty()) {
    auto address = ParseAddress(options.metrics);
    if (!address) return address.error();
    if (!address->is_local()) {
      return MisuseError(fmt::format(
          "--metrics {}: others can reach that address; listen on loopback and put a proxy with "
          "TLS before it",
          options.metrics));
    }
    metrics = *address;
  }
  std::optional<HttpTarget> otlp;
  if (!options.otlp.empty()) {
    auto target = ParseTarget(options.otlp);
    if (!target) return target.error();
    otlp = *target;
  }

  auto meters = MachineMeters::Find(options);
  if (!meters) return meters.error();
  SessionsOptions sessions_options;
  sessions_options.period = options.period;
  if (exports) sessions_options.idle_period = kPowerForExporters;
  sessions_options.folder = options.folder;
  sessions_options.log = &Say;
  sessions_options.published_parts = options.published_parts;
  sessions_options.tell_sessions = options.metrics_sessions;
  SessionLimits& limits = sessions_options.limits;
  limits.sessions = options.limit_sessions;
  limits.sessions_of_user = options.limit_sessions_of_user;
  limits.bytes = options.limit_bytes;
  limits.all_bytes = options.limit_all_bytes;
  limits.length = options.limit_length;
  limits.forget_after = options.forget_after;
  Guard guard = Guard::OfThisProcess(options.machine.procfs);
  desk_options->remote_uid = guard.monitor_uid;
  desk_options->log = &Say;
  Sessions sessions(**meters, guard, sessions_options);

  auto desk = Desk::Open(sessions, std::move(*desk_options));
  if (!desk) return desk.error();
  std::vector<std::string> places;
  for (const Address& address : (*desk)->addresses()) places.push_back(address.text());
  std::unique_ptr<HttpPage> page;
  if (metrics) {
    auto listening = HttpPage::Listen(*metrics, "/metrics", [&] {
      return HttpAnswer{200, "text/plain; version=0.0.4; charset=utf-8",
                        views::WritePrometheus(sessions.Live())};
    });
    if (!listening) return listening.error();
    page = std::move(*listening);
    places.push_back(fmt::format("http://{}/metrics", page->address().text()));
  }
  std::unique_ptr<OtlpPush> push;
  if (otlp) {
    push = std::make_unique<OtlpPush>(
        OtlpPush::Options{*otlp, options.otlp_interval},
        [&] { return views::WriteOtlp(sessions.Live()); }, &Say);
  }
  Say(fmt::format("listening on {}", fmt::join(places, ", ")));
  end.Wait();
  return true;
}

}  // namespace beryl::server
