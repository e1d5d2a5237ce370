#include "cli/arguments.h"
#include "cli/services.h"

namespace beryl::cli {

const CommandText kMonitorText = {
    "monitor", "Measure as a service, for programs, Prometheus and OpenTelemetry",
    R"(WHO MAY CONNECT
  By default it listens on loopback, port 50051, as the published monitor does, and on the socket
  /run/beryl/monitor.sock (root, services) or $XDG_RUNTIME_DIR/beryl.sock. Every local user may connect
  and watch their own processes; root may watch all. An address that other machines can reach needs
  TLS and a token, sent as 'authorization: Bearer TOKEN'.

ENVIRONMENT
  BERYL_SYSFS, BERYL_PROCFS    folders to read instead of /sys and /proc
  BERYL_NVML                   library to load instead of libnvidia-ml.so.1
  TMPDIR                       where sessions store their recordings (/var/tmp)

EXAMPLES
  beryl monitor
  beryl monitor --metrics
  beryl monitor --otlp http://localhost:4318
  beryl monitor --listen 0.0.0.0:50051 --tls-cert cert.pem --tls-key key.pem --token-file token
docs/monitor.md describes the services, and how to run it under systemd.)"};

void AddMonitorOptions(Command& command, server::MonitorRequest& arguments) {
  server::MonitorOptions& options = arguments.options;
  command.Option("--listen ADDR", options.listen,
                 "Address to listen on: unix:PATH or HOST:PORT; repeatable; default: loopback and "
                 "the socket");
  command.Option("--period TIME", arguments.period,
                 "Time between readings if a session does not set it; 1ms to 10m");
  command.Option("--metrics ADDR", options.metrics, "Serve /metrics to Prometheus at this address")
      .OrJust("127.0.0.1:9464");
  command.Flag("--metrics-sessions", options.metrics_sessions,
               "Include the names and energy of sessions in /metrics, for everyone who can fetch "
               "it");
  command.Option("--otlp http://HOST:PORT", options.otlp, "Send metrics to this OTLP collector");
  command.Option("--otlp-interval TIME", arguments.otlp_interval, "Time between sending metrics");
  command.Option("--tls-cert PEM", options.tls_cert, "Certificate, for other machines");
  command.Option("--tls-key PEM", options.tls_key, "Key of the certificate");
  command.Option("--token-file FILE", options.token_file, "File with the token of clients");
  command.Option("--limit-sessions N", options.limit_sessions, "Most sessions at a time");
  command.Option("--limit-user N", options.limit_sessions_of_user, "Most sessions of one user");
  command.Option("--limit-size MB", arguments.limit_megabytes,
                 "Largest size of a session's file, in megabytes");
  command.Option("--limit-user-size MB", arguments.limit_megabytes_of_user,
                 "Largest size of all sessions of one user, in megabytes");
  command.Option("--limit-all MB", arguments.limit_all_megabytes,
                 "Largest size of all sessions together, in megabytes");
  command.Option("--limit-length TIME", arguments.limit_length, "Longest duration of a session");
  command.Option("--forget-after TIME", arguments.forget_after,
                 "How long a finished session is kept after the last request");
  command.Option("--folder DIR", options.folder, "Directory for the recordings of sessions");
  command.Option("--coarse WHICH", arguments.coarse,
                 "Sessions of users other than root that get coarse readings of the processors, "
                 "because fine ones tell what others compute: machine (those of no process), all "
                 "or none");
  command.Flag("--published-parts", options.published_parts,
               "Also give published clients the cores and uncore of a package, which most of them "
               "add up");
  AddMeterOptions(command, arguments.meters);
}

void AddMonitor(Command& program, const char* group) {
  Command& command = program.Subcommand(kMonitorText, group);
  AddMonitorOptions(command, command.Keep<server::MonitorRequest>());
  command.Run([&command] { return BecomeProgram(command, kMonitorText, "beryl-monitor"); });
}

}  // namespace beryl::cli
