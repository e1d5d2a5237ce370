#include "base/matchers_for_test.h"
#include "views/views.h"

namespace beryl::views {
namespace {

std::vector<CommandSynopsis> Commands() {
  return {{"show",
           "Show a run's energy",
           {{{}, {}, "A file", true},
            {{"--format", "-f"}, {"table", "json"}, "Output format", true},
            {{"--quiet"}, {}, "Say nothing", false}}},
          {"completion", "Print a script", {}}};
}

TEST(WriteCompletion, ForBashHasTheOptionsOfEachCommandAndTheirWords) {
  const std::string script = WriteCompletion(Commands(), "bash");
  EXPECT_THAT(script, HasSubstr("\"show completion --help --version\""));
  EXPECT_THAT(script, HasSubstr("show) words=\"--format -f --quiet\""));
  EXPECT_THAT(script, HasSubstr("show:--format) COMPREPLY=($(compgen -W \"table json\""));
}

TEST(WriteCompletion, ForZshIsThatOfBash) {
  const std::string script = WriteCompletion(Commands(), "zsh");
  EXPECT_THAT(script, StartsWith("#compdef beryl\n"));
  EXPECT_THAT(script, EndsWith(WriteCompletion(Commands(), "bash")));
}

TEST(WriteCompletion, ForFishQuotesDescriptions) {
  const std::string script = WriteCompletion(Commands(), "fish");
  EXPECT_THAT(script, HasSubstr("-a show -d 'Show a run'\\''s energy'"));
  EXPECT_THAT(script, HasSubstr("-l format -r -x -a \"table json\" -d 'Output format'"));
  EXPECT_THAT(script, HasSubstr("-l quiet -d 'Say nothing'"));
}

}  // namespace
}  // namespace beryl::views
