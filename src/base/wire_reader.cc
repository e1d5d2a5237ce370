#include "base/wire_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace beryl {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr uint64_t kRenewAfter = uint64_t{1} << 30;
constexpr int kDeepestGroup = 32;

}  // namespace

WireReader::Stream::Stream(ByteSource& from, std::function<void(uint64_t)> tell)
    : source(from),
      progress(std::move(tell)),
      buffer(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

bool WireReader::Stream::Next(const void** data, int* size) {
  if (used == filled) {
    if (ended) return false;
    auto got = source.Read(buffer.get(), kBufferBytes);
    if (!got) error = got.error();
    filled = got ? *got : 0;
    used = 0;
    ended = filled < kBufferBytes;
    if (progress) progress(source.file_position());
    if (filled == 0) return false;
  }
  *data = buffer.get() + used;
  *size = static_cast<int>(filled - used);
  handed_out += *size;
  used = filled;
  return true;
}

void WireReader::Stream::BackUp(int count) {
  used -= static_cast<size_t>(count);
  handed_out -= count;
}

bool WireReader::Stream::Skip(int count) {
  while (count > 0) {
    const void* data = nullptr;
    int size = 0;
    if (!Next(&data, &size)) return false;
    if (size > count) BackUp(size - count);
    count -= std::min(size, count);
  }
  return true;
}

int64_t WireReader::Stream::ByteCount() const { return handed_out; }

WireReader::WireReader(ByteSource& source, std::function<void(uint64_t)> progress)
    : stream_(source, std::move(progress)) {
  coded_.emplace(&stream_);
  coded_->SetTotalBytesLimit(std::numeric_limits<int>::max());
  renew_at_ = kRenewAfter;
}

void WireReader::Renew() {
  base_ = Position();
  coded_.reset();  // returns the bytes it has not consumed
  coded_.emplace(&stream_);
  coded_->SetTotalBytesLimit(std::numeric_limits<int>::max());
  renew_at_ = base_ + kRenewAfter;
}

bool WireReader::Skip(uint64_t bytes) {
  constexpr uint64_t kStep = uint64_t{1} << 29;
  while (bytes > 0) {
    if (Position() > renew_at_) Renew();
    const uint64_t step = std::min(bytes, kStep);
    if (!coded_->Skip(static_cast<int>(step))) return CutShort();
    bytes -= step;
  }
  return true;
}

bool WireReader::SkipUnread() { return Skip(std::exchange(unread_, 0)); }

std::string_view WireReader::Text(size_t limit) {
  if (!IsBytes() || unread_ == 0) return {};
  const void* data = nullptr;
  int size = 0;
  if (coded_->GetDirectBufferPointer(&data, &size) && static_cast<uint64_t>(size) >= unread_) {
    // The bytes stay where they are until the next buffer is requested.
    return {static_cast<const char*>(data),
            static_cast<size_t>(std::min<uint64_t>(unread_, limit))};
  }
  text_.clear();
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(unread_, limit));
  while (text_.size() < wanted) {
    if (!coded_->GetDirectBufferPointer(&data, &size)) {
      CutShort();
      break;
    }
    const size_t step = std::min(wanted - text_.size(), static_cast<size_t>(size));
    text_.append(static_cast<const char*>(data), step);
    unread_ -= step;
    if (!coded_->Skip(static_cast<int>(step))) break;
  }
  return text_;
}

bool WireReader::ReadRareKind() {
  if (kind_ == Kind::kFixed64) {
    if (!coded_->ReadLittleEndian64(&value_)) return CutShort();
  } else if (kind_ == Kind::kFixed32) {
    uint32_t value = 0;
    if (!coded_->ReadLittleEndian32(&value)) return CutShort();
    value_ = value;
  } else if (kind_ == Kind::kGroup) {
    value_ = 0;
    if (!SkipGroup(field_)) return false;
  } else {
    return GiveUp("a tag that cannot be");
  }
  return Position() <= end_ || LeadsOut();
}

// Groups are obsolete; skip them as unknown fields.
bool WireReader::SkipGroup(uint32_t field) {
  std::array<uint32_t, kDeepestGroup> open{};
  int depth = 0;
  open[0] = field;
  while (true) {
    if (Position() >= end_) return LeadsOut();
    const uint32_t tag = coded_->ReadTagNoLastTag();
    const auto kind = static_cast<Kind>(tag & 7);
    if (tag >> 3 == 0) return BadTag();
    uint64_t number = 0;
    if (kind == Kind::kVarint) {
      if (!coded_->ReadVarint64(&number)) return BadVarint();
    } else if (kind == Kind::kFixed64 || kind == Kind::kFixed32) {
      if (!Skip(kind == Kind::kFixed64 ? 8 : 4)) return false;
    } else if (kind == Kind::kBytes) {
      if (!coded_->ReadVarint64(&number)) return BadVarint();
      const uint64_t start = Position();
      if (start > end_ || number > end_ - start) return LeadsOut();
      if (!Skip(number)) return false;
    } else if (kind == Kind::kGroup) {
      if (++depth == kDeepestGroup) return TooDeep();
      open[static_cast<size_t>(depth)] = tag >> 3;
    } else if (kind == Kind::kGroupEnd && tag >> 3 == open[static_cast<size_t>(depth)]) {
      if (depth-- == 0) return true;
    } else {
      return GiveUp("a tag that cannot be");
    }
  }
}

bool WireReader::BadTag() {
  // The library also returns a tag of 0 at the end of the data.
  const void* data = nullptr;
  int size = 0;
  if (coded_->GetDirectBufferPointer(&data, &size)) return GiveUp("a tag that cannot be");
  return depth_ == 0 && Position() == offset_ ? false : CutShort();
}

bool WireReader::BadVarint() {
  const void* data = nullptr;
  int size = 0;
  return coded_->GetDirectBufferPointer(&data, &size) ? GiveUp("a number of more than ten bytes")
                                                      : CutShort();
}

bool WireReader::LeadsOut() { return GiveUp("a field that leads out of its message"); }

bool WireReader::TooDeep() {
  Count("messages nested too deeply");
  return false;
}

bool WireReader::CutShort() {
  if (!truncated_) broke_at_ = offset_;
  truncated_ = true;
  unread_ = 0;
  end_ = 0;  // every message is at its end
  ends_.fill(0);
  return false;
}

bool WireReader::GiveUp(std::string_view what) {
  Count(what);
  unread_ = 0;
  // The read may have left the enclosing messages too. Their next fields cannot be found then: all
  // messages up to the first that contains this position are lost.
  const uint64_t at = Position();
  size_t depth = depth_;
  uint64_t end = end_;
  while (depth > 0 && end < at) end = ends_[--depth];
  if (depth > 0) return Skip(end - at) && false;
  // Nothing tells where the next message of the stream starts.
  end_ = 0;
  ends_.fill(0);
  return false;
}

void WireReader::Count(std::string_view what) {
  for (Defect& defect : defects_) {
    if (defect.what == what) {
      ++defect.count;
      return;
    }
  }
  defects_.push_back({what, 1, offset_});
}

}  // namespace beryl
