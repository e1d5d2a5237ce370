#include "base/text.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <simdjson.h>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

std::optional<int64_t> Micros(std::string_view text) {
  const auto nanos = ParseMicros(text);
  if (!nanos) return std::nullopt;
  return nanos->value;
}

TEST(ParseMicrosTest, IsExactToTheNanosecond) {
  EXPECT_EQ(Micros("0"), 0);
  EXPECT_EQ(Micros("1"), 1000);
  EXPECT_EQ(Micros("1690000000000086"), 1690000000000086000);
  EXPECT_EQ(Micros("1690000000000086.123"), 1690000000000086123);
  EXPECT_EQ(Micros("3937023951673.7"), 3937023951673700);
  EXPECT_EQ(Micros("0.001"), 1);
  EXPECT_EQ(Micros("-12.5"), -12500);
  EXPECT_EQ(Micros("2000000000000000"), 2000000000000000000);
}

TEST(ParseMicrosTest, DigitsBelowTheNanosecondAreRounded) {
  EXPECT_EQ(Micros("1.0019"), 1002);
  EXPECT_EQ(Micros("1.0014"), 1001);
  EXPECT_EQ(Micros("118.41699999999992"), 118417);
  EXPECT_EQ(Micros("1.9999999999999999999999999"), 2000);
  EXPECT_EQ(Micros("-1.0019"), -1002);
}

TEST(ParseMicrosTest, AroundTheBordersOfEightDigits) {
  EXPECT_EQ(Micros("9999999"), 9999999000);
  EXPECT_EQ(Micros("99999999"), 99999999000);
  EXPECT_EQ(Micros("100000000"), 100000000000);
  EXPECT_EQ(Micros("12345678.5"), 12345678500);
  EXPECT_EQ(Micros("1234567.5"), 1234567500);
  EXPECT_EQ(Micros("123456789012345"), 123456789012345000);
  EXPECT_EQ(Micros("1234567890123456"), 1234567890123456000);
  // Characters next to the digits must not pass for digits.
  for (const char c : {'/', ':', ';', '?', '\xb5', 'p'}) {
    std::string text = "12345678";
    text[3] = c;
    EXPECT_EQ(Micros(text), std::nullopt) << c;
  }
}

TEST(ParseMicrosTest, ExponentsAreRead) {
  EXPECT_EQ(Micros("1.5e6"), 1500000000);
  EXPECT_EQ(Micros("1E3"), 1000000);
  EXPECT_EQ(Micros("-2e-3"), -2);
}

TEST(ParseMicrosTest, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "-",
                           ".",
                           ".5",
                           "+5",
                           "abc",
                           "1a",
                           "1.2.3",
                           "--1",
                           "1e",
                           "1e400",
                           "0x10",
                           "nan",
                           "inf",
                           "null",
                           "12345678901234567",
                           "99999999999999999999999999",
                           "4000000000000001",
                           "-4000000000000001",
                           "1e16"}) {
    EXPECT_EQ(Micros(text), std::nullopt) << text;
  }
}

// Digit by digit in 128 bits: slow and obviously right.
std::optional<int64_t> SlowMicros(const std::string& whole, const std::string& fraction) {
  __extension__ using Wide = __int128;
  Wide nanos = 0;
  for (const char c : whole) nanos = nanos * 10 + (c - '0');
  for (size_t i = 0; i < 3; ++i) nanos = nanos * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  if (fraction.size() > 3 && fraction[3] >= '5') ++nanos;
  if (whole.size() > 16 || nanos > Wide{4'000'000'000'000'000'000}) return std::nullopt;
  return static_cast<int64_t>(nanos);
}

TEST(ParseMicrosTest, AgreesWithASlowReference) {
  std::mt19937_64 random(3);
  auto digits = [&](size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string whole = digits(1 + random() % 17);
    const std::string fraction = digits(random() % 8);
    const bool negative = random() % 4 == 0;
    const std::string text =
        (negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction);
    auto expected = SlowMicros(whole, fraction);
    if (expected && negative) expected = -*expected;
    ASSERT_EQ(Micros(text), expected) << text;
  }
}

TEST(ParseNumberTest, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseNumber("1.5"), 1.5);
  EXPECT_EQ(ParseNumber(" -2e3\t"), -2000.0);
  EXPECT_EQ(ParseNumber("+3"), 3.0);
  for (const char* text : {"", " ", "x", "1x", "1 2", "nan", "inf", "1e999", "0x10", "+-1"}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << text;
  }
}

TEST(SplitTest, KeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(LowerCaseTest, ChangesLettersOfAsciiAlone) {
  EXPECT_EQ(LowerCase("Transfer-ENCODING \xC3\x9C[@`{"), "transfer-encoding \xC3\x9C[@`{");
}

TEST(TrimTest, TakesBlanksOffBothEnds) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(ContainsWordTest, FindsWordsNotParts) {
  EXPECT_TRUE(ContainsWord("Optimizer.step#AdamW", "optimizer"));
  EXPECT_TRUE(ContainsWord("my_BACKWARD_2", "backward"));
  EXPECT_FALSE(ContainsWord("AddmmBackward0", "backward"));
  EXPECT_FALSE(ContainsWord("optimizers", "optimizer"));
  EXPECT_FALSE(ContainsWord("", "optimizer"));
}

TEST(SplitNumberTest, FindsTheNumberAtTheEnd) {
  struct Case {
    const char* name;
    const char* stem;
    uint64_t number;
  };
  for (const Case& expected : std::vector<Case>{{"layer_3", "layer_", 3},
                                                {"layers.12", "layers.", 12},
                                                {"h.0", "h.", 0},
                                                {"block3", "block", 3},
                                                {"3", "", 3},
                                                {"a1b02", "a1b", 2},
                                                {"x999999999", "x", 999999999}}) {
    const auto split = SplitNumber(expected.name);
    ASSERT_TRUE(split) << expected.name;
    EXPECT_EQ(split->stem, expected.stem);
    EXPECT_EQ(split->number, expected.number);
  }
  for (const char* name : {"", "layer", "layer_3a", "x1234567890"}) {
    EXPECT_FALSE(SplitNumber(name)) << name;
  }
}

TEST(FormatTest, ThreeDigitsAndAUnitThatFits) {
  EXPECT_EQ(FormatJoules(12.345), "12.3 J");
  EXPECT_EQ(FormatJoules(0.00456), "4.56 mJ");
  EXPECT_EQ(FormatJoules(1200), "1.20 kJ");
  EXPECT_EQ(FormatJoules(999.6), "1.00 kJ");
  EXPECT_EQ(FormatJoules(99.96), "100 J");
  EXPECT_EQ(FormatJoules(-0.5), "-500 mJ");
  EXPECT_EQ(FormatJoules(0), "0 J");
  EXPECT_EQ(FormatJoules(std::nan("")), "?");
  EXPECT_EQ(FormatWatts(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(FormatWatts(3.2e7), "32.0 MW");
  EXPECT_EQ(FormatSeconds(1.5e-6), "1.50 µs");
  EXPECT_EQ(FormatJoules(Joules{12.345}), "12.3 J");
  EXPECT_EQ(FormatWatts(std::optional(Watts{3})), "3.00 W");
  EXPECT_EQ(FormatSeconds(std::optional<Seconds>()), "?");
}

TEST(FormatTest, PercentAndCount) {
  EXPECT_EQ(FormatPercent(0.1234), "12.3%");
  EXPECT_EQ(FormatPercent(0), "0.0%");
  EXPECT_EQ(FormatPercent(0.0001), "<0.1%");
  EXPECT_EQ(FormatPercent(-0.0001), ">-0.1%");
  EXPECT_EQ(FormatPercent(std::nan("")), "?");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
}

TEST(FormatTest, TimesAreDatesWherePlausible) {
  EXPECT_EQ(FormatTime(Nanos{1690000000000086000}), "2023-07-22 04:26:40.000086 UTC");
  EXPECT_EQ(FormatTime(Nanos{1'500'000'000}), "1.500000 s");
  EXPECT_EQ(FormatTime(Nanos{-1'500'000'000}), "-1.500000 s");
}

TEST(EllipsizeTest, FitsTheWidthInColumns) {
  EXPECT_EQ(Ellipsize("short", 5), "short");
  EXPECT_EQ(Ellipsize("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(Ellipsize("ééééééééé", 4), "é…éé");
  EXPECT_EQ(Ellipsize("abc", 1), "…");
  EXPECT_EQ(Ellipsize("abc", 0), "");
  EXPECT_EQ(EllipsizePath("bert/encoder/layer_0/query", 20), "…/layer_0/query");
  for (size_t width = 0; width < 30; ++width) {
    EXPECT_LE(DisplayWidth(Ellipsize("bért/encoder/层_0/query", width)), width);
    EXPECT_LE(DisplayWidth(EllipsizePath("bért/encoder/层_0/query", width)), width);
  }
}

TEST(PrintableTest, AnyBytesBecomeValidText) {
  EXPECT_EQ(Printable("plain é 層 🙂"), "plain é 層 🙂");
  EXPECT_EQ(Printable("a\xffz\x01\x7f\n"), "a\\xffz\\x01\\x7f\\n");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");           // an overlong '/'
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(Printable("\x1b[2J\t\r"), "\\x1b[2J\\t\\r");
  // C1, and what changes the direction of writing or ends a line.
  EXPECT_EQ(Printable("\u0085\u009b31m"), "\\u0085\\u009b31m");
  EXPECT_EQ(Printable("\u202egpj.\u2066\u200f\u061c\u2028"),
            "\\u202egpj.\\u2066\\u200f\\u061c\\u2028");
  EXPECT_EQ(PrintableLines("one\ntwo\x07\n"), "one\ntwo\\x07\n");
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes;
    for (size_t size = random() % 24; size > 0; --size) {
      // Lead and continuation bytes more often than chance would have them.
      bytes += static_cast<char>(random() % 2 == 0 ? 0x80 + random() % 0x80 : random() % 256);
    }
    const std::string text = Printable(bytes);
    ASSERT_TRUE(simdjson::validate_utf8(text));
    ASSERT_TRUE(std::none_of(text.begin(), text.end(),
                             [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }));
    ASSERT_EQ(Printable(text), text);
  }
}

TEST(FormatTest, NoNumberHasHundredsOfDigits) {
  for (const double number : {1e302, -8e136, 1.7e308}) {
    for (const std::string& text :
         {FormatJoules(number), FormatWatts(number), FormatSeconds(number), FormatPercent(number),
          FormatFixed(number, 2)}) {
      EXPECT_LT(text.size(), 16U) << text;
    }
  }
  EXPECT_EQ(FormatWatts(1e302), "1.00e+302 W");
  EXPECT_EQ(FormatJoules(5e12), "5000 GJ");
}

TEST(PrintableMessage, GoesOnOnlyInIndentedLines) {
  EXPECT_EQ(PrintableMessage("first\n  second"), "first\n  second");
  EXPECT_EQ(PrintableMessage("first\nberyl: forged"), "first\\nberyl: forged");
  EXPECT_EQ(PrintableMessage(""), "");
}

TEST(SplitNames, LeavesOutBlanksAndEmptyNames) {
  EXPECT_THAT(SplitNames(" a ,b c,, "), ElementsAre("a", "b c"));
  EXPECT_THAT(SplitNames(""), IsEmpty());
}

}  // namespace
}  // namespace beryl
