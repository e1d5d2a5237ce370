#include "server/serve.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/token_file.h"
#include "flows/open_library.h"
#include "server/api/api.h"
#include "server/api/job_kinds.h"
#include "server/api/metrics.h"
#include "server/api/problem.h"
#include "server/caller.h"
#include "server/http/server.h"
#include "server/job_workers.h"
#include "server/own_energy.h"
#include "server/peer_address.h"
#include "server/site.h"
#include "server/socket.h"
#include "server/stderr_log.h"

namespace beryl::server {
namespace {

constexpr uint16_t kUsualPort = 8420;
constexpr uint64_t kMegabyte = uint64_t{1} << 20;
constexpr size_t kMostOfPem = size_t{1} << 20;
constexpr int kFirstPassed = 3;  // as sd_listen_fds(3) has it

void Say(const std::string& what) {
  // Never destroyed: threads may outlive main.
  static LineLog& log = *new LineLog(STDERR_FILENO, "beryl serve: ");
  log.Say(what);
}

Result<std::string> ReadFileOf(const std::string& path) {
  auto source = TRY(ByteSource::Open(path));
  return ReadAll(source, kMostOfPem);
}

// What SIGHUP reads again.
struct Secrets {
  std::string token;
  std::string certificate;
  std::string key;
};

Result<Secrets> ReadSecrets(const ServeOptions& options) {
  Secrets secrets;
  if (!options.token_file.empty()) secrets.token = TRY(ReadToken(options.token_file));
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return MisuseError("a TLS certificate and its key belong together", {"tls_cert", "tls_key"});
  }
  if (!options.tls_cert.empty()) {
    secrets.certificate = TRY(ReadFileOf(options.tls_cert));
    secrets.key = TRY(ReadFileOf(options.tls_key));
  }
  return secrets;
}

Result<std::vector<Address>> AddressesOf(const ServeOptions& options) {
  std::vector<Address> addresses;
  for (const std::string& text : options.listen) {
    addresses.push_back(TRY(ParseAddress(text)));
  }
  if (addresses.empty()) addresses.push_back({"", "127.0.0.1", kUsualPort});
  for (const Address& address : addresses) {
    if (address.is_local() || !options.token_file.empty() || options.read_only) continue;
    return MisuseError(
        fmt::format("{}: other machines can reach that address; it needs a token file, or must be "
                    "read-only",
                    address.text()),
        {"token_file", "read_only"});
  }
  return addresses;
}

// A socket that systemd has opened already.
std::optional<int> PassedSocket() {
  const char* pid = ::secure_getenv("LISTEN_PID");
  const char* count = ::secure_getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::string(count) != "1") return std::nullopt;
  if (std::string(pid) != std::to_string(::getpid())) return std::nullopt;
  return kFirstPassed;
}

std::vector<std::string> HostsOf(const ServeOptions& options,
                                 const std::vector<Address>& addresses) {
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "[::1]"};
  for (const Address& address : addresses) {
    if (!address.host.empty()) {
      hosts.push_back(address.is_ipv6 ? "[" + address.host + "]" : address.host);
    }
  }
  hosts.insert(hosts.end(), options.hosts.begin(), options.hosts.end());
  return hosts;
}

// Connections and files need descriptors.
void RaiseDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A line of JSON for each request. Somebody who does not read it delays nobody.
class AccessLog {
 public:
  // "-" is standard output. Appends to what a file has.
  static Result<std::unique_ptr<AccessLog>> Open(const std::string& path) {
    const int fd = path == "-"
                       ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                       : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return IoError(fmt::format("{}: {}", path, std::strerror(errno)));
    return std::unique_ptr<AccessLog>(new AccessLog(fd));
  }

  void Note(const HttpExchange& exchange) {
    const HttpRequest& request = *exchange.request;
    JsonWriter json;
    json.BeginObject().Member("time", Now());
    json.Member("peer", exchange.peer).Member("method", Printable(request.method));
    // A long path is cut, so that the line is written as a whole.
    json.Member("path", Printable(std::string_view(request.path).substr(0, kMostOfPath)));
    json.Member("route", exchange.route).Member("status", exchange.status);
    json.Member("bytes", exchange.bytes).Member("seconds", exchange.time.value).End();
    lines_.Say(json.Take());
  }

 private:
  static constexpr size_t kMostOfPath = 512;
  explicit AccessLog(int fd)
      : fd_(fd),
        lines_(fd, "", [](uint64_t lost) { return fmt::format("{{\"lost\":{}}}", lost); }) {}

  // "2026-01-31T12:00:00.123Z"
  static std::string Now() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::tm parts{};
    ::gmtime_r(&now.tv_sec, &parts);
    char text[32];
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    return fmt::format("{}.{:03}Z", text, now.tv_nsec / 1'000'000);
  }

  const OwnedFd fd_;
  LineLog lines_;
};

class Server {
 public:
  explicit Server(const ServeOptions& options) : options_(options) {}

  Status Start() {
    const std::vector<Address> addresses = TRY(AddressesOf(options_));
    secrets_ = TRY(ReadSecrets(options_));
    policy_.hosts = HostsOf(options_, addresses);
    policy_.allowed_origins = options_.allowed_origins;
    policy_.read_only = options_.read_only;
    policy_.token = secrets_.token;
    if (!options_.access_log.empty()) access_log_ = TRY(AccessLog::Open(options_.access_log));
    TRY(OpenLibrary());
    EmployWorkers();
    const auto passed = PassedSocket();
    if (passed) {
      servers_.push_back(TRY(HttpServer::On(*passed, addresses.front(), MakeOptions())));
    } else {
      for (const Address& address : addresses) {
        servers_.push_back(TRY(HttpServer::Open(address, MakeOptions())));
      }
    }
    std::vector<std::string> places;
    for (const auto& server : servers_) places.push_back(UrlOf(server->address()));
    Say(fmt::format("listening on {}", fmt::join(places, ", ")));
    if (!no_library_.empty()) Say(fmt::format("runs are not kept: {}", no_library_));
    return {};
  }

  void Reload() {
    // Whoever rotates logs has given the old one another name.
    if (access_log_) {
      auto log = AccessLog::Open(options_.access_log);
      if (!log) return Say(fmt::format("the old log stays: {}", log.error().message));
      const std::lock_guard lock(mutex_);
      access_log_ = *std::move(log);
    }
    auto secrets = ReadSecrets(options_);
    if (!secrets) return Say(fmt::format("the old secrets stay: {}", secrets.error().message));
    if (!secrets->certificate.empty()) {
      for (const auto& server : servers_) {
        const auto used = server->UseCertificate(secrets->certificate, secrets->key);
        if (!used) return Say(fmt::format("the old secrets stay: {}", used.error().message));
      }
    }
    {
      const std::lock_guard lock(mutex_);
      policy_.token = secrets->token;
    }
    for (const auto& server : servers_) server->Reconsider();
    Say("token and certificate were read again");
  }

  // What uploads left that were refused: no other process can remove it.
  void CollectGarbage() {
    if (!library_ || options_.read_only) return;
    if (const auto garbage = library_->CollectGarbage(); !garbage) Say(garbage.error().message);
  }

  void End() {
    if (workers_) workers_->Stop();
    for (const auto& server : servers_) server->Drain(options_.end_patience);
    servers_.clear();
    workers_.reset();
  }

 private:
  Status OpenLibrary() {
    auto library = flows::OpenLibrary(
        options_.library,
        {.most_bytes = options_.library_megabytes * kMegabyte, .read_only = options_.read_only});
    if (!library) {
      if (!options_.library.empty()) return library.error();
      no_library_ = library.error().message;
      return {};
    }
    library_ = *std::move(library);
    api_.library = library_.get();
    return {};
  }

  void EmployWorkers() {
    if (!library_ || options_.read_only || options_.jobs == 0) return;
    workers_ = std::make_unique<JobWorkers>(
        *library_, options_.jobs,
        [this](const LibraryJob& job) { return TaskOf(api_, *library_, job); }, Say);
    api_.on_new_job = [workers = workers_.get()] { workers->Wake(); };
  }

  std::string UrlOf(const Address& address) const {
    if (address.is_unix()) return address.text();
    return fmt::format("http{}://{}/", secrets_.certificate.empty() ? "" : "s", address.text());
  }

  HttpOptions MakeOptions() {
    HttpOptions options;
    options.limits = options_.limits;
    if (options.limits.workers == 0) {
      options.limits.workers = std::max(2U, std::thread::hardware_concurrency());
    }
    options.certificate = secrets_.certificate;
    options.key = secrets_.key;
    options.peer_of = [most = options_.limits](int fd) { return PeerOf(fd, most); };
    options.judge = [this](const HttpRequest& request) {
      const std::lock_guard lock(mutex_);
      return Judge(policy_, request);
    };
    if (!options_.access_log.empty()) {
      options.log = [this](const HttpExchange& exchange) {
        const std::lock_guard lock(mutex_);
        access_log_->Note(exchange);
      };
    }
    HttpRoutes& routes = options.routes;
    routes.OnRefusal([](const HttpRequest& request, HttpAnswer answer) {
      HttpAnswer problem = ProblemAnswer(answer.status, Trim(answer.body), request.path);
      problem.fields = std::move(answer.fields);
      return problem;
    });
    routes.Add("GET", "/healthz", [](const HttpRequest&) {
      return HttpAnswer{200, HttpAnswer().type, "ok\n"};
    });
    routes.Add("GET", "/metrics", [this](const HttpRequest&) { return Metrics(); });
    routes.Add("POST", "/api/v1/login",
               [this](const HttpRequest& request) { return Login(request); });
    AddContractRoutes(routes);
    AddPageRoutes(routes);
    AddModelRoutes(api_, routes);
    AddEntryRoutes(api_, routes);
    AddAdditionRoutes(api_, routes, options_.upload_megabytes * kMegabyte);
    AddAnalysisRoutes(api_, routes);
    AddCompareRoute(api_, routes);
    AddCostRoutes(api_, routes);
    AddJobRoutes(api_, routes);
    flows::WatchOptions watch;
    watch.machine = sources::Machine::FromEnvironment();
    AddLiveRoute(routes, watch);
    return options;
  }

  HttpAnswer Login(const HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    if (!CarriesToken("Bearer " + std::string(Trim(request.body)), policy_.token)) {
      return ProblemAnswer(401, "that is not the token of this server", request.path);
    }
    HttpAnswer answer;
    answer.status = 204;
    answer.fields.push_back({"set-cookie", LoginCookie(policy_.token, request.is_encrypted)});
    return answer;
  }

  HttpAnswer Metrics() {
    HttpFigures figures;
    for (const auto& server : servers_) figures.Add(server->figures());
    std::string page = WriteMetrics(figures, own_energy_.devices());
    if (library_) {
      if (const auto counts = library_->Count()) page += WriteMetrics(*counts);
    }
    return {200, "text/plain; version=0.0.4; charset=utf-8", std::move(page)};
  }

  const ServeOptions& options_;
  std::unique_ptr<store::Library> library_;
  std::string no_library_;  // why there is none
  Api api_;
  Secrets secrets_;
  OwnEnergy own_energy_{sources::Machine::FromEnvironment()};
  std::mutex mutex_;  // for policy_ and access_log_
  SitePolicy policy_;
  std::unique_ptr<AccessLog> access_log_;
  std::unique_ptr<JobWorkers> workers_;
  std::vector<std::unique_ptr<HttpServer>> servers_;
};

}  // namespace

Status RunServe(const ServeOptions& options) {
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  RaiseDescriptors();
  Server server(options);
  TRY(server.Start());
  while (true) {
    const timespec hour = {3600, 0};
    const int signal = ::sigtimedwait(&signals, nullptr, &hour);
    if (signal == SIGHUP) server.Reload();
    if (signal < 0 && errno == EAGAIN) server.CollectGarbage();
    if (signal == SIGTERM || signal == SIGINT) break;
  }
  server.End();
  return {};
}

}  // namespace beryl::server
