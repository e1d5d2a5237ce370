// A file that contains one number and is read repeatedly: an energy counter in /sys, or a gauge.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/search.h"

namespace beryl::sources {

// Kept open and read from its start with one system call. Files of /sys stay the same; a file that
// another program writes may be replaced or deleted, so when the count stands still, the path is
// checked again. Read allocates nothing.
class CountFile {
 public:
  enum class Sign : uint8_t {
    kNone,     // a number with a sign is invalid
    kIgnored,  // some drivers use it for the direction of a current
  };
  // Rejects counts above `largest`, if there is one.
  CountFile(std::string path, std::optional<uint64_t> largest, Sign sign = Sign::kNone);
  CountFile(CountFile&& other) noexcept;
  CountFile& operator=(CountFile&&) = delete;
  CountFile(const CountFile&) = delete;
  CountFile& operator=(const CountFile&) = delete;
  ~CountFile();

  MeterReading Read();
  // The first reading; a file that is just being written gets a few milliseconds.
  MeterReading ReadPatiently();
  // Why the last reading failed: the system's error, or "it is empty", "it is not a number".
  std::string Trouble() const;

  const std::string& path() const { return path_; }
  // errno of the last failed open or read; 0: it succeeded.
  int error() const { return error_; }

 private:
  void Open();
  void Close();
  MeterReading Gone(int error);
  MeterReading Missing();
  void LookAtPath();

  std::string path_;
  std::optional<uint64_t> largest_;
  Sign sign_;
  int fd_ = -1;
  int error_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool ever_opened_ = false;
  bool is_of_kernel_ = false;  // in /sys: it is never replaced
  bool open_each_time_ = false;
  uint64_t last_ = 0;
  uint32_t still_ = 0;     // consecutive readings without a change
  uint32_t attempts_ = 0;  // attempts to open it since it is gone
};

// A source with one file per channel.
class CountFiles : public PowerSource, public Divisible {
 public:
  void Add(PowerChannel channel, CountFile file);
  bool empty() const { return files_.empty(); }
  const std::vector<PowerChannel>& channels() const override { return channels_; }
  void Read(std::span<MeterReading> out) override;
  void KeepOnly(std::span<const size_t> places) override;

 private:
  std::vector<PowerChannel> channels_;
  std::vector<CountFile> files_;
};

}  // namespace beryl::sources
