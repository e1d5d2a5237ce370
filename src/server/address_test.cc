#include "server/address.h"

#include <gtest/gtest.h>

namespace beryl::server {
namespace {

TEST(Address, KnowsWhatIsLocal) {
  for (const char* text :
       {"unix:/tmp/a.sock", "127.0.0.1:50051", "127.9.9.9:1", "[::1]:50051", "localhost:0"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address) << text;
    EXPECT_TRUE(address->is_local()) << text;
  }
  for (const char* text : {"0.0.0.0:50051", "[::]:50051", "192.168.1.2:50051", "[fe80::1]:1"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address) << text;
    EXPECT_FALSE(address->is_local()) << text;
  }
}

TEST(Address, SaysItAgain) {
  EXPECT_EQ(ParseAddress("[::1]:50051")->text(), "[::1]:50051");
  EXPECT_EQ(ParseAddress("localhost:7")->text(), "127.0.0.1:7");
  EXPECT_EQ(ParseAddress("unix:/a b")->text(), "unix:/a b");
}

TEST(Address, RefusesWhatIsNone) {
  for (const std::string& text :
       {std::string(""), std::string(":"), std::string("localhost"), std::string("127.0.0.1:"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"), std::string("127.0.0.1:8x"),
        std::string("::1:50051"), std::string("[::1]50051"), std::string("[127.0.0.1]:1"),
        std::string("example.org:80"), std::string("unix:"), "unix:" + std::string(200, 'a'),
        std::string("127.0.0.1\0:1", 12), std::string("127.1:80")}) {
    const auto address = ParseAddress(text);
    ASSERT_FALSE(address) << text;
    EXPECT_NE(address.error().message.find("expected unix:PATH"), std::string::npos);
  }
}

}  // namespace
}  // namespace beryl::server
