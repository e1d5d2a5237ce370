#include "base/free_name.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

class FreeNameTest : public testing::Test {
 protected:
  FreeNameTest()
      : folder_(testing::TempDir() + "free_name_" + std::to_string(::getpid()) + "/a.b") {
    std::filesystem::create_directories(folder_);
  }
  ~FreeNameTest() override {
    std::filesystem::remove_all(std::filesystem::path(folder_).parent_path());
  }

  std::string Make(const std::string& name, const std::string& text = "x") const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  std::string folder_;
};

TEST_F(FreeNameTest, CountsUpToTheFirstNameThatIsFree) {
  EXPECT_EQ(FreeName(folder_ + "/run.beryl"), folder_ + "/run.beryl");
  Make("run.beryl");
  EXPECT_EQ(FreeName(folder_ + "/run.beryl"), folder_ + "/run-2.beryl");
  Make("run-2.beryl");
  Make("run-4.beryl");
  EXPECT_EQ(FreeName(folder_ + "/run.beryl"), folder_ + "/run-3.beryl");
}

TEST_F(FreeNameTest, AFileWithoutAnEndingAndALinkToNowhereAreTakenToo) {
  Make("run");
  EXPECT_EQ(FreeName(folder_ + "/run"), folder_ + "/run-2");
  std::filesystem::create_symlink("nowhere", folder_ + "/link.beryl");
  EXPECT_EQ(FreeName(folder_ + "/link.beryl"), folder_ + "/link-2.beryl");
}

TEST_F(FreeNameTest, OnlyFilesWithBytesHaveContent) {
  EXPECT_TRUE(HasContent(Make("full")));
  EXPECT_FALSE(HasContent(Make("empty", "")));
  EXPECT_FALSE(HasContent(folder_ + "/nothing"));
  EXPECT_FALSE(HasContent("/dev/null"));
}

}  // namespace
}  // namespace beryl
