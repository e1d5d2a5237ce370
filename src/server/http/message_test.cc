#include "server/http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/finished_answer.h"

namespace beryl::server {
namespace {

TEST(HttpMessage, EscapesAreUndoneAndMade) {
  EXPECT_EQ(PercentDecode("a%20b+c%2F"), "a b+c/");
  EXPECT_EQ(PercentDecode("a+b", true), "a b");
  for (const char* bad : {"%", "%2", "%zz", "a%2"}) EXPECT_FALSE(PercentDecode(bad)) << bad;
  const std::string any = "a b/ü\"%";
  EXPECT_EQ(PercentDecode(PercentEncode(any)), any);
}

TEST(HttpMessage, AQueryHasItsMembersInOrder) {
  const auto members = ParseQuery("a=1&b=x%3Dy&&flag&a=2");
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 4u);
  EXPECT_EQ((*members)[1].value, "x=y");
  EXPECT_EQ((*members)[2].name, "flag");
  EXPECT_EQ((*members)[3].value, "2");
  EXPECT_FALSE(ParseQuery("a=%1"));
}

TEST(HttpMessage, ClientsSayWhatTheyTake) {
  for (const char* yes : {"gzip", "deflate, gzip;q=0.5", "*", "br;q=1, gzip;q=1.0"}) {
    EXPECT_TRUE(TakesGzip(yes)) << yes;
  }
  for (const char* no : {"", "br", "gzip;q=0", "gzip;q=0.0", "xgzip"}) {
    EXPECT_FALSE(TakesGzip(no)) << no;
  }
  EXPECT_TRUE(HasTag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(HasTag("*", "\"b\""));
  EXPECT_FALSE(HasTag("\"ab\"", "\"b\""));
}

TEST(FinishedAnswer, TheSameBytesHaveTheSameTag) {
  HttpAnswer answer{200, "application/json", std::string(5000, 'x')};
  answer.reuse = HttpReuse::kKeep;
  const FinishedAnswer one = Finish(answer);
  const FinishedAnswer again = Finish(answer);
  answer.body[4999] = 'y';
  const FinishedAnswer other = Finish(answer);
  EXPECT_EQ(one.tag, again.tag);
  EXPECT_NE(one.tag, other.tag);
  EXPECT_NE(one.tag.substr(0, 17), other.tag.substr(0, 17));
  EXPECT_NE(one.tag.substr(17), other.tag.substr(17));
  answer.reuse = HttpReuse::kNever;
  EXPECT_EQ(Finish(answer).tag, "");
}

TEST(FinishedAnswer, ComesBackFromItsPackedForm) {
  HttpAnswer answer{200, "application/json", std::string(5000, '7')};
  answer.reuse = HttpReuse::kKeep;
  auto finished = std::make_shared<FinishedAnswer>(Finish(answer));
  EXPECT_TRUE(finished->packs);
  EXPECT_FALSE(finished->is_only_packed());
  Pack(*finished);
  EXPECT_TRUE(finished->is_only_packed());
  EXPECT_EQ(Unpacked(*finished), answer.body);
  AnswerCache cache(100'000);
  cache.Keep("a", finished);
  const size_t packed = cache.bytes();
  for (const char* body : {"plain", "another"}) cache.Complete(*finished, std::string(body));
  EXPECT_EQ(finished->answer.body, "plain") << "somebody may be sent it";
  EXPECT_EQ(cache.bytes(), packed + 5);
}

TEST(AnswerCache, ForgetsWhatWasAskedForLeast) {
  AnswerCache cache(6000);
  const auto make = [] {
    return std::make_shared<FinishedAnswer>(Finish({200, "text/plain", std::string(700, 'x')}));
  };
  for (const char* key : {"a", "b", "c", "d"}) cache.Keep(key, make());
  EXPECT_NE(cache.Find("a"), nullptr);
  cache.Keep("e", make());
  EXPECT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_LE(cache.bytes(), 6000u);
  const size_t before = cache.bytes();
  cache.Complete(*cache.Find("a"), std::make_shared<const std::string>(50, 'x'));
  cache.Complete(*cache.Find("a"), std::make_shared<const std::string>(50, 'x'));
  EXPECT_EQ(cache.bytes(), before + 50);
  const auto stranger = make();
  cache.Complete(*stranger, std::make_shared<const std::string>(50, 'x'));
  EXPECT_NE(stranger->gzip, nullptr);
  EXPECT_EQ(cache.bytes(), before + 50) << "what is not kept does not count";
  cache.Keep("large",
             std::make_shared<FinishedAnswer>(Finish({200, "text/plain", std::string(3000, 'x')})));
  EXPECT_EQ(cache.Find("large"), nullptr);
}

}  // namespace
}  // namespace beryl::server
