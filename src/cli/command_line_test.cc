#include "cli/command_line.h"

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::cli {
namespace {

class CommandTest : public testing::Test, protected FolderForTest {
 protected:
  CommandTest() {
    EnterFolder();
    Write("in.csv", "x");
  }
};

struct Arguments {
  std::string input, output, more;
  std::vector<std::string> words;
};

// Every option is looked at, unless it is said otherwise.
TEST_F(CommandTest, ACommandDoesNotStartIfItWouldWriteWhatItReads) {
  const auto run = [](std::vector<const char*> line) {
    Command program({"program", "", ""}, "1");
    int started = 0;
    Command& command = program.Subcommand({"do", "", ""}, "group");
    auto& arguments = command.Keep<Arguments>();
    command.Option("--input FILE", arguments.input, "");
    command.OutputOption("-o,--output FILE", arguments.output, "");
    command.OutputOption("--more-out FILE", arguments.more, "");
    command.Words("CMD", arguments.words, "");
    command.Run([&]() -> Result<int> { return ++started; });
    line.insert(line.begin(), {"program", "do"});
    const auto parsing = program.Parse(static_cast<int>(line.size()), line.data());
    EXPECT_EQ(parsing.refusal, "");
    return parsing.result ? "" : parsing.result.error().message;
  };
  EXPECT_EQ(run({"--input", "in.csv", "-o", "out.csv"}), "");
  EXPECT_THAT(run({"--input", "in.csv", "-o", "./in.csv"}),
              HasSubstr("-o ./in.csv: this is one of the inputs"));
  EXPECT_THAT(run({"--input", "in.csv", "--more-out", "in.csv"}), HasSubstr("--more-out in.csv"));
  EXPECT_THAT(run({"-o", "in.csv", "--more-out", "in.csv"}), HasSubstr("in.csv"));
  EXPECT_THAT(run({"-o", "in.csv", "--", "sh", "./in.csv"}), HasSubstr("one of the inputs"));
  EXPECT_EQ(run({"-o", "out.csv", "--", "ls", "."}), "");
}

// Such as the library of the environment.
TEST_F(CommandTest, WhatIsReadWithoutAnOptionIsNotWrittenEither) {
  for (const bool by_itself : {true, false}) {
    Command program({"program", "", ""}, "1");
    Arguments arguments;
    arguments.input = "in.csv";
    const auto declare = [&](Command& command) {
      command.OutputOption("-o,--output FILE", arguments.output, "");
      command.AlsoReads([&arguments] { return arguments.input; });
      command.Run([]() -> Result<int> { return 0; });
    };
    declare(by_itself ? program : program.Subcommand({"do", "", ""}, "group"));
    std::vector<const char*> line = {"program", "-o", "./in.csv"};
    if (!by_itself) line.insert(line.begin() + 1, "do");
    const auto parsing = program.Parse(static_cast<int>(line.size()), line.data());
    ASSERT_FALSE(parsing.result);
    EXPECT_THAT(parsing.result.error().message, HasSubstr("one of the inputs"));
  }
}

}  // namespace
}  // namespace beryl::cli
