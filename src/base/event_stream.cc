#include "base/event_stream.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace beryl {
namespace {

// One event, or what follows the events, may be this long before it is an error.
constexpr size_t kLongestJoin = size_t{64} << 20;
// Chunks that may wait for their turn, for each worker.
constexpr uint64_t kAheadPerWorker = 3;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A piece of the file, and room around it for what makes it a document.
struct Chunk {
  uint64_t sequence = 0;
  uint64_t offset = 0;  // of text[0] in the file
  std::string text;
  bool first = false;
  bool last = false;
  int worker = 0;
};

enum class Outcome {
  kWhole,     // every event was seen
  kBroken,    // the walk stopped at `stop`
  kClosed,    // the events array ended at `stop`, inside the chunk
  kNoEvents,  // the outer object has no events so far
};

struct ChunkResult {
  Outcome outcome = Outcome::kWhole;
  size_t stop = 0;  // offset in the chunk's text
  uint64_t replaced_bytes = 0;
  uint64_t first_replaced = 0;
  std::unique_ptr<EventBatch> batch;
};

// Makes a document out of a chunk and walks it. Keeps its buffers from chunk to chunk.
class ChunkParser {
 public:
  explicit ChunkParser(std::unique_ptr<EventVisitor> visitor) : visitor_(std::move(visitor)) {}

  ChunkResult Parse(const Chunk& chunk, bool bare_array) {
    bare_array_ = bare_array;
    first_ = chunk.first;
    ChunkResult result;
    size_t skip = 0;
    if (!chunk.first) {
      while (skip < chunk.text.size() && (IsSpace(chunk.text[skip]) || chunk.text[skip] == ',')) {
        ++skip;
      }
    }
    text_start_ = skip;
    text_ = std::string_view(chunk.text).substr(skip);
    file_offset_ = chunk.offset + skip;
    std::string_view front = chunk.first ? "" : bare_array ? "[" : R"({"traceEvents":[)";
    std::string_view back = bare_array ? "]" : "]}";

    // The last chunk brings its own closing brackets, unless the file is cut short.
    bool own_end = chunk.last && EndsLikeADocument(bare_array);
    document_.assign(front).append(text_).append(own_end ? "" : back);
    front_size_ = front.size();
    auto status = Open();
    if (status == simdjson::UTF8_ERROR || status == simdjson::UNESCAPED_CHARS) {
      size_t where = 0;
      result.replaced_bytes = json::Sanitize(document_.data(), document_.size(), where);
      result.first_replaced = file_offset_ + where - front_size_;
      status = Open();
    }
    if (status == simdjson::UNCLOSED_STRING) {
      document_.resize(front_size_ + text_.size());
      document_.append("\"").append(back);
      own_end = false;
      status = Open();
    }
    if (status == simdjson::SUCCESS) {
      Walk(own_end, result);
    } else {
      result.outcome = Outcome::kBroken;
      result.stop = text_start_;
    }
    result.batch = visitor_->Take();
    return result;
  }

 private:
  bool EndsLikeADocument(bool bare_array) const {
    const size_t end = text_.find_last_not_of(" \t\r\n");
    return end != std::string_view::npos && text_[end] == (bare_array ? ']' : '}');
  }

  simdjson::error_code Open() {
    // Blanks behind the end, so that nothing left in the buffer can look like a closing bracket.
    const size_t size = document_.size();
    document_.append(simdjson::SIMDJSON_PADDING, ' ');
    document_.resize(size);
    return parser_.iterate(document_.data(), size, size + simdjson::SIMDJSON_PADDING).get(walked_);
  }

  // Offset in the chunk's text of a place in the document.
  size_t TextOffset(const char* place) const {
    const auto at = static_cast<size_t>(place - document_.data());
    return text_start_ + std::min(at - std::min(at, front_size_), text_.size());
  }

  void Walk(bool own_end, ChunkResult& result) {
    if (bare_array_) {
      simdjson::ondemand::array array;
      if (walked_.get_array().get(array) != simdjson::SUCCESS) {
        result.outcome = Outcome::kBroken;
        result.stop = text_start_;
        return;
      }
      WalkArray(array, own_end, result);
      return;
    }
    simdjson::ondemand::object object;
    bool seen = false;
    bool ok = walked_.get_object().get(object) == simdjson::SUCCESS;
    if (ok) {
      for (auto member : object) {
        simdjson::ondemand::raw_json_string key;
        simdjson::ondemand::value value;
        ok = member.key().get(key) == simdjson::SUCCESS &&
             member.value().get(value) == simdjson::SUCCESS;
        if (!ok) break;
        if (json::Key(key.raw()) == "traceEvents") {
          simdjson::ondemand::array array;
          if (value.get_array().get(array) != simdjson::SUCCESS) {
            ok = false;
            break;
          }
          seen = true;
          if (!WalkArray(array, own_end, result)) return;
        } else {
          visitor_->Member(json::Key(key.raw()), json::Value(value));
        }
      }
    }
    if (!seen) {
      result.outcome = ok || !own_end ? Outcome::kNoEvents : Outcome::kBroken;
      result.stop = text_start_;
    }
  }

  // True when what follows the array may be looked at too.
  bool WalkArray(simdjson::ondemand::array& array, bool own_end, ChunkResult& result) {
    const char* event_start = document_.data() + front_size_;
    for (auto element : array) {
      simdjson::ondemand::value value;
      bool ok = element.get(value) == simdjson::SUCCESS;
      if (ok) {
        event_start = value.raw_json_token().data();
        ok = visitor_->Event(json::Value(value),
                             file_offset_ + TextOffset(event_start) - text_start_);
      }
      if (!ok) {
        result.outcome = Outcome::kBroken;
        result.stop = TextOffset(event_start);
        return false;
      }
    }
    if (own_end) return true;
    const char* after = nullptr;
    if (walked_.current_location().get(after) == simdjson::SUCCESS &&
        after < document_.data() + front_size_ + text_.size()) {
      result.outcome = Outcome::kClosed;
      result.stop = TextOffset(after);
    }
    return false;
  }

  std::unique_ptr<EventVisitor> visitor_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document walked_;
  std::string document_;
  std::string_view text_;
  size_t text_start_ = 0;
  size_t front_size_ = 0;
  uint64_t file_offset_ = 0;
  bool bare_array_ = false;
  bool first_ = false;
};

// Reads the file and cuts it where an event seems to end.
class Cutter {
 public:
  Cutter(ByteSource& source, size_t chunk_bytes) : source_(source), chunk_bytes_(chunk_bytes) {}

  bool ended() const { return ended_; }
  bool bare_array() const { return bare_array_; }
  uint64_t bytes() const { return offset_ + rest_.size(); }

  Result<Chunk> Next() {
    Chunk chunk;
    chunk.sequence = sequence_++;
    chunk.first = chunk.sequence == 0;
    chunk.text = std::move(rest_);
    rest_.clear();
    const size_t before = chunk.text.size();
    chunk.text.resize(before + chunk_bytes_);
    auto got = source_.Read(chunk.text.data() + before, chunk_bytes_);
    if (!got) return got.error();
    chunk.text.resize(before + *got);
    if (chunk.first) {
      if (chunk.text.starts_with("\xEF\xBB\xBF")) chunk.text.replace(0, 3, "   ");
      const size_t start = chunk.text.find_first_not_of(" \t\r\n");
      bare_array_ = start != std::string::npos && chunk.text[start] == '[';
    }
    chunk.offset = offset_;
    chunk.last = ended_ = *got < chunk_bytes_;
    if (!chunk.last) {
      const size_t cut = GuessCut(chunk.text);
      rest_.assign(chunk.text, cut);
      chunk.text.resize(cut);
    }
    offset_ += chunk.text.size();
    return chunk;
  }

 private:
  // Just behind the last `}` that is followed by `,` and `{`, or the whole text.
  static size_t GuessCut(const std::string& text) {
    size_t end = text.size();
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const size_t open = text.rfind('{', end);
      if (open == std::string::npos || open == 0) break;
      size_t at = open - 1;
      while (at > 0 && IsSpace(text[at])) --at;
      if (text[at] == ',' && at > 0) {
        --at;
        while (at > 0 && IsSpace(text[at])) --at;
        if (text[at] == '}') return at + 1;
      }
      end = open - 1;
    }
    return text.size();
  }

  ByteSource& source_;
  size_t chunk_bytes_;
  uint64_t sequence_ = 0;
  uint64_t offset_ = 0;
  std::string rest_;
  bool ended_ = false;
  bool bare_array_ = false;
};

// Takes parsed chunks in file order, joins what was cut wrong, and keeps the books.
class Merger {
 public:
  Merger(std::string name, std::unique_ptr<EventVisitor> joiner, int joiner_number,
         const CommitBatch& commit)
      : name_(std::move(name)),
        joiner_(std::move(joiner)),
        joiner_number_(joiner_number),
        commit_(commit) {}

  void Add(Chunk chunk, ChunkResult result, bool bare_array) {
    if (closed_) {
      commit_(std::move(result.batch), chunk.worker, false);
      if (trailer_.size() < kLongestJoin) trailer_ += chunk.text;
      return;
    }
    if (carry_) {
      commit_(std::move(result.batch), chunk.worker, false);
      Chunk joined = std::move(*carry_);
      carry_.reset();
      joined.text += chunk.text;
      joined.last = chunk.last;
      joined.worker = joiner_number_;
      result = joiner_.Parse(joined, bare_array);
      chunk = std::move(joined);
    }
    Settle(std::move(chunk), std::move(result), bare_array);
  }

  const std::optional<Error>& error() const { return error_; }

  EventStreamEnd Finish(uint64_t bytes) {
    end_.bytes = bytes;
    return end_;
  }

  // What followed the events where it did not fit into the last chunk.
  void WalkTrailer(EventVisitor& visitor) {
    if (!closed_) return;
    const size_t start = trailer_.find_first_not_of(", \t\r\n");
    if (start == std::string::npos || trailer_[start] == '}') return;
    std::string text = "{" + trailer_.substr(start);
    // A damaged trailer loses nothing that was accounted: the events before it stand.
    auto ok = json::WalkObject(
        text, name_, [&](json::Key key, json::Value value) { visitor.Member(key, value); });
    if (!ok) {
      end_.truncated = true;
      end_.why = ok.error().message;
    }
    commit_(visitor.Take(), joiner_number_ + 1, true);
  }

 private:
  void Settle(Chunk chunk, ChunkResult result, bool bare_array) {
    if (result.replaced_bytes > 0) {
      if (end_.replaced_bytes == 0) end_.first_replaced = result.first_replaced;
      end_.replaced_bytes += result.replaced_bytes;
    }
    switch (result.outcome) {
      case Outcome::kWhole:
        commit_(std::move(result.batch), chunk.worker, true);
        return;
      case Outcome::kClosed:
        commit_(std::move(result.batch), chunk.worker, true);
        closed_ = true;
        if (!bare_array) trailer_ = chunk.text.substr(result.stop);
        return;
      case Outcome::kNoEvents:
        commit_(std::move(result.batch), chunk.worker, chunk.last);
        if (chunk.last) {
          error_ = NoEvents(chunk);
        } else {
          Carry(std::move(chunk), 0);
        }
        return;
      case Outcome::kBroken:
        commit_(std::move(result.batch), chunk.worker, true);
        Broken(std::move(chunk), result.stop, bare_array);
        return;
    }
  }

  Error NoEvents(const Chunk& chunk) const {
    const auto syntax = json::FindSyntaxError(chunk.text);
    if (syntax) {
      return InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", name_,
                                      chunk.offset + syntax->offset,
                                      json::Describe(*syntax, chunk.text)));
    }
    return InvalidError(fmt::format(
        "{}: no \"traceEvents\" in this JSON object; expected a profiler's trace", name_));
  }

  void Broken(Chunk chunk, size_t stop, bool bare_array) {
    const bool from_start = chunk.first && stop == 0;
    const std::string text = (from_start ? "" : "[") + chunk.text.substr(stop);
    const size_t shift = from_start ? 0 : 1;
    const auto syntax = json::FindSyntaxError(text);
    if (!syntax) {
      // Bracket by bracket this is JSON, yet the reader refuses it: its nesting does not match.
      error_ =
          InvalidError(fmt::format("{}: the event at byte {} cannot be read; expected an object",
                                   name_, chunk.offset + stop));
      return;
    }
    const bool blank = chunk.text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (!syntax->at_end || (from_start && chunk.last && blank)) {
      error_ = InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", name_,
                                        chunk.offset + stop + syntax->offset - shift,
                                        json::Describe(*syntax, text)));
      return;
    }
    if (!chunk.last) {
      Carry(std::move(chunk), stop);
      return;
    }
    if (from_start && !bare_array && chunk.text.find("\"traceEvents\"") == std::string::npos) {
      error_ = NoEvents(chunk);
      return;
    }
    end_.truncated = true;
    end_.broke_at = chunk.offset + stop;
    end_.why = json::Describe(*syntax, text);
  }

  void Carry(Chunk chunk, size_t stop) {
    if (chunk.text.size() - stop > kLongestJoin) {
      error_ = InvalidError(fmt::format("{}: the event at byte {} is longer than {} MiB", name_,
                                        chunk.offset + stop, kLongestJoin >> 20));
      return;
    }
    Chunk carry;
    carry.first = chunk.first && stop == 0;
    carry.offset = chunk.offset + stop;
    carry.text = chunk.text.substr(stop);
    carry_ = std::move(carry);
  }

  std::string name_;
  ChunkParser joiner_;
  int joiner_number_;
  const CommitBatch& commit_;
  std::optional<Chunk> carry_;
  bool closed_ = false;
  std::string trailer_;
  std::optional<Error> error_;
  EventStreamEnd end_;
};

}  // namespace

Result<EventStreamEnd> WalkEvents(ByteSource& source, const EventStreamOptions& options,
                                  const MakeVisitor& make_visitor, const CommitBatch& commit) {
  const int workers = std::max(1, options.threads);
  Cutter cutter(source, std::max<size_t>(options.chunk_bytes, 64));
  Merger merger(source.name(), make_visitor(workers), workers, commit);

  std::mutex mutex;  // guards everything below, the cutter, and the turn to merge
  std::condition_variable changed;
  std::map<uint64_t, std::pair<Chunk, ChunkResult>> parsed;
  uint64_t cut = 0;
  uint64_t merged = 0;
  bool merging = false;
  bool stop = false;
  std::optional<Error> read_error;
  const uint64_t ahead = kAheadPerWorker * static_cast<uint64_t>(workers);

  auto work = [&](int number) {
    ChunkParser parser(make_visitor(number));
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stop || cutter.ended() || cut - merged < ahead; });
      if (stop || cutter.ended()) return;
      auto next = cutter.Next();
      if (!next) {
        read_error = next.error();
        stop = true;
        changed.notify_all();
        return;
      }
      ++cut;
      if (options.progress) options.progress(source.file_position());
      const bool bare_array = cutter.bare_array();
      Chunk chunk = std::move(*next);
      chunk.worker = number;
      lock.unlock();
      ChunkResult result = parser.Parse(chunk, bare_array);
      lock.lock();
      const uint64_t sequence = chunk.sequence;
      parsed.emplace(sequence, std::pair(std::move(chunk), std::move(result)));
      if (merging) continue;
      merging = true;
      for (auto ready = parsed.find(merged); ready != parsed.end() && !stop;
           ready = parsed.find(merged)) {
        auto [taken, outcome] = std::move(ready->second);
        parsed.erase(ready);
        lock.unlock();
        merger.Add(std::move(taken), std::move(outcome), bare_array);
        lock.lock();
        ++merged;
        stop = stop || merger.error().has_value();
        changed.notify_all();
      }
      merging = false;
    }
  };

  std::vector<std::thread> others;
  for (int number = 1; number < workers; ++number) others.emplace_back(work, number);
  work(0);
  for (std::thread& other : others) other.join();

  if (read_error) return *read_error;
  if (merger.error()) return *merger.error();
  auto trailer_visitor = make_visitor(workers + 1);
  merger.WalkTrailer(*trailer_visitor);
  return merger.Finish(cutter.bytes());
}

}  // namespace beryl
