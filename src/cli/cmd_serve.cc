#include "cli/services.h"

namespace beryl::cli {

const CommandText kServeText = {
    "serve", "Serve models, predictions and runs over HTTP, for programs and browsers",
    R"(WHAT IT SERVES
  /api/v1/models, profiles, describe, predict: what the commands of these names print with --format json.
  Parameters have the names of their options: /api/v1/predict?model=gpt2&batch=8&seq=128
  /api/v1/runs: the runs in a library (beryl library), uploads, and account, rank, diagram, timeline,
  measurement and export of each. /api/v1/datasets, jobs: data sets, and training and evaluating with them.
  /healthz, /metrics (Prometheus). docs/serve.md describes them, and nginx and systemd.

WHO MAY CONNECT
  By default this machine, at http://127.0.0.1:8420/. Another address needs --token-file or --read-only, and
  should have --tls-cert and --tls-key. Requests for an unknown host name are refused; --host adds a name.
  Pages of other sites cannot change anything, and can read only if --allow-origin names their origin.

SIGNALS
  SIGTERM and SIGINT end it after the running requests; SIGHUP reads the token and the certificate again.

EXAMPLES
  beryl serve
  beryl serve --library postgresql://box/energy
  beryl serve --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem --token-file token --host beryl.example.org)"};

void AddServeOptions(Command& command, server::ServeRequest& arguments) {
  server::ServeOptions& options = arguments.options;
  command.Option(
      "--listen ADDR", options.listen,
      "Address to listen on, HOST:PORT or unix:PATH; repeatable; default: 127.0.0.1:8420");
  command.Option("--host NAME", options.hosts, "Also answer for this host name; repeatable");
  command.Option("--allow-origin ORIGIN", options.allowed_origins,
                 "Let pages of this origin use the API, as https://example.org; repeatable");
  command.Option("--token-file FILE", options.token_file, "File with the token of clients");
  command.Flag("--read-only", options.read_only, "Refuse requests that change something");
  command.Option("--tls-cert PEM", options.tls_cert, "Certificate, for HTTPS");
  command.Option("--tls-key PEM", options.tls_key, "Key of the certificate");
  command.OutputOption("--access-log FILE", options.access_log,
                       "Append a line of JSON for each request; - is standard output");
  command.Option("--library DIR", options.library,
                 "The library of runs: a folder, or postgresql://...; default: $BERYL_LIBRARY or "
                 "your own");
  command.Option("--limit-upload MB", options.upload_megabytes, "Largest upload, in megabytes");
  command.Option("--limit-library MB", options.library_megabytes,
                 "Most that the library may hold, in megabytes; 0: what fits");
  command.Option("--limit-connections N", options.limits.connections, "Most connections in all");
  command.Option("--limit-peer N", options.limits.connections_of_peer,
                 "Most connections of one address of another machine");
  command.Option("--head-time TIME", arguments.head_time, "Most time for the head of a request");
  command.Option("--body-time TIME", arguments.body_time,
                 "Most time for its body and for the answer, plus 1 s for every 16 KiB");
  command.Option("--idle-time TIME", arguments.idle_time, "Close connections that idle this long");
  command.Option("--threads N", options.limits.workers, "Threads for answers", Between(0, 1024));
  command.Option("--jobs N", options.jobs, "Jobs at a time; 0: none here", Between(0, 1024));
}

void AddServe(Command& program, const char* group) {
  Command& command = program.Subcommand(kServeText, group);
  AddServeOptions(command, command.Keep<server::ServeRequest>());
  command.Run([&command] { return BecomeProgram(command, kServeText, "beryl-server"); });
}

}  // namespace beryl::cli
