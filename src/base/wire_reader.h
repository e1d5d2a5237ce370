// Protobuf wire format input: walks a message field by field from front to back, without its schema
// and without holding it in memory.
//
// Wraps protobuf's CodedInputStream; no other file includes it. Limits are kept here in 64 bits, so
// neither a file nor a message in it is limited to 2 GiB. The bytes are not trusted: a length that
// leaves its message, an impossible tag or too deeply nested messages cost the rest of the
// enclosing message and are counted; the walk continues after it.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace beryl {

// Reads the messages of a stream one after another. Not thread-safe.
class WireReader {
 public:
  // How deep nested messages are entered; deeper ones are refused.
  static constexpr size_t kDeepest = 32;

  // Calls `progress` now and then with the bytes of the file read so far. `source` must outlive the
  // reader.
  explicit WireReader(ByteSource& source, std::function<void(uint64_t)> progress = {});
  WireReader(const WireReader&) = delete;
  WireReader& operator=(const WireReader&) = delete;

  // Moves to the next field of the message entered last, or of the stream itself. Skips the unread
  // rest of the previous field. False at the end of the message, or if its rest cannot be read.
  bool Next() {
    if (unread_ > 0 && !SkipUnread()) return false;
    const uint64_t at = Position();
    if (at >= end_) return false;
    if (at > renew_at_) Renew();
    offset_ = at;
    const uint32_t tag = coded_->ReadTagNoLastTag();
    field_ = tag >> 3;
    kind_ = static_cast<Kind>(tag & 7);
    if (field_ == 0) return BadTag();
    if (kind_ == Kind::kVarint) {
      if (!coded_->ReadVarint64(&value_)) return BadVarint();
      return Position() <= end_ || LeadsOut();
    }
    if (kind_ == Kind::kBytes) {
      if (!coded_->ReadVarint64(&value_)) return BadVarint();
      const uint64_t start = Position();
      if (start > end_ || value_ > end_ - start) return LeadsOut();
      unread_ = value_;
      return true;
    }
    return ReadRareKind();
  }

  // The number of the current field, and the byte of the (decompressed) stream at which it starts.
  uint32_t field() const { return field_; }
  uint64_t offset() const { return offset_; }

  bool IsNumber() const { return kind_ == Kind::kVarint || kind_ == Kind::kFixed64; }
  bool IsBytes() const { return kind_ == Kind::kBytes; }
  // The number as written; 0 if the field is not a number.
  uint64_t Unsigned() const { return IsBytes() ? 0 : value_; }
  int64_t Signed() const { return static_cast<int64_t>(Unsigned()); }
  // The first `limit` bytes of a text; empty if the field is not one. Valid until the reader moves.
  std::string_view Text(size_t limit);

  // Makes Next() walk the message in this field. False if it is not a message, or nested too
  // deeply.
  bool Enter() {
    if (!IsBytes()) return false;
    if (depth_ == kDeepest) return TooDeep();
    ends_[depth_++] = end_;
    end_ = Position() + unread_;
    unread_ = 0;
    return true;
  }
  // Skips the rest of the message and returns to the enclosing one. Only after a successful
  // Enter().
  void Leave() {
    const uint64_t at = Position();
    if (at < end_) unread_ = end_ - at;
    end_ = ends_[--depth_];
    kind_ = Kind::kBytes;
  }

  // Something malformed in the bytes: how often, and where first.
  struct Defect {
    std::string_view what;
    uint64_t count = 0;
    uint64_t first_offset = 0;
  };
  const std::vector<Defect>& defects() const { return defects_; }
  // The stream ended inside a field.
  bool truncated() const { return truncated_; }
  // Where the innermost incomplete field starts; only if truncated().
  uint64_t broke_at() const { return broke_at_; }
  // Bytes of the (decompressed) stream read so far.
  uint64_t position() const { return Position(); }
  // The operating system's error, if reading failed.
  const std::optional<Error>& error() const { return stream_.error; }

 private:
  enum class Kind : uint8_t { kVarint, kFixed64, kBytes, kGroup, kGroupEnd, kFixed32 };

  // Where CodedInputStream reads from.
  struct Stream : google::protobuf::io::ZeroCopyInputStream {
    Stream(ByteSource& from, std::function<void(uint64_t)> tell);
    bool Next(const void** data, int* size) override;
    void BackUp(int count) override;
    bool Skip(int count) override;
    int64_t ByteCount() const override;

    ByteSource& source;
    std::function<void(uint64_t)> progress;
    std::optional<Error> error;
    std::unique_ptr<char[]> buffer;
    size_t used = 0;
    size_t filled = 0;
    int64_t handed_out = 0;
    bool ended = false;
  };

  uint64_t Position() const { return base_ + static_cast<uint64_t>(coded_->CurrentPosition()); }
  // CodedInputStream counts in 31 bits, so replace it before it has seen that much.
  void Renew();
  bool Skip(uint64_t bytes);
  bool SkipUnread();
  bool SkipGroup(uint32_t field);
  bool ReadRareKind();
  bool BadTag();
  bool BadVarint();
  bool LeadsOut();
  bool TooDeep();
  bool CutShort();
  // Abandons the rest of the innermost message.
  bool GiveUp(std::string_view what);
  void Count(std::string_view what);

  Stream stream_;
  std::optional<google::protobuf::io::CodedInputStream> coded_;
  uint64_t base_ = 0;      // position of the first byte of coded_
  uint64_t renew_at_ = 0;  // position from which coded_ must be replaced
  uint64_t end_ = UINT64_MAX;
  std::array<uint64_t, kDeepest> ends_{};
  size_t depth_ = 0;
  uint64_t unread_ = 0;  // bytes of the field's value not consumed yet
  uint64_t offset_ = 0;
  uint64_t value_ = 0;
  uint32_t field_ = 0;
  Kind kind_ = Kind::kVarint;
  bool truncated_ = false;
  uint64_t broke_at_ = 0;
  std::vector<Defect> defects_;
  std::string text_;
};

}  // namespace beryl
