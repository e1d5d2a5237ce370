#include "base/token_file.h"

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl {
namespace {

class TokenFileTest : public ::testing::Test, protected FolderForTest {
 protected:
  std::string WriteSecret(const std::string& name, const std::string& text, bool is_secret = true) {
    namespace fs = std::filesystem;
    const std::string path = Write(name, text);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    if (!is_secret) fs::permissions(path, fs::perms::others_read, fs::perm_options::add);
    return path;
  }
};

TEST_F(TokenFileTest, HasTheTokenInItsFirstLineForItsOwnerAlone) {
  EXPECT_EQ(*ReadToken(WriteSecret("good", "0123456789abcdef0123\nmore\n")),
            "0123456789abcdef0123");
  EXPECT_THAT(ReadToken(WriteSecret("open", "0123456789abcdef0123\n", false)).error().message,
              HasSubstr("chmod 600"));
  EXPECT_THAT(ReadToken(WriteSecret("short", "secret\n")).error().message,
              HasSubstr("openssl rand"));
  EXPECT_FALSE(ReadToken("no/such/file"));
}

}  // namespace
}  // namespace beryl
