// The format: APPNOTE.TXT of PKWARE.
#include "base/zip_writer.h"

#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "base/deflate.h"
#include "base/wire_writer.h"

namespace beryl {
namespace {

constexpr uint16_t kVersion = 20;          // 2.0: deflate
constexpr uint16_t kSizesFollow = 1 << 3;  // behind the file
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kNoTime = 0;
constexpr uint16_t kNoDate = (1 << 5) | 1;  // 1980-01-01, the first there is
constexpr uint64_t kTooLarge = std::numeric_limits<uint32_t>::max();

// What the head of a file and its line in the table of contents have in common.
void PutKind(std::string& out) {
  for (const uint16_t part : {kVersion, kSizesFollow, kDeflated, kNoTime, kNoDate}) {
    PutFixed(out, part);
  }
}

struct Sizes {
  uint32_t checksum = 0;
  uint64_t deflated = 0;
  uint64_t whole = 0;
};

void PutSizes(std::string& out, const Sizes& sizes) {
  PutFixed(out, sizes.checksum);
  PutFixed(out, static_cast<uint32_t>(sizes.deflated));
  PutFixed(out, static_cast<uint32_t>(sizes.whole));
}

// Deflates without the head and tail of zlib's own format.
class Deflater {
 public:
  Deflater() {
    constexpr int kMemory = 8;
    deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, kMemory,
                 Z_DEFAULT_STRATEGY);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  template <typename Put>
  Status Add(std::string_view bytes, bool last, Put&& put) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      TRY(put(std::string_view(buffer_.data(), buffer_.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0);
    return {};
  }

 private:
  z_stream stream_{};
  std::string buffer_ = std::string(size_t{1} << 16, '\0');
};

}  // namespace

Status ZipWriter::Put(std::string_view bytes) {
  written_ += bytes.size();
  return sink_(bytes);
}

Status ZipWriter::AddFile(std::string_view name, const NextBytes& next) {
  const uint64_t start = written_;
  std::string head = "PK\3\4";
  PutKind(head);
  PutSizes(head, {});
  PutFixed(head, static_cast<uint16_t>(name.size()));
  PutFixed(head, uint16_t{0});  // no extra field
  TRY(Put(head += name));

  Sizes sizes;
  Deflater deflater;
  for (bool last = false; !last;) {
    const std::string_view bytes = TRY(next());
    last = bytes.empty();
    sizes.whole += bytes.size();
    sizes.checksum = Checksum(bytes, sizes.checksum);
    TRY(deflater.Add(bytes, last, [&](std::string_view deflated) -> Status {
      sizes.deflated += deflated.size();
      return Put(deflated);
    }));
  }
  if (sizes.whole > kTooLarge || written_ > kTooLarge) {
    return InvalidError(fmt::format(
        "{}: a ZIP archive that every reader opens has no room for more than 4 GiB", name));
  }
  std::string tail = "PK\7\10";
  PutSizes(tail, sizes);
  TRY(Put(tail));

  contents_ += "PK\1\2";
  PutFixed(contents_, kVersion);
  PutKind(contents_);
  PutSizes(contents_, sizes);
  PutFixed(contents_, static_cast<uint16_t>(name.size()));
  contents_.append(12, '\0');  // no extra field, comment, other disk or attributes
  PutFixed(contents_, static_cast<uint32_t>(start));
  contents_ += name;
  ++files_;
  return {};
}

Status ZipWriter::Add(std::string_view name, std::string_view bytes) {
  return AddFile(name, [bytes]() mutable -> Result<std::string_view> {
    constexpr size_t kPiece = size_t{1} << 20;
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    return piece;
  });
}

Status ZipWriter::Add(std::string_view name, ByteSource& source) {
  std::string buffer(size_t{1} << 17, '\0');
  return AddFile(name, [&]() -> Result<std::string_view> {
    const size_t size = TRY(source.Read(buffer.data(), buffer.size()));
    return std::string_view(buffer.data(), size);
  });
}

Status ZipWriter::Finish() {
  const uint64_t start = written_;
  TRY(Put(contents_));
  std::string end = "PK\5\6";
  end.append(4, '\0');  // the only disk
  PutFixed(end, static_cast<uint16_t>(files_));
  PutFixed(end, static_cast<uint16_t>(files_));
  PutFixed(end, static_cast<uint32_t>(contents_.size()));
  PutFixed(end, static_cast<uint32_t>(start));
  end.append(2, '\0');  // no comment
  return Put(end);
}

}  // namespace beryl
