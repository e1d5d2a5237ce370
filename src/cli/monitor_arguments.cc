#include "cli/monitor_arguments.h"

#include "cli/command_line.h"

namespace beryl::cli {

const char* const kMonitorFooter =
    R"(WHO MAY ASK
  By default it listens on loopback, port 50051, as the published monitor does, and on the socket
  /run/beryl/monitor.sock (root, services) or $XDG_RUNTIME_DIR/beryl.sock. Everybody on this machine
  may connect and watch processes of his own; root may watch all. An address that others can reach
  takes TLS and a token, sent as 'authorization: Bearer TOKEN'.

ENVIRONMENT
  BERYL_SYSFS, BERYL_PROCFS    folders to read instead of /sys and /proc
  BERYL_NVML                   library to load instead of libnvidia-ml.so.1
  TMPDIR                       where sessions keep what they measure (/var/tmp)

EXIT STATUS
  0 ended by SIGTERM or SIGINT   1 failed, such as an address that is taken   2 wrong use

EXAMPLES
  beryl monitor
  beryl monitor --metrics
  beryl monitor --listen unix:/tmp/beryl.sock --period 10ms
  beryl monitor --otlp http://localhost:4318
  beryl monitor --listen 0.0.0.0:50051 --tls-cert cert.pem --tls-key key.pem --token-file token
docs/monitor.md has the services, and how to run it by systemd.)";

void AddMonitorOptions(Command& command, MonitorArguments& arguments) {
  command
      .add_option("--listen", arguments.listen,
                  "Where to listen: unix:PATH or HOST:PORT, several times if need be; default: "
                  "loopback and the socket")
      ->type_name("ADDR");
  command
      .add_option("--period", arguments.period,
                  "How often meters are read for a session that does not say; 1ms to 10m")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--metrics", arguments.metrics,
                  "Serve /metrics to Prometheus there; without an address at 127.0.0.1:9464")
      ->type_name("ADDR")
      ->expected(0, 1)
      ->default_str("127.0.0.1:9464");
  command.add_flag("--metrics-sessions", arguments.metrics_sessions,
                   "Tell the energy of sessions there too, with their names, to whoever fetches");
  command.add_option("--otlp", arguments.otlp, "Send metrics to this OTLP/HTTP collector")
      ->type_name("http://HOST:PORT");
  command.add_option("--otlp-interval", arguments.otlp_interval, "How often")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--tls-cert", arguments.tls_cert, "Certificate, for addresses others can reach")
      ->type_name("PEM");
  command.add_option("--tls-key", arguments.tls_key, "Its key")->type_name("PEM");
  command.add_option("--token-file", arguments.token_file, "File with the token they have to send")
      ->type_name("FILE");
  command.add_option("--limit-sessions", arguments.limit_sessions, "Sessions at a time")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--limit-user", arguments.limit_sessions_of_user,
                  "Sessions of one user at a time")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--limit-size", arguments.limit_megabytes, "Megabytes of a session's file")
      ->type_name("MB")
      ->capture_default_str();
  command
      .add_option("--limit-all", arguments.limit_all_megabytes,
                  "Megabytes of all sessions together")
      ->type_name("MB")
      ->capture_default_str();
  command.add_option("--limit-length", arguments.limit_length, "How long a session may be")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--forget-after", arguments.forget_after,
                  "When a session that is over and that nobody asks for is forgotten")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--folder", arguments.folder, "Where sessions keep what they measure")
      ->type_name("DIR");
  command.add_flag(
      "--published-parts", arguments.published_parts,
      "Give published clients the cores and uncore of a package too; most add them up");
  AddMeterOptions(command, arguments.meters);
}

}  // namespace beryl::cli
