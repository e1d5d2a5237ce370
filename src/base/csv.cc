#include "base/csv.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace beryl {
namespace {

constexpr size_t kReadBytes = size_t{128} << 10;
constexpr size_t kLongestLine = size_t{4} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

char* SkipBlanks(char* at, const char* end) {
  while (at < end && IsBlank(*at)) ++at;
  return at;
}

std::string_view WithoutBlanks(char* at, char* end) {
  at = SkipBlanks(at, end);
  while (end > at && IsBlank(end[-1])) --end;
  return {at, static_cast<size_t>(end - at)};
}

char* Find(char* at, char* end, char what) {
  void* const found = at == end ? nullptr : std::memchr(at, what, static_cast<size_t>(end - at));
  return found == nullptr ? end : static_cast<char*>(found);
}

}  // namespace

size_t FindCsvColumn(const CsvFields& header, std::string_view name) {
  const auto at = std::find(header.begin(), header.end(), name);
  return at == header.end() ? kNoCsvColumn : static_cast<size_t>(at - header.begin());
}

CsvReader::CsvReader(ByteSource& source, CsvComments comments)
    : source_(&source), comments_(comments) {
  begin_ = at_ = end_ = line_begin_ = line_end_ = buffer_.data();
  Refill();
  SkipByteOrderMark();
}

CsvReader::CsvReader(std::string& text, CsvComments comments) : comments_(comments) {
  begin_ = at_ = line_begin_ = line_end_ = text.data();
  end_ = begin_ + text.size();
  SkipByteOrderMark();
}

void CsvReader::SkipByteOrderMark() {
  if (std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(kByteOrderMark)) {
    at_ += kByteOrderMark.size();
  }
}

// Keeps the unread bytes and reads more after them. False at the end.
bool CsvReader::Refill() {
  if (source_ == nullptr) return false;
  const auto left = static_cast<size_t>(end_ - at_);
  if (left > kLongestLine) {
    status_ = InvalidError(fmt::format(
        "{}: line {}, at byte {}, is longer than {} MiB: this is not CSV", source_->name(),
        line_ + 1, passed_ + static_cast<uint64_t>(at_ - begin_), kLongestLine >> 20));
    at_ = end_;
    source_ = nullptr;
    return false;
  }
  passed_ += static_cast<uint64_t>(at_ - begin_);
  if (left > 0) std::memmove(buffer_.data(), at_, left);
  if (buffer_.size() < left + kReadBytes / 2) {
    buffer_.resize(std::min(2 * left, kLongestLine) + kReadBytes);
  }
  begin_ = at_ = buffer_.data();
  const size_t room = buffer_.size() - left;
  const auto got = source_->Read(begin_ + left, room);
  end_ = begin_ + left + (got ? *got : 0);
  if (!got) {
    status_ = got.error();
    end_ = at_;
  }
  if (!got || *got < room) source_ = nullptr;
  return got && *got > 0;
}

bool CsvReader::NextLine() {
  char* stop = Find(at_, end_, '\n');
  for (bool more = true; more && stop == end_;) {
    const auto seen = end_ - at_;
    more = Refill();
    stop = more ? Find(at_ + seen, end_, '\n') : end_;
  }
  if (at_ == end_) return false;
  line_begin_ = at_;
  line_end_ = stop;
  at_ = stop == end_ ? end_ : stop + 1;
  ++line_;
  return true;
}

bool CsvReader::Next(CsvFields& fields) {
  while (NextLine()) {
    char* const first = SkipBlanks(line_begin_, line_end_);
    if (first == line_end_ || (*first == '#' && comments_ == CsvComments::kHash)) continue;
    offset_ = passed_ + static_cast<uint64_t>(line_begin_ - begin_);
    text_ = WithoutBlanks(first, line_end_);
    SplitFields(first, line_end_, fields);
    return true;
  }
  return false;
}

void CsvReader::SplitFields(char* at, char* end, CsvFields& fields) {
  fields.clear();
  well_formed_ = true;
  for (;;) {
    at = SkipBlanks(at, end);
    if (at < end && *at == '"') {
      at = ReadQuoted(at, end, fields);
    } else {
      char* const comma = Find(at, end, ',');
      fields.push_back(WithoutBlanks(at, comma));
      at = comma;
    }
    if (at >= end) return;
    ++at;  // the comma
  }
}

// Returns where the field's comma is, or the end.
char* CsvReader::ReadQuoted(char* at, char* end, CsvFields& fields) {
  char* const start = ++at;
  char* to = start;
  for (; at < end; *to++ = *at++) {
    if (*at != '"') continue;
    if (at + 1 < end && at[1] == '"') {
      ++at;  // two stand for one
    } else {
      break;
    }
  }
  well_formed_ = well_formed_ && at < end;
  fields.push_back(WithoutBlanks(start, to));
  if (at < end) ++at;
  at = SkipBlanks(at, end);
  if (at < end && *at != ',') {
    well_formed_ = false;
    at = end;
  }
  return at;
}

}  // namespace beryl
