// The result of a walk must not depend on where the text is cut. The first two bytes of the input
// choose the size of the chunks.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_stream.h"
#include "require.h"

namespace {

using beryl::EventBatch;
using beryl::fuzz::Require;

struct Recording : EventBatch {
  std::vector<std::pair<uint64_t, std::string>> events;  // offset, fields
  std::vector<std::string> members;
};

class Recorder : public beryl::EventVisitor {
 public:
  bool Event(beryl::json::Value event, uint64_t offset) override {
    std::string fields;
    if (event.IsObject()) {
      bool nested_ok = true;
      const bool ok = event.ForEachMember([&](beryl::json::Key key, beryl::json::Value value) {
        fields += std::string(key.Text()) + "=" + std::string(value.Token()) + ";";
        if (value.IsObject()) {
          nested_ok = value.ForEachMember([&](beryl::json::Key, beryl::json::Value content) {
            fields += std::string(content.String().value_or("")) + ";";
          }) && nested_ok;
        }
      });
      if (!ok || !nested_ok) return false;
    }
    recording_->events.emplace_back(offset, std::move(fields));
    return true;
  }
  void Member(beryl::json::Key key, beryl::json::Value value) override {
    recording_->members.push_back(std::string(key.Text()) + "=" + std::string(value.Token()));
  }
  std::unique_ptr<EventBatch> Take() override {
    return std::exchange(recording_, std::make_unique<Recording>());
  }

 private:
  std::unique_ptr<Recording> recording_ = std::make_unique<Recording>();
};

struct Walked {
  bool ok = false;
  Recording seen;
  beryl::EventStreamEnd end;
};

Walked Walk(std::string_view text, size_t chunk_bytes) {
  Walked walked;
  auto source = beryl::ByteSource::FromMemory(text, "fuzz");
  beryl::EventStreamOptions options;
  options.chunk_bytes = chunk_bytes;
  auto end = beryl::WalkEvents(
      source, options, [](int) { return std::make_unique<Recorder>(); },
      [&](std::unique_ptr<EventBatch> batch, int, bool keep) {
        if (!keep) return;
        auto& recording = static_cast<Recording&>(*batch);
        std::move(recording.events.begin(), recording.events.end(),
                  std::back_inserter(walked.seen.events));
        std::move(recording.members.begin(), recording.members.end(),
                  std::back_inserter(walked.seen.members));
      });
  walked.ok = end.has_value();
  if (end) walked.end = *end;
  return walked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  // Compressed input would only fuzz zlib.
  if (size < 4 || (bytes[2] == 0x1f && bytes[3] == 0x8b)) return 0;
  const size_t chunk_bytes = 64 + (size_t{bytes[0]} | (size_t{bytes[1]} << 8)) % 1000;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  const Walked whole = Walk(text, text.size() + 64);
  const Walked cut = Walk(text, chunk_bytes);
  // Members that nobody looks at are skipped without checking them, so whether broken text is
  // noticed may depend on the cut. Whole or truncated JSON must not.
  if (const auto syntax = beryl::json::FindSyntaxError(text); syntax && !syntax->at_end) return 0;
  Require(whole.ok == cut.ok, "an error does not depend on the cut");
  if (!whole.ok) return 0;
  Require(whole.seen.events == cut.seen.events, "events do not depend on the cut");
  Require(whole.seen.members == cut.seen.members, "members do not depend on the cut");
  Require(whole.end.truncated == cut.end.truncated, "truncation does not depend on the cut");
  Require(whole.end.bytes == text.size() && cut.end.bytes == text.size(), "all bytes are read");
  uint64_t least = 0;
  for (const auto& [offset, fields] : whole.seen.events) {
    Require(offset >= least && offset < text.size(), "offsets grow");
    least = offset + 1;
  }
  return 0;
}
