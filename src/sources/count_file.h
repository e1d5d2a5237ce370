// A file that holds one number and is read again and again: an energy counter of /sys, or a gauge.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sources/search.h"

namespace beryl::sources {

// Kept open and read from its start, by one system call. Files of /sys stay what they are; a file
// that another program writes may be replaced or deleted, so that the open one says nothing new:
// when the count stands still, the path is looked at again. Read allocates nothing.
class CountFile {
 public:
  enum class Sign : uint8_t {
    kNone,     // a number with a sign is no count
    kIgnored,  // some drivers say by it which way a current flows
  };
  // `largest`: a count above it is not believed; 0: any is.
  CountFile(std::string path, uint64_t largest, Sign sign = Sign::kNone);
  CountFile(CountFile&& other) noexcept;
  CountFile& operator=(CountFile&&) = delete;
  CountFile(const CountFile&) = delete;
  CountFile& operator=(const CountFile&) = delete;
  ~CountFile();

  MeterReading Read();
  // The first reading, for which a file that is just being written gets a few milliseconds.
  MeterReading ReadPatiently();
  // Why the last reading told nothing: what the system said, or "it is empty", "it is not a
  // number".
  std::string Trouble() const;

  const std::string& path() const { return path_; }
  // Why it could not be opened or read the last time; 0: it could.
  int error() const { return error_; }

 private:
  void Open();
  void Close();
  MeterReading Gone(int error);
  MeterReading Missing();
  void LookAtPath();

  std::string path_;
  uint64_t largest_;
  Sign sign_;
  int fd_ = -1;
  int error_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool ever_opened_ = false;
  bool is_of_kernel_ = false;  // of /sys: it is never replaced
  bool open_each_time_ = false;
  uint64_t last_ = 0;
  uint32_t still_ = 0;     // readings in a row that told nothing new
  uint32_t attempts_ = 0;  // to open it since it is gone
};

// A source whose every channel is a file of its own.
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
