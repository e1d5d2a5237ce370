#include "cli/services.h"

int main(int argc, char** argv) {
  using namespace beryl;
  server::ServeRequest request;
  return cli::RunService(
      argc, argv, cli::kServeText, "beryl-server",
      [&](cli::Command& command) { cli::AddServeOptions(command, request); },
      [&]() -> Status { return server::RunServe(TRY(server::ServeOptionsOf(request))); });
}
