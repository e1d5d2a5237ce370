#include "sources/count_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/machine_files.h"

namespace beryl::sources {
namespace {

constexpr uint32_t kSuspiciouslyStill = 8;
// A missing file is tried at every reading at first, then now and then.
constexpr uint32_t kEagerAttempts = 64;
constexpr uint32_t kReadingsAnAttempt = 64;
constexpr int kPatientAttempts = 5;
constexpr useconds_t kBetweenAttemptsUs = 1000;

}  // namespace

CountFile::CountFile(std::string path, std::optional<uint64_t> largest, Sign sign)
    : path_(std::move(path)), largest_(largest), sign_(sign) {
  Open();
}

CountFile::CountFile(CountFile&& other) noexcept
    : path_(std::move(other.path_)),
      largest_(other.largest_),
      sign_(other.sign_),
      fd_(std::exchange(other.fd_, -1)),
      error_(other.error_),
      device_(other.device_),
      inode_(other.inode_),
      ever_opened_(other.ever_opened_),
      is_of_kernel_(other.is_of_kernel_),
      open_each_time_(other.open_each_time_),
      last_(other.last_),
      still_(other.still_),
      attempts_(other.attempts_) {}

CountFile::~CountFile() { Close(); }

void CountFile::Open() {
  // Non-blocking, because it may be a pipe. Without O_NOATIME, reading is expensive on disks that
  // record access times; only the owner may use it.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOATIME);
  if (fd_ < 0 && errno == EPERM) fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  error_ = fd_ < 0 ? errno : 0;
  struct stat found {};
  if (fd_ < 0 || open_each_time_ || ::fstat(fd_, &found) != 0) return;
  if (ever_opened_ && (found.st_dev != device_ || found.st_ino != inode_)) open_each_time_ = true;
  device_ = found.st_dev;
  inode_ = found.st_ino;
  ever_opened_ = true;
  struct statfs system {};
  is_of_kernel_ = ::fstatfs(fd_, &system) == 0 && system.f_type == SYSFS_MAGIC;
}

void CountFile::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

MeterReading CountFile::Gone(int error) {
  Close();
  error_ = error;
  still_ = 0;
  return {ReadState::kGone, 0};
}

MeterReading CountFile::Missing() {
  ++attempts_;
  if (attempts_ > kEagerAttempts && attempts_ % kReadingsAnAttempt != 0) {
    return {ReadState::kGone, 0};
  }
  Open();
  return {fd_ < 0 ? ReadState::kGone : ReadState::kOk, 0};
}

// Closes the file if its path now leads elsewhere or nowhere.
void CountFile::LookAtPath() {
  still_ = 0;
  struct stat found {};
  if (::stat(path_.c_str(), &found) != 0) {
    error_ = errno;
    Close();
  } else if (found.st_dev != device_ || found.st_ino != inode_) {
    Close();
    Open();
  }
}

MeterReading CountFile::Read() {
  if (open_each_time_) Close();
  if (fd_ < 0) {
    if (const MeterReading opened = Missing(); opened.state != ReadState::kOk) return opened;
  }
  if (still_ >= kSuspiciouslyStill && !is_of_kernel_) {
    LookAtPath();
    if (fd_ < 0) return {ReadState::kGone, 0};
  }
  std::array<char, 64> text;
  const ssize_t got = ::pread(fd_, text.data(), text.size(), 0);
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return {ReadState::kRetry, 0};
    return Gone(errno);
  }
  attempts_ = 0;
  std::string_view number(text.data(), static_cast<size_t>(got));
  if (sign_ == Sign::kIgnored && number.starts_with('-')) number.remove_prefix(1);
  const auto count = ParseCount(number);
  if (!count || (largest_ && *count > *largest_)) {
    ++still_;
    return {ReadState::kRetry, 0};
  }
  still_ = *count == last_ ? still_ + 1 : 0;
  last_ = *count;
  return {ReadState::kOk, *count};
}

MeterReading CountFile::ReadPatiently() {
  MeterReading reading = Read();
  for (int i = 0; i < kPatientAttempts && reading.state == ReadState::kRetry; ++i) {
    ::usleep(kBetweenAttemptsUs);
    reading = Read();
  }
  return reading;
}

std::string CountFile::Trouble() const {
  if (error_ != 0) return ErrorText(error_);
  const auto text = ReadLine(path_);
  if (!text) return "it cannot be read";
  if (text->empty()) return "it is empty";
  const auto count = ParseCount(*text);
  if (count && largest_ && *count > *largest_) {
    return fmt::format("{} is above its maximum ({})", *count, *largest_);
  }
  constexpr size_t kMostShown = 40;
  return fmt::format("'{}' is not a number", Printable(text->substr(0, kMostShown)));
}

void CountFiles::KeepOnly(std::span<const size_t> places) {
  files_ = Picked(std::move(files_), places);
  channels_ = Picked(std::move(channels_), places);
}

void CountFiles::Add(PowerChannel channel, CountFile file) {
  channels_.push_back(std::move(channel));
  files_.push_back(std::move(file));
}

void CountFiles::Read(std::span<MeterReading> out) {
  for (size_t i = 0; i < files_.size(); ++i) out[i] = files_[i].Read();
}

}  // namespace beryl::sources
