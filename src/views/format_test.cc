#include "views/format.h"

#include "base/matchers_for_test.h"
#include "views/views.h"

namespace beryl::views {
namespace {

TEST(Formats, AreNamedInOrder) {
  EXPECT_THAT(kFormats<Comparison>.Named(),
              ElementsAre(Pair("table", Format::kTable), Pair("json", Format::kJson),
                          Pair("csv", Format::kCsv), Pair("svg", Format::kSvg)));
  EXPECT_TRUE(kFormats<AccountReport>.Has(Format::kHtml));
  EXPECT_FALSE(kFormats<SideBySide>.Has(Format::kSvg));
}

TEST(CheckFormat, NamesWhatThereIs) {
  EXPECT_TRUE(CheckFormat(kFormats<SideBySide>, Format::kCsv, "it"));
  const auto refused = CheckFormat(kFormats<SideBySide>, Format::kSvg, "a comparison");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kMisuse);
  EXPECT_EQ(refused.error().message,
            "format svg: a comparison has no such format; it has table, json, csv");
}

}  // namespace
}  // namespace beryl::views
