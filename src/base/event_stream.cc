#include "base/event_stream.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/event_chunk.h"
#include "base/parallel.h"

namespace beryl {
namespace {

// An event, or the text after the events, that is longer than this is an error.
constexpr size_t kLongestJoin = size_t{64} << 20;
// Chunks that may wait for their turn, per worker.
constexpr uint64_t kAheadPerWorker = 3;
constexpr int kMostWorkers = 64;

// The first byte of a multi-byte UTF-8 character, and the following bytes.
bool IsLead(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0xC0; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Reads the file and cuts it where an event seems to end.
class Cutter {
 public:
  Cutter(ByteSource& source, size_t chunk_bytes) : source_(source), chunk_bytes_(chunk_bytes) {}

  bool ended() const { return ended_; }
  bool bare_array() const { return bare_array_; }
  uint64_t bytes() const { return offset_ + rest_.size(); }

  // Takes back an unused buffer, whose memory is warm.
  void Recycle(ChunkText text) {
    if (text.capacity() == kOverlap + chunk_bytes_) spare_.push_back(std::move(text));
  }

  Result<Chunk> Next() {
    Chunk chunk;
    chunk.sequence = sequence_++;
    chunk.first = chunk.sequence == 0;
    if (spare_.empty() || rest_.size() > kOverlap) {
      chunk.text = ChunkText(std::max(kOverlap, rest_.size()) + chunk_bytes_);
    } else {
      chunk.text = std::move(spare_.back());
      spare_.pop_back();
    }
    char* text = chunk.text.data();
    std::memcpy(text, rest_.data(), rest_.size());
    auto got = TRY(source_.Read(text + rest_.size(), chunk_bytes_));
    size_t size = rest_.size() + got;
    if (chunk.first) {
      if (std::string_view(text, size).starts_with("\xEF\xBB\xBF")) std::memset(text, ' ', 3);
      const std::string_view view(text, size);
      const size_t start = view.find_first_not_of(" \t\r\n");
      bare_array_ = start != std::string_view::npos && view[start] == '[';
    }
    chunk.offset = offset_;
    chunk.last = ended_ = got < chunk_bytes_;
    rest_.clear();
    if (!chunk.last) {
      const size_t cut = GuessCut({text, size});
      rest_.assign(text + cut, size - cut);
      size = cut;
    }
    chunk.text.set_size(size);
    offset_ += size;
    return chunk;
  }

 private:
  // Just after the last `}` that is followed by `,` and `{`, or the whole text.
  static size_t GuessCut(std::string_view text) {
    size_t end = text.size();
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const size_t open = text.rfind('{', end);
      if (open == std::string_view::npos || open == 0) break;
      size_t at = open - 1;
      while (at > 0 && IsSpace(text[at])) --at;
      if (text[at] == ',' && at > 0) {
        --at;
        while (at > 0 && IsSpace(text[at])) --at;
        if (text[at] == '}') return at + 1;
      }
      end = open - 1;
    }
    // Do not cut inside a character: half a character is not valid text.
    size_t cut = text.size();
    while (cut > 0 && cut + 3 > text.size() && IsContinuation(text[cut - 1])) --cut;
    return cut > 0 && IsLead(text[cut - 1]) ? cut - 1 : text.size();
  }

  // Room for what one chunk leaves for the next.
  static constexpr size_t kOverlap = size_t{64} << 10;

  ByteSource& source_;
  size_t chunk_bytes_;
  std::vector<ChunkText> spare_;
  uint64_t sequence_ = 0;
  uint64_t offset_ = 0;
  std::string rest_;
  bool ended_ = false;
  bool bare_array_ = false;
};

// Takes parsed chunks in file order, joins wrong cuts, and keeps the totals.
class Merger {
 public:
  Merger(std::string name, std::unique_ptr<EventVisitor> joiner, int joiner_number,
         const CommitBatch& commit)
      : name_(std::move(name)),
        joiner_(std::move(joiner)),
        joiner_number_(joiner_number),
        commit_(commit) {}

  void Add(const Chunk& chunk, ChunkResult result, bool bare_array) {
    CountReplaced(result);
    if (closed_) {
      commit_(std::move(result.batch), chunk.worker, false);
      if (trailer_.size() < kLongestJoin) trailer_ += chunk.text.view();
      return;
    }
    if (!carry_) {
      Settle(chunk, std::move(result), bare_array);
      return;
    }
    commit_(std::move(result.batch), chunk.worker, false);
    carry_->text += chunk.text.view();
    // Try again only with twice as much text, so that a long event costs at most twice its length.
    if (carry_->text.size() < carry_->try_again_at && !chunk.last) return;
    const Carried carried = std::move(*carry_);
    carry_.reset();
    Chunk joined;
    joined.text = ChunkText(carried.text.size());
    joined.text.set_size(carried.text.size());
    std::memcpy(joined.text.data(), carried.text.data(), carried.text.size());
    joined.offset = carried.offset;
    joined.first = carried.first;
    joined.last = chunk.last;
    joined.worker = joiner_number_;
    ChunkResult rejoined = joiner_.Parse(joined, bare_array);
    CountReplaced(rejoined);
    Settle(joined, std::move(rejoined), bare_array);
  }

  const std::optional<Error>& error() const { return error_; }

  EventStreamEnd Finish(uint64_t bytes) {
    end_.bytes = bytes;
    return end_;
  }

  // Walks the text after the events. Damage there does not affect the events, which are complete.
  void WalkTrailer(EventVisitor& visitor, bool bare_array) {
    if (!closed_) return;
    const std::string_view front = bare_array ? "[]" : R"({"":[])";
    std::string text = std::string(front) + trailer_;
    if (const auto syntax = json::FindSyntaxError(text)) {
      end_.truncated = true;
      end_.broke_at = trailer_offset_ + syntax->offset - front.size();
      end_.why = json::Describe(*syntax, text);
    }
    if (bare_array) return;
    bool is_events = true;
    (void)json::WalkObject(text, name_, [&](json::Key key, json::Value value) {
      if (!std::exchange(is_events, false)) visitor.Member(key, value);
    });
    commit_(visitor.Take(), joiner_number_ + 1, true);
  }

 private:
  void CountReplaced(const ChunkResult& result) {
    if (result.replaced_bytes == 0) return;
    end_.first_replaced = end_.replaced_bytes == 0
                              ? result.first_replaced
                              : std::min(end_.first_replaced, result.first_replaced);
    end_.replaced_bytes += result.replaced_bytes;
  }

  void Settle(const Chunk& chunk, ChunkResult result, bool bare_array) {
    switch (result.outcome) {
      case Outcome::kWhole:
        commit_(std::move(result.batch), chunk.worker, true);
        if (chunk.last) Broken(chunk, chunk.text.size(), bare_array);
        return;
      case Outcome::kClosed:
        commit_(std::move(result.batch), chunk.worker, true);
        closed_ = true;
        trailer_ = chunk.text.view().substr(result.stop);
        trailer_offset_ = chunk.offset + result.stop;
        return;
      case Outcome::kNoEvents:
        commit_(std::move(result.batch), chunk.worker, chunk.last);
        if (chunk.last) {
          error_ = NoEvents(chunk);
        } else {
          Carry(chunk, 0);
        }
        return;
      case Outcome::kBroken:
        commit_(std::move(result.batch), chunk.worker, true);
        Broken(chunk, result.stop, bare_array);
        return;
    }
  }

  Error NoEvents(const Chunk& chunk) const {
    const auto syntax = json::FindSyntaxError(chunk.text.view());
    if (syntax) {
      return InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", name_,
                                      chunk.offset + syntax->offset,
                                      json::Describe(*syntax, chunk.text.view())));
    }
    return InvalidError(fmt::format(
        "{}: no array \"traceEvents\" in this JSON; expected a profiler's trace", name_));
  }

  void Broken(const Chunk& chunk, size_t stop, bool bare_array) {
    const bool from_start = chunk.first && stop == 0;
    const std::string text =
        std::string(from_start ? "" : "[").append(chunk.text.view().substr(stop));
    const size_t shift = from_start ? 0 : 1;
    const auto syntax = json::FindSyntaxError(text);
    if (!syntax) {
      // The brackets are balanced JSON, yet the reader refuses it: their nesting does not match.
      error_ =
          InvalidError(fmt::format("{}: the event at byte {} cannot be read; expected an object",
                                   name_, chunk.offset + stop));
      return;
    }
    const bool blank = chunk.text.view().find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!syntax->at_end || (from_start && chunk.last && blank)) {
      error_ = InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", name_,
                                        chunk.offset + stop + syntax->offset - shift,
                                        json::Describe(*syntax, text)));
      return;
    }
    if (!chunk.last) {
      Carry(chunk, stop);
      return;
    }
    if (from_start && !bare_array &&
        chunk.text.view().find("\"traceEvents\"") == std::string_view::npos) {
      error_ = NoEvents(chunk);
      return;
    }
    end_.truncated = true;
    end_.broke_at = chunk.offset + stop;
    end_.why = json::Describe(*syntax, text);
  }

  void Carry(const Chunk& chunk, size_t stop) {
    if (chunk.text.size() - stop > kLongestJoin) {
      error_ = InvalidError(fmt::format("{}: the event at byte {} is longer than {} MiB", name_,
                                        chunk.offset + stop, kLongestJoin >> 20));
      return;
    }
    const size_t left = chunk.text.size() - stop;
    carry_ = Carried{std::string(chunk.text.view().substr(stop)), chunk.offset + stop, 2 * left,
                     chunk.first && stop == 0};
  }

  // A chunk that must be parsed again together with the next one.
  struct Carried {
    std::string text;
    uint64_t offset = 0;
    size_t try_again_at = 0;  // bytes of text
    bool first = false;
  };

  std::string name_;
  ChunkParser joiner_;
  int joiner_number_;
  const CommitBatch& commit_;
  std::optional<Carried> carry_;
  bool closed_ = false;
  std::string trailer_;
  uint64_t trailer_offset_ = 0;
  std::optional<Error> error_;
  EventStreamEnd end_;
};

}  // namespace

Result<EventStreamEnd> WalkEvents(ByteSource& source, const EventStreamOptions& options,
                                  const MakeVisitor& make_visitor, const CommitBatch& commit) {
  // No more workers than chunks, as far as the number of chunks is known.
  const uint64_t chunks = source.file_size() > 0 ? source.file_size() / options.chunk_bytes + 1
                                                 : static_cast<uint64_t>(kMostWorkers);
  const int workers = static_cast<int>(std::clamp<uint64_t>(
      std::min<uint64_t>(chunks, static_cast<uint64_t>(std::max(1, options.threads))), 1,
      kMostWorkers));
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

  // These outlive the workers: a batch that is still waiting to be committed may refer to its
  // visitor.
  std::vector<ChunkParser> parsers;
  parsers.reserve(static_cast<size_t>(workers));
  for (int number = 0; number < workers; ++number) parsers.emplace_back(make_visitor(number));

  auto work = [&](size_t number) {
    ChunkParser& parser = parsers[number];
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
      chunk.worker = static_cast<int>(number);
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
        merger.Add(taken, std::move(outcome), bare_array);
        lock.lock();
        cutter.Recycle(std::move(taken.text));
        ++merged;
        stop = stop || merger.error().has_value();
        changed.notify_all();
      }
      merging = false;
    }
  };

  InParallel(static_cast<size_t>(workers), work, [&] {
    const std::lock_guard lock(mutex);
    stop = true;
    changed.notify_all();
  });

  if (read_error) return *read_error;
  if (merger.error()) return *merger.error();
  auto trailer_visitor = make_visitor(workers + 1);
  merger.WalkTrailer(*trailer_visitor, cutter.bare_array());
  return merger.Finish(cutter.bytes());
}

}  // namespace beryl
