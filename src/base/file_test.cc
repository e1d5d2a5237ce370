#include "base/file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <zlib.h>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

std::string Gzip(std::string_view text, size_t comment_bytes = 0) {
  z_stream deflater{};
  EXPECT_EQ(deflateInit2(&deflater, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string comment(comment_bytes, 'c');
  gz_header header{};
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  if (comment_bytes > 0) deflateSetHeader(&deflater, &header);
  std::string packed(deflateBound(&deflater, text.size()) + comment_bytes + 64, '\0');
  std::string input(text);
  deflater.next_in = reinterpret_cast<Bytef*>(input.data());
  deflater.avail_in = static_cast<uInt>(input.size());
  deflater.next_out = reinterpret_cast<Bytef*>(packed.data());
  deflater.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&deflater, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - deflater.avail_out);
  deflateEnd(&deflater);
  return packed;
}

std::string RandomText(size_t size) {
  std::mt19937 random(1);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 20);
  return text;
}

struct ReadBack {
  std::string text;
  std::string damage;
};

ReadBack ReadMemory(std::string_view bytes) {
  ByteSource source = ByteSource::FromMemory(bytes, "memory");
  auto text = ReadAll(source, size_t{1} << 30);
  EXPECT_TRUE(text);
  return {text ? *text : "", source.damage()};
}

// A folder that goes away with the test.
class FileTest : public ::testing::Test {
 protected:
  FileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("beryl_file_test." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static void Write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t FilesInFolder() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(FileTest, ReadsAPlainFile) {
  Write(Path("plain"), "some text");
  auto source = ByteSource::Open(Path("plain"));
  ASSERT_TRUE(source);
  EXPECT_EQ(source->file_size(), 9u);
  auto text = ReadAll(*source, 100);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "some text");
  EXPECT_EQ(source->file_position(), 9u);
  EXPECT_EQ(source->damage(), "");
}

TEST_F(FileTest, ReadsGzipByContentWhateverTheName) {
  Write(Path("trace.json"), Gzip("packed text"));
  auto source = ByteSource::Open(Path("trace.json"));
  ASSERT_TRUE(source);
  auto text = ReadAll(*source, 100);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "packed text");
}

TEST_F(FileTest, MissingFilesAndFoldersAreErrors) {
  auto missing = ByteSource::Open(Path("nothing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_THAT(missing.error().message, HasSubstr(Path("nothing")));
  auto folder = ByteSource::Open(Path(""));
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a directory"));
}

TEST_F(FileTest, OutputStandsOnlyAfterCommit) {
  auto file = OutputFile::Open(Path("out"));
  ASSERT_TRUE(file);
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
  ASSERT_TRUE(file->Commit("the result"));
  EXPECT_EQ(Content(Path("out")), "the result");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(FileTest, OutputWithoutCommitLeavesWhatWasThere) {
  Write(Path("out"), "old");
  {
    auto file = OutputFile::Open(Path("out"));
    ASSERT_TRUE(file);
    EXPECT_EQ(Content(Path("out")), "old");
  }
  EXPECT_EQ(Content(Path("out")), "old");
  EXPECT_EQ(FilesInFolder(), 1u);
  auto file = OutputFile::Open(Path("out"));
  ASSERT_TRUE(file);
  OutputFile moved = std::move(*file);
  ASSERT_TRUE(moved.Commit("new"));
  EXPECT_EQ(Content(Path("out")), "new");
}

TEST_F(FileTest, OutputThatCannotBeFailsAtOnce) {
  EXPECT_FALSE(OutputFile::Open(Path("no/such/folder/out")));
  EXPECT_FALSE(OutputFile::Open(Path("")));
}

TEST_F(FileTest, OutputGoesToADeviceInPlace) {
  auto file = OutputFile::Open("/dev/null");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->Commit("nobody reads this"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(FileTest, ACommitThatFailsLeavesNothingBehind) {
  auto file = OutputFile::Open(Path("out"));
  ASSERT_TRUE(file);
  std::filesystem::create_directories(Path("out/in the way"));
  {
    OutputFile out = std::move(*file);
    EXPECT_FALSE(out.Commit("x"));
  }
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST(ByteSourceTest, EmptyAndShortTexts) {
  for (const char* text : {"", "x", "\x1f", "xy"}) EXPECT_EQ(ReadMemory(text).text, text);
}

TEST(ByteSourceTest, PeekConsumesNothing) {
  for (const std::string& bytes : {std::string("0123456789"), Gzip("0123456789")}) {
    ByteSource source = ByteSource::FromMemory(bytes, "memory");
    EXPECT_EQ(*source.Peek(4), "0123");
    EXPECT_EQ(*source.Peek(2), "01");
    EXPECT_EQ(*source.Peek(100), "0123456789");
    char buffer[3];
    EXPECT_EQ(*source.Read(buffer, 3), 3u);
    EXPECT_EQ(std::string(buffer, 3), "012");
    EXPECT_EQ(*ReadAll(source, 100), "3456789");
  }
}

TEST(ByteSourceTest, ReadAllRefusesMoreThanItsLimit) {
  ByteSource source = ByteSource::FromMemory("0123456789", "memory");
  auto text = ReadAll(source, 5);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("memory: larger than"));
}

TEST(GzipTest, LargeAndEmptyTexts) {
  const std::string text = RandomText(3'000'000);
  EXPECT_EQ(ReadMemory(Gzip(text)).text, text);
  EXPECT_EQ(ReadMemory(Gzip("")).text, "");
  EXPECT_EQ(ReadMemory(Gzip("")).damage, "");
}

TEST(GzipTest, SeveralMembersAreOneText) {
  EXPECT_EQ(ReadMemory(Gzip("one ") + Gzip("") + Gzip("two")).text, "one two");
  EXPECT_EQ(ReadMemory(Gzip("one") + "trailing bytes").text, "one");
}

// The next member must be found wherever the buffer happens to end.
TEST(GzipTest, AMemberMayEndAtTheEndOfTheBuffer) {
  const size_t plain = Gzip("one ", 1).size() - 1;
  for (size_t buffer = size_t{256} << 10, off = 0; off < 8; ++off) {
    const std::string first = Gzip("one ", buffer - plain - 3 + off);
    const ReadBack back = ReadMemory(first + Gzip("two"));
    EXPECT_EQ(back.text, "one two") << first.size();
    EXPECT_EQ(back.damage, "") << first.size();
  }
}

TEST(GzipTest, ATruncatedStreamGivesWhatCameBefore) {
  const std::string text = RandomText(500'000);
  const std::string packed = Gzip(text);
  for (const size_t size : {packed.size() - 1, packed.size() - 9, packed.size() / 2, size_t{11},
                            size_t{3}, size_t{2}}) {
    const ReadBack back = ReadMemory(packed.substr(0, size));
    EXPECT_THAT(back.damage, HasSubstr("cut short")) << size;
    EXPECT_TRUE(text.starts_with(back.text)) << size;
  }
  EXPECT_GT(ReadMemory(packed.substr(0, packed.size() / 2)).text.size(), text.size() / 4);
}

TEST(GzipTest, ADamagedStreamSaysSo) {
  const std::string text = RandomText(500'000);
  std::string packed = Gzip(text);
  for (size_t i = 0; i < 100; ++i) packed[packed.size() / 2 + i] = '\xff';
  const ReadBack back = ReadMemory(packed);
  EXPECT_THAT(back.damage, HasSubstr("damaged near byte"));
  std::string wrong_check = Gzip("abc");
  wrong_check[wrong_check.size() - 6] ^= 1;
  EXPECT_THAT(ReadMemory(wrong_check).damage, HasSubstr("damaged"));
}

}  // namespace
}  // namespace beryl
