#include <algorithm>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "views/report_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

size_t CountOf(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// What stands inside the element that holds the data.
std::string DataOf(const std::string& page) {
  const std::string_view start = "id=\"beryl-data\">";
  const size_t from = page.find(start);
  EXPECT_NE(from, std::string::npos);
  const size_t to = page.find("</script", from);
  return page.substr(from + start.size(), to - from - start.size());
}

TEST(HtmlTest, NothingInANameCanEndTheScript) {
  const std::string clean = Write(MakeReport(), Format::kHtml, {});
  for (const char* name : {"</script><script>alert(1)</script>", "</SCRIPT >", "<!--<script>",
                           "]]>", "__BERYL_DATA__"}) {
    const std::string page = Write(MakeReport(name), Format::kHtml, {});
    EXPECT_EQ(CountOf(page, "</script"), CountOf(clean, "</script")) << name;
    EXPECT_EQ(CountOf(page, "<!--"), CountOf(clean, "<!--")) << name;
    EXPECT_THAT(DataOf(page), Not(HasSubstr("<"))) << name;
  }
}

TEST(HtmlTest, TheDataIsJsonWithTheTimeline) {
  std::string data = DataOf(Write(MakeReport("</script>"), Format::kHtml, {}));
  std::vector<std::string> keys;
  std::string timeline;
  const auto walked = json::WalkObject(data, "page", [&](json::Key key, json::Value value) {
    keys.emplace_back(key.Text());
    if (key == "timeline") timeline = std::string(value.Raw(1 << 16));
  });
  EXPECT_TRUE(walked) << (walked ? "" : walked.error().message);
  EXPECT_THAT(keys, ::testing::IsSupersetOf({"schema", "title", "account", "timeline"}));
  EXPECT_THAT(timeline, HasSubstr("\"mean_w\":[1,null]")) << "unknown power is not zero";
}

TEST(HtmlTest, ThePageStandsAlone) {
  const std::string page = Write(MakeReport(), Format::kHtml, {});
  EXPECT_THAT(page, Not(HasSubstr("__BERYL_DATA__")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
}

}  // namespace
}  // namespace beryl::views
