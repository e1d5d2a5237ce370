#include "base/event_chunk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/out_of_memory.h"

namespace beryl {

ChunkResult ChunkParser::Parse(Chunk& chunk, bool bare_array) {
  bare_array_ = bare_array;
  ChunkResult result;
  const std::string_view whole = chunk.text.view();
  text_start_ = 0;
  while (!chunk.first && text_start_ < whole.size() &&
         (IsSpace(whole[text_start_]) || whole[text_start_] == ',')) {
    ++text_start_;
  }
  text_ = whole.substr(text_start_);
  file_offset_ = chunk.offset + text_start_;
  const std::string_view front = chunk.first ? "" : bare_array ? "[" : R"({"traceEvents":[)";
  // The walk must end after the last event. Only there can these brackets close anything: they open
  // as many as they close, so a cut event stays open wherever it was cut.
  const std::string back = bare_array ? ",[[]]" : ",[[]}";

  document_ = chunk.text.data() + text_start_ - front.size();
  front_size_ = front.size();
  std::array<char, ChunkText::kFrontRoom> overwritten{};
  std::memcpy(overwritten.data(), document_, front.size());
  std::memcpy(document_, front.data(), front.size());

  std::string end = back;
  auto status = Open(end);
  // Closes a string that was cut; if it was cut after a backslash, the backslash needs escaping.
  for (const char* quote : {"\"", "\\\""}) {
    if (status != simdjson::UNCLOSED_STRING) break;
    end = quote + back;
    status = Open(end);
  }
  if (status == simdjson::UTF8_ERROR || status == simdjson::UNESCAPED_CHARS) {
    size_t where = 0;
    result.replaced_bytes = json::Sanitize(chunk.text.data() + text_start_, text_.size(), where);
    result.first_replaced = file_offset_ + where;
    status = Open(end);
  }
  if (status == simdjson::MEMALLOC) throw OutOfMemory(text_.size());
  if (status == simdjson::SUCCESS) {
    Walk(result);
  } else {
    result.outcome = Outcome::kBroken;
    result.stop = text_start_;
  }
  std::memcpy(document_, overwritten.data(), front.size());
  result.batch = visitor_->Take();
  return result;
}

simdjson::error_code ChunkParser::Open(std::string_view back) {
  char* end = document_ + front_size_ + text_.size();
  std::memcpy(end, back.data(), back.size());
  // Blanks after the end, so that nothing left in the buffer looks like a closing bracket.
  std::memset(end + back.size(), ' ', simdjson::SIMDJSON_PADDING);
  const size_t size = front_size_ + text_.size() + back.size();
  return parser_.iterate(document_, size, size + simdjson::SIMDJSON_PADDING).get(walked_);
}

size_t ChunkParser::TextOffset(const char* place) const {
  const auto at = static_cast<size_t>(place - document_);
  return text_start_ + std::min(at - std::min(at, front_size_), text_.size());
}

void ChunkParser::Walk(ChunkResult& result) {
  if (bare_array_) {
    simdjson::ondemand::array array;
    if (walked_.get_array().get(array) != simdjson::SUCCESS) {
      result.outcome = Outcome::kBroken;
      result.stop = text_start_;
      return;
    }
    WalkArray(array, result);
    return;
  }
  simdjson::ondemand::object object;
  if (walked_.get_object().get(object) == simdjson::SUCCESS) {
    for (auto member : object) {
      simdjson::ondemand::raw_json_string key;
      simdjson::ondemand::value value;
      if (member.key().get(key) != simdjson::SUCCESS ||
          member.value().get(value) != simdjson::SUCCESS) {
        break;
      }
      if (json::Key(key.raw()) == "traceEvents") {
        simdjson::ondemand::array array;
        if (value.raw_json_token().data() >= TextEnd() ||
            value.get_array().get(array) != simdjson::SUCCESS) {
          break;
        }
        WalkArray(array, result);
        return;
      }
      visitor_->Member(json::Key(key.raw()), json::Value(value));
    }
  }
  result.outcome = Outcome::kNoEvents;
  result.stop = text_start_;
}

void ChunkParser::WalkArray(simdjson::ondemand::array& array, ChunkResult& result) {
  const char* event_start = document_ + front_size_;
  for (auto element : array) {
    simdjson::ondemand::value value;
    bool ok = element.get(value) == simdjson::SUCCESS;
    if (ok) {
      event_start = value.raw_json_token().data();
      if (event_start >= TextEnd()) return;
      ok =
          IsWholeOrObject(value) &&
          visitor_->Event(json::Value(value), file_offset_ + TextOffset(event_start) - text_start_);
    }
    if (!ok) {
      result.outcome = Outcome::kBroken;
      result.stop = TextOffset(event_start);
      return;
    }
  }
  const char* after = nullptr;
  if (walked_.current_location().get(after) == simdjson::SUCCESS) {
    result.outcome = Outcome::kClosed;
    result.stop = TextOffset(after);
  }
}

bool ChunkParser::IsWholeOrObject(simdjson::ondemand::value& value) const {
  std::string_view token = value.raw_json_token();
  if (token.front() == '{') return true;
  if (token.front() == '[') {
    simdjson::ondemand::array array;
    return value.get_array().get(array) == simdjson::SUCCESS &&
           array.raw_json().get(token) == simdjson::SUCCESS;
  }
  return token.data() + token.size() < TextEnd();
}

}  // namespace beryl
