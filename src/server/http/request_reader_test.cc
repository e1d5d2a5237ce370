#include "server/http/request_reader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

// What is left of a request after its bytes came in pieces of that size.
struct Read {
  int status = 0;  // of the refusal; 0: it was taken
  std::string body;
  bool is_done = false;
  size_t taken = 0;
};

Read ReadIn(std::string_view bytes, size_t piece, HttpLimits limits = {}) {
  RequestReader reader(limits);
  Read read;
  std::string in;
  for (size_t at = 0; at < bytes.size() && !reader.is_done() && !reader.refusal(); at += piece) {
    in += bytes.substr(at, piece);
    size_t taken = 1;
    while (taken > 0 && !in.empty() && !reader.is_done() && !reader.refusal()) {
      const bool had_head = reader.has_head();
      taken = reader.Take(in, read.body);
      read.taken += taken;
      in.erase(0, taken);
      if (!had_head && reader.has_head()) taken = 1;
    }
  }
  read.is_done = reader.is_done();
  if (!reader.refusal() && !read.is_done) reader.End();
  if (reader.refusal()) read.status = reader.refusal()->status;
  return read;
}

constexpr const char* kNoChunk =
    "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
constexpr const char* kChunked =
    "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3;ext=1\r\nabc\r\n4\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n";

TEST(RequestReader, ReadsTheSameInPiecesOfAnySize) {
  const std::string sized =
      "POST /x?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\nabcdefgGET /next HTTP/1.1\r\n";
  for (size_t piece = 1; piece < 200; ++piece) {
    const Read chunked = ReadIn(kChunked, piece);
    EXPECT_EQ(chunked.status, 0) << piece;
    EXPECT_EQ(chunked.body, "abcdefg") << piece;
    const Read none = ReadIn(kNoChunk, piece);
    EXPECT_EQ(none.status, 0) << piece;
    EXPECT_EQ(none.body, "") << piece;
    const Read read = ReadIn(sized, piece);
    EXPECT_EQ(read.status, 0) << piece;
    EXPECT_EQ(read.body, "abcdefg") << piece;
    // What follows belongs to the next request.
    EXPECT_EQ(read.taken, sized.size() - std::string("GET /next HTTP/1.1\r\n").size()) << piece;
  }
}

TEST(RequestReader, RefusesWhatCanBeReadInTwoWays) {
  const struct {
    const char* fields;
    int status;
  } cases[] = {
      {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", 400},
      {"Transfer-Encoding: gzip, chunked\r\n", 501},
      {"Transfer-Encoding: identity\r\n", 501},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Content-Length: 3\r\nContent-Length: 4\r\n", 400},
      {"Content-Length: 3\r\nContent-Length: 3\r\n", 400},
      {"Content-Length: -1\r\n", 400},
      {"Content-Length: 3x\r\n", 400},
      {"Host: other\r\n", 400},
      {"Expect: something\r\n", 417},
      {"X: a\x01b\r\n", 400},
      {"X : y\r\n", 400},
  };
  for (const auto& bad : cases) {
    const std::string request =
        std::string("POST /x HTTP/1.1\r\nHost: h\r\n") + bad.fields + "\r\nabc";
    EXPECT_EQ(ReadIn(request, 1000).status, bad.status) << bad.fields;
    EXPECT_EQ(ReadIn(request, 1).status, bad.status) << bad.fields;
  }
  EXPECT_EQ(ReadIn("POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1000).status,
            400);
  EXPECT_EQ(ReadIn("GET x HTTP/1.1\r\nHost: h\r\n\r\n", 1000).status, 400);
  EXPECT_EQ(ReadIn("GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 1000).status, 400);
  EXPECT_EQ(ReadIn("GET / HTTP/3.0\r\nHost: h\r\n\r\n", 1000).status, 505);
}

TEST(RequestReader, RefusesChunksThatAreNone) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* bad : {"x\r\nabc\r\n0\r\n\r\n", "3\nabc\n0\n\n", "3\r\nabcd\r\n0\r\n\r\n",
                          "-3\r\nabc\r\n0\r\n\r\n", "fffffffffffffffff\r\nabc\r\n"}) {
    EXPECT_EQ(ReadIn(head + bad, 1000).status, 400) << bad;
  }
}

TEST(RequestReader, EachLimitHasItsStatus) {
  HttpLimits limits;
  limits.head_bytes = 300;
  limits.target_bytes = 50;
  limits.body_bytes = 5;
  const std::string long_text(400, 'x');
  EXPECT_EQ(ReadIn("GET /" + long_text + " HTTP/1.1\r\n\r\n", 7, limits).status, 431);
  EXPECT_EQ(ReadIn("GET /" + long_text.substr(0, 100) + " HTTP/1.1\r\n\r\n", 7, limits).status,
            414);
  // However short its fields are, and however it comes.
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 40; ++i) many += "X: 12345\r\n";
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{100}, many.size() + 2}) {
    EXPECT_EQ(ReadIn(many + "\r\n", piece, limits).status, 431) << piece;
    EXPECT_EQ(ReadIn(many, piece, limits).status, 431) << piece;
  }
  EXPECT_EQ(ReadIn(kChunked, 7, limits).status, 413);
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(ReadIn(head + "1;" + long_text + "\r\na\r\n0\r\n\r\n", 7, limits).status, 431);
  EXPECT_EQ(ReadIn(head + "1\r\na\r\n0\r\nT: " + long_text + "\r\n\r\n", 7, limits).status, 431);
}

}  // namespace
}  // namespace beryl::server
