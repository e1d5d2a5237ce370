// External meters that print lines: on a serial port, a pipe, or into a file.
#include <fcntl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sources/machine_files.h"
#include "sources/meter_line.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "meter";
constexpr int kReadsAtOnce = 4;  // so that a fast-growing file does not hold up the sampler

struct Speed {
  uint32_t baud;
  speed_t code;
};
constexpr std::array<Speed, 14> kSpeeds = {{{1200, B1200},
                                            {2400, B2400},
                                            {4800, B4800},
                                            {9600, B9600},
                                            {19200, B19200},
                                            {38400, B38400},
                                            {57600, B57600},
                                            {115200, B115200},
                                            {230400, B230400},
                                            {460800, B460800},
                                            {500000, B500000},
                                            {921600, B921600},
                                            {1000000, B1000000},
                                            {2000000, B2000000}}};

// Puts a serial port into raw mode: no echo, no line discipline.
Status SetUpPort(int fd, const MeterSpec& spec) {
  termios port{};
  if (::tcgetattr(fd, &port) != 0) return IoError(ErrorText(errno));
  ::cfmakeraw(&port);
  port.c_cflag |= CLOCAL | CREAD;
  for (const Speed& speed : kSpeeds) {
    if (speed.baud != spec.baud) continue;
    ::cfsetispeed(&port, speed.code);
    ::cfsetospeed(&port, speed.code);
    if (::tcsetattr(fd, TCSANOW, &port) != 0) return IoError(ErrorText(errno));
    return {};
  }
  return MisuseError(fmt::format("a serial port does not run at {} baud", spec.baud));
}

class LineMeters final : public PowerSource {
 public:
  LineMeters() = default;
  ~LineMeters() override {
    for (const Meter& meter : meters_) ::close(meter.fd);
  }
  LineMeters(const LineMeters&) = delete;
  LineMeters& operator=(const LineMeters&) = delete;

  Status Add(const MeterSpec& spec, std::string name) {
    const auto failed = [&](const std::string& why) {
      return IoError(
          fmt::format("meter {}: {}; ports are /dev/ttyUSB* and /dev/ttyACM*, and their users "
                      "must be in the group dialout",
                      spec.path, why));
    };
    struct stat found {};
    if (::stat(spec.path.c_str(), &found) != 0) return failed(ErrorText(errno));
    // A pipe that is also open for writing does not end when its writer does.
    const int mode = S_ISFIFO(found.st_mode) ? O_RDWR : O_RDONLY;
    const int fd = ::open(spec.path.c_str(), mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return failed(ErrorText(errno));
    if (S_ISDIR(found.st_mode)) {
      ::close(fd);
      return failed("it is a folder");
    }
    if (::isatty(fd)) {
      if (auto ok = SetUpPort(fd, spec); !ok) {
        ::close(fd);
        return failed(ok.error().message);
      }
    }
    // A file has whole lines from its start; a port or a pipe may start within a line.
    const bool midway = !S_ISREG(found.st_mode);
    meters_.push_back({fd, MeterLines(spec.format, midway)});
    PowerChannel channel;
    channel.name = std::move(name);
    channel.scope = ChannelScope::kWall;
    const bool is_energy = spec.format.is_energy();
    channel.kind = is_energy ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
    channel.meter.source = kSource;
    channel.meter.reads = fmt::format("lines of {} as {}", spec.path, spec.format_text);
    channel.meter.unit = is_energy ? "uJ" : "uW";
    channel.meter.per_count = 1e-6;
    channels_.push_back(std::move(channel));
    return {};
  }

  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void Read(std::span<MeterReading> out) override {
    for (size_t i = 0; i < meters_.size(); ++i) out[i] = ReadMeter(meters_[i]);
  }

 private:
  struct Meter {
    int fd;
    MeterLines lines;
    uint64_t told = 0;  // good lines at the last reading
  };

  // One reading for each new line and none in between, so that readings are no denser than the
  // meter.
  static MeterReading ReadMeter(Meter& meter) {
    std::array<char, 1024> bytes;
    bool gone = false;
    for (int i = 0; i < kReadsAtOnce; ++i) {
      const ssize_t got = ::read(meter.fd, bytes.data(), bytes.size());
      if (got > 0) meter.lines.Take({bytes.data(), static_cast<size_t>(got)});
      if (got < 0 && errno != EAGAIN && errno != EINTR) gone = true;
      if (got < static_cast<ssize_t>(bytes.size())) break;
    }
    if (meter.lines.good() == meter.told) {
      return {gone ? ReadState::kGone : ReadState::kRetry, 0};
    }
    meter.told = meter.lines.good();
    return {ReadState::kOk, static_cast<uint64_t>(std::llround(*meter.lines.last() * 1e6))};
  }

  std::vector<Meter> meters_;
  std::vector<PowerChannel> channels_;
};

}  // namespace

Result<FoundSource> FindMeters(const Search& search) {
  FoundSource found;
  if (search.options.meters.empty()) return found;
  found.power = search.TakeOpen(kSource);
  if (found.power) return found;
  auto source = std::make_unique<LineMeters>();
  const bool alone = search.options.meters.size() == 1;
  for (size_t i = 0; i < search.options.meters.size(); ++i) {
    auto spec = TRY(ParseMeterSpec(search.options.meters[i]));
    TRY(source->Add(spec, alone ? "wall" : fmt::format("wall:{}", i + 1)));
  }
  found.power = std::move(source);
  return found;
}

}  // namespace beryl::sources
