#include "cli/arguments.h"
#include "flows/remote_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kPushText = {"push", "Send a run to beryl serve, here or elsewhere",
                                   R"(It prints the run's URL, which beryl pull takes.

EXAMPLES
  beryl push run.beryl --to http://127.0.0.1:8420 --tag paper
  beryl push --ops trace.json.gz --power power.csv --to https://box.example.org --token-file token)"};

constexpr CommandText kPullText = {"pull", "Get the files of a run from beryl serve, unchanged",
                                   R"(EXAMPLES
  beryl pull 8f3k2m9qw4tz7abc --from http://127.0.0.1:8420 -o run.beryl
  beryl pull https://box.example.org/api/v1/runs/8f3k2m9qw4tz7abc --token-file token -o there/)"};

struct RemoteArguments {
  flows::RemoteServer server;
  RunArguments run;
  LibraryEntry said;
  std::string output = ".";
  bool force = false;
};

Result<int> RunPush(const RemoteArguments& arguments) {
  const auto pushed = TRY(flows::PushRun(arguments.server, arguments.run.files, arguments.said));
  Say("{} {}\n", pushed.is_new ? "sent" : "there already:", FormatBytes(pushed.bytes));
  fmt::print("{}\n", Printable(pushed.url));
  return kSuccess;
}

Result<int> RunPull(const RemoteArguments& arguments) {
  for (const std::string& file : TRY(flows::PullRun(arguments.server, arguments.said.id,
                                                    arguments.output, arguments.force))) {
    if (file != "-") Say("wrote {}\n", Printable(file));
  }
  return kSuccess;
}

Parameter AddServerOptions(Command& command, flows::RemoteServer& server, const char* name) {
  auto url = command.Option(name, server.url, "The server, as http://HOST:PORT or https://HOST");
  command.Option("--token-file FILE", server.token_file, "File with the token that it asks for");
  server.watch = ShowProgress;
  return url;
}

}  // namespace

void AddPush(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kPushText, group, RunPush);
  AddInputOptions(command, arguments.run);
  AddServerOptions(command, arguments.server, "--to URL").Required();
  AddEntryOptions(command, arguments.said);
}

void AddPull(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kPullText, group, RunPull);
  command.Argument("ID|URL", arguments.said.id, "The run").Required();
  AddServerOptions(command, arguments.server, "--from URL");
  command.Option("-o,--output FILE|DIR", arguments.output, "A file, or a folder for its own name");
  command.Flag("--force", arguments.force, "Replace files that exist");
}

}  // namespace beryl::cli
