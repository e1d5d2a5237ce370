#include "cli/cli.h"

int main(int argc, char** argv) { return beryl::cli::Run(argc, argv); }
