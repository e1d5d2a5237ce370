#include "views/text/text_page.h"

#include "base/matchers_for_test.h"

namespace beryl::views {
namespace {

// However a name reaches a page: a line stays a line, and a terminal obeys nothing in it.
TEST(TextPageTest, ControlsInALineAreMadeVisible) {
  const std::string hostile =
      "a\x1b[2J\nb\u202ec\x9b"
      "d\r\x1b[31mred\x1b";
  ViewOptions options;
  for (const bool color : {false, true}) {
    options.color = color;
    TextPage page(options);
    page.Line(hostile);
    const std::string text = page.Take();
    EXPECT_THAT(text, StartsWith("a\\x1b[2J\\nb\\u202ec\\x9bd\\r")) << text;
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    if (!color) EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(TextPageTest, ItsOwnStylesPass) {
  ViewOptions options;
  options.color = true;
  TextPage page(options);
  page.Line(page.Bold("bold") + " é " + page.Styled("failed", kFailureStyle));
  EXPECT_EQ(page.Take(), "\x1b[1mbold\x1b[0m é \x1b[31mfailed\x1b[0m\n");
}

}  // namespace
}  // namespace beryl::views
