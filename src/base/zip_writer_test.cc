// tests/exports/run.py opens archives with Python's zipfile and unzip.
#include "base/zip_writer.h"

#include <map>
#include <random>

#include <zlib.h>

#include "base/deflate.h"
#include "base/matchers_for_test.h"

namespace beryl {
namespace {

uint32_t Number(std::string_view bytes, size_t at, size_t size) {
  uint32_t number = 0;
  for (size_t i = size; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

std::string InflateRaw(std::string_view deflated, size_t size) {
  std::string bytes(size, '\0');
  z_stream stream{};
  inflateInit2(&stream, -MAX_WBITS);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data()));
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(size);
  const int status = inflate(&stream, Z_FINISH);
  EXPECT_TRUE(status == Z_STREAM_END) << status;
  inflateEnd(&stream);
  return bytes;
}

// By way of the table of contents, as most readers do it.
std::map<std::string, std::string> ReadArchive(std::string_view archive) {
  std::map<std::string, std::string> files;
  const size_t end = archive.size() - 22;
  EXPECT_EQ(archive.substr(end, 4), "PK\5\6");
  size_t at = Number(archive, end + 16, 4);
  for (uint32_t i = 0; i < Number(archive, end + 10, 2); ++i) {
    EXPECT_EQ(archive.substr(at, 4), "PK\1\2");
    const size_t name_size = Number(archive, at + 28, 2);
    const std::string name(archive.substr(at + 46, name_size));
    const size_t head = Number(archive, at + 42, 4);
    EXPECT_EQ(archive.substr(head, 4), "PK\3\4");
    EXPECT_EQ(archive.substr(head + 30, name_size), name);
    const size_t deflated = Number(archive, at + 20, 4);
    const std::string_view data = archive.substr(head + 30 + name_size, deflated);
    files[name] = InflateRaw(data, Number(archive, at + 24, 4));
    EXPECT_EQ(Checksum(files[name]), Number(archive, at + 16, 4));
    // The same behind the file.
    const size_t tail = head + 30 + name_size + deflated;
    EXPECT_EQ(archive.substr(tail, 4), "PK\7\10");
    EXPECT_EQ(archive.substr(tail + 4, 12), archive.substr(at + 16, 12));
    at += 46 + name_size;
  }
  EXPECT_EQ(at, end);
  return files;
}

TEST(ZipWriterTest, FilesCanBeReadBack) {
  std::mt19937_64 random(7);
  std::string noise(3'000'000, '\0');
  for (char& letter : noise) letter = static_cast<char>(random());
  const std::string text(2'500'000, 'a');
  std::string archive;
  ZipWriter zip([&](std::string_view bytes) -> Status {
    archive += bytes;
    return {};
  });
  ASSERT_TRUE(zip.Add("empty", "").has_value());
  ASSERT_TRUE(zip.Add("noise.bin", noise).has_value());
  const std::string packed = Gzip(text);
  auto source = ByteSource::FromMemory(packed, "text.gz");
  ASSERT_TRUE(zip.Add("folder/text", source).has_value());
  ASSERT_TRUE(zip.Finish().has_value());
  const auto files = ReadArchive(archive);
  EXPECT_EQ(files.size(), 3U);
  EXPECT_EQ(files.at("empty"), "");
  EXPECT_TRUE(files.at("noise.bin") == noise);
  EXPECT_TRUE(files.at("folder/text") == text) << "a file is decompressed first";
}

TEST(ZipWriterTest, AFailureToWriteIsPassedOn) {
  ZipWriter zip([](std::string_view) -> Status { return InvalidError("full"); });
  EXPECT_FALSE(zip.Add("a", "b").has_value());
}

}  // namespace
}  // namespace beryl
