// A folder for the files of a test, which is gone after it. A base of fixtures.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace beryl {

class FolderForTest {
 public:
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;

 protected:
  FolderForTest() {
    std::string name = (std::filesystem::temp_directory_path() / "beryl-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~FolderForTest() {
    if (!before_.empty()) std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  // Makes it the current folder until the test ends.
  void EnterFolder() {
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
  }
  // Returns the path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string Copy(const std::string& from, const std::string& name) const {
    return Write(name, Content(from));
  }
  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
  std::filesystem::path before_;  // the current folder, if the test entered its own
};

}  // namespace beryl
