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
#include "base/token_file.h"
#include "server/descriptor_shares.h"
#include "server/http/server.h"
#include "server/machine_meters.h"
#include "server/otlp_push.h"
#include "server/rpc/library_log.h"
#include "server/rpc/rpc_server.h"
#include "server/server.h"
#include "server/sessions.h"
#include "server/stderr_log.h"
#include "server/unnamed_file.h"
#include "views/views.h"

namespace beryl::server {
namespace {

constexpr Nanos kPowerForExporters{1'000'000'000};
constexpr size_t kMostOfPem = 1 << 20;
constexpr rlim_t kMostDescriptors = 65536;

void Say(const std::string& what) {
  // Never destroyed: the threads of libraries outlive main.
  static LineLog& log = *new LineLog(STDERR_FILENO, "beryl monitor: ");
  log.Say(what);
}

// Raises the limit of descriptors, which sessions and connections need, and shares it out.
DescriptorShares TakeAllDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return ShareDescriptors(1024);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kMostDescriptors);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return ShareDescriptors(limit.rlim_cur);
}

// A program with file capabilities (setcap) is started by a user with fewer rights: it opens only
// what that user could open.
Status CheckPaths(const MonitorOptions& options) {
  if (::getauxval(AT_SECURE) == 0) return {};
  std::vector<std::string> paths = {options.tls_cert, options.tls_key, options.token_file,
                                    options.discover.replay, options.folder};
  for (const std::string& meter : options.discover.meters) {
    paths.push_back(meter.substr(0, meter.find(',')));
  }
  for (const std::string& path : paths) {
    // With the real ids, and without our capabilities.
    if (path.empty() || ::access(path.c_str(), R_OK) == 0) continue;
    return IoError(fmt::format("'{}': {}", Printable(path), std::strerror(errno)));
  }
  return {};
}

// Said now, not to the first who wants to measure.
Status CheckFolder(const std::string& folder) {
  auto file = UnnamedFile::Create(folder);
  if (file) return {};
  Error error = file.error();
  if (!folder.empty()) error.options = {"folder"};
  return error;
}

Result<std::string> ReadFileOf(const std::string& path) {
  auto source = TRY(ByteSource::Open(path));
  return ReadAll(source, kMostOfPem);
}

// Both loopback addresses, of which a machine without IPv6 has one, and the socket.
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

Result<RpcServerOptions> PlacesToListen(const MonitorOptions& options) {
  RpcServerOptions server;
  std::vector<Address> addresses;
  for (const std::string& text : options.listen) {
    auto address = TRY(ParseAddress(text));
    addresses.push_back(std::move(address));
  }
  if (addresses.empty()) {
    addresses = UsualAddresses();
    server.skip_missing = true;
  }
  for (const Address& address : addresses) {
    (address.is_local() ? server.local : server.remote).push_back(address);
  }
  const bool has_all =
      !options.tls_cert.empty() && !options.tls_key.empty() && !options.token_file.empty();
  const bool has_some =
      !options.tls_cert.empty() || !options.tls_key.empty() || !options.token_file.empty();
  if (!server.remote.empty() && !has_all) {
    return MisuseError(fmt::format(
        "{}: other machines can reach that address; it needs a TLS certificate, its key and a "
        "token file, all three",
        server.remote.front().text()));
  }
  if (server.remote.empty() && has_some) {
    return MisuseError(
        "a TLS certificate, its key and a token file are for addresses that other machines can "
        "reach; there is none to listen on");
  }
  if (server.remote.empty()) return server;
  auto certificate = TRY(ReadFileOf(options.tls_cert));
  auto key = TRY(ReadFileOf(options.tls_key));
  auto token = TRY(ReadToken(options.token_file));
  server.certificate = std::move(certificate);
  server.key = std::move(key);
  server.token = std::move(token);
  return server;
}

// Blocks the termination signals in all later threads, and waits for one.
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

// Nothing if no page is wanted.
Result<std::optional<Address>> MetricsAddress(const std::string& text) {
  if (text.empty()) return std::optional<Address>();
  auto address = TRY(ParseAddress(text));
  if (!address.is_local()) {
    return MisuseError(
        fmt::format("{}: other machines can reach that address; serve metrics on loopback "
                    "behind a proxy with TLS",
                    text));
  }
  return std::optional(std::move(address));
}

SessionsOptions SessionsOptionsOf(const MonitorOptions& options,
                                  const DescriptorShares& descriptors) {
  SessionsOptions sessions;
  sessions.period = options.period;
  const bool exports = !options.metrics.empty() || !options.otlp.empty();
  if (exports) sessions.idle_period = kPowerForExporters;
  sessions.folder = options.folder;
  sessions.log = &Say;
  sessions.published_parts = options.published_parts;
  sessions.tell_sessions = options.metrics_sessions;
  sessions.coarse_for = options.coarse_for;
  SessionLimits& limits = sessions.limits;
  limits.tasks_of_user = std::min(limits.tasks_of_user, descriptors.of_user);
  limits.sessions = options.limit_sessions;
  limits.sessions_of_user = std::min(options.limit_sessions_of_user, descriptors.of_user);
  limits.kept_of_user = std::min(limits.kept_of_user, descriptors.of_user);
  limits.descriptors = descriptors.of_users;
  limits.bytes_of_user = options.limit_bytes_of_user;
  limits.bytes = options.limit_bytes;
  limits.all_bytes = options.limit_all_bytes;
  limits.length = options.limit_length;
  limits.forget_after = options.forget_after;
  return sessions;
}

// `sessions` must outlive the server.
Result<std::unique_ptr<HttpServer>> ServeMetrics(const Address& address, Sessions& sessions,
                                                 const DescriptorShares& descriptors) {
  HttpOptions http;
  http.routes.Add("GET", "/metrics", [&sessions](const HttpRequest&) {
    return HttpAnswer{200, "text/plain; version=0.0.4; charset=utf-8",
                      views::WritePrometheus(sessions.Live())};
  });
  http.limits.descriptors = descriptors.of_users;
  return HttpServer::Open(address, std::move(http));
}

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

Status RunMonitor(const MonitorOptions& options) {
  EndSignal end;
  TakeLibraryLogs(&Say);
  const DescriptorShares descriptors = TakeAllDescriptors();
  TRY(CheckPaths(options));
  TRY(CheckFolder(options.folder));
  auto server_options = TRY(PlacesToListen(options));
  const auto metrics = TRY(MetricsAddress(options.metrics));
  std::optional<HttpTarget> otlp;
  if (!options.otlp.empty()) otlp = TRY(ParseTarget(options.otlp));

  const SessionsOptions sessions_options = SessionsOptionsOf(options, descriptors);
  auto meters = TRY(MachineMeters::Find(
      options.machine, options.discover,
      {sessions_options.limits.tasks_of_user, descriptors.of_users, descriptors.of_all}));
  Guard guard = Guard::OfThisProcess(options.machine.procfs);
  server_options.remote_uid = guard.monitor_uid;
  server_options.log = &Say;
  server_options.descriptors = descriptors.of_users;
  server_options.connections_of_user =
      std::min(server_options.connections_of_user, descriptors.of_user);
  Sessions sessions(*meters, guard, sessions_options);

  auto server = TRY(RpcServer::Open(sessions, std::move(server_options)));
  std::vector<std::string> places;
  for (const Address& address : server->addresses()) places.push_back(address.text());
  std::unique_ptr<HttpServer> page;
  if (metrics) {
    page = TRY(ServeMetrics(*metrics, sessions, descriptors));
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
  return {};
}

}  // namespace beryl::server
