#include "server/http/multipart.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kForm =
    "a preamble, which nobody reads\r\n"
    "--x-y\r\n"
    "Content-Disposition: form-data; name=\"name\"\r\n"
    "\r\n"
    "a run\r\n"
    "--x-y  \r\n"
    "content-type: application/json\r\n"
    "CONTENT-DISPOSITION: form-data; filename=\"a \\\"b\\\" C:\\x.json\"; name=ops\r\n"
    "\r\n"
    "{\r\n--x-\r\n}\r\n"
    "--x-y\r\n"
    "Content-Disposition: form-data; name=\"empty\"; filename=\"\"\r\n"
    "\r\n"
    "\r\n"
    "--x-y--\r\n"
    "an epilogue --x-y\r\n";

// What the parts of a form are, "name|file|type|bytes"; or the error.
std::vector<std::string> Read(std::string_view form, size_t piece) {
  std::vector<std::string> parts;
  int open = 0;
  MultipartReader reader(
      "x-y",
      {[&](const PartHead& head) -> Status {
         parts.push_back(head.name + "|" + head.file_name.value_or("none") + "|" + head.type + "|");
         ++open;
         return {};
       },
       [&](std::string_view bytes) -> Status {
         EXPECT_EQ(open, 1);
         parts.back() += bytes;
         return {};
       },
       [&]() -> Status {
         --open;
         return {};
       }});
  for (size_t at = 0; at < form.size(); at += piece) {
    if (const auto taken = reader.Take(form.substr(at, piece)); !taken) {
      return {taken.error().message};
    }
  }
  if (const auto ended = reader.End(); !ended) return {ended.error().message};
  EXPECT_EQ(open, 0);
  return parts;
}

TEST(Multipart, ReadsTheSamePartsInPiecesOfAnySize) {
  for (size_t piece = 1; piece <= kForm.size(); ++piece) {
    EXPECT_THAT(Read(kForm, piece),
                ElementsAre("name|none||a run",
                            "ops|a \"b\" C:\\x.json|application/json|{\r\n--x-\r\n}", "empty|||"))
        << piece;
  }
}

TEST(Multipart, RefusesWhatIsNoForm) {
  // Cut off anywhere before its end.
  const size_t end = kForm.find("--x-y--") + 7;
  for (size_t size = 0; size < end; ++size) {
    EXPECT_THAT(Read(kForm.substr(0, size), 7), ElementsAre("the form has no end")) << size;
  }
  EXPECT_THAT(Read("--x-yz\r\n\r\n", 3), ElementsAre(HasSubstr("damaged")));
  EXPECT_THAT(Read("--x-y\r\n\r\nbytes\r\n--x-y--", 3), ElementsAre(HasSubstr("which field")));
  EXPECT_THAT(Read("--x-y\r\nContent-Disposition: form-data; name=\"a\r\n\r\n", 3),
              ElementsAre(HasSubstr("which field")));
  EXPECT_THAT(Read("--x-y\r\n" + std::string(10'000, 'h'), 999), ElementsAre(HasSubstr("damaged")));
  EXPECT_THAT(Read("--x-y" + std::string(10'000, ' '), 999), ElementsAre(HasSubstr("damaged")));
}

TEST(Multipart, KeepsLittleOfALongPart) {
  size_t most = 0;
  size_t all = 0;
  MultipartReader reader("b", {[](const PartHead&) -> Status { return {}; },
                               [&](std::string_view bytes) -> Status {
                                 most = std::max(most, bytes.size());
                                 all += bytes.size();
                                 return {};
                               },
                               []() -> Status { return {}; }});
  EXPECT_TRUE(reader.Take("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n"));
  const std::string piece(1000, '\r');
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(reader.Take(piece));
  EXPECT_TRUE(reader.Take("\r\n--b--"));
  EXPECT_TRUE(reader.End());
  EXPECT_EQ(all, 1'000'000u);
  EXPECT_LE(most, 2000u);
}

TEST(Multipart, ABoundaryIsOfThatTypeOnly) {
  EXPECT_EQ(BoundaryOf("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(BoundaryOf("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\""), "a b");
  for (const char* other :
       {"", "application/json", "multipart/mixed; boundary=abc", "multipart/form-data",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"abc"}) {
    EXPECT_FALSE(BoundaryOf(other)) << other;
  }
  EXPECT_FALSE(BoundaryOf("multipart/form-data; boundary=" + std::string(71, 'x')));
}

}  // namespace
}  // namespace beryl::server
