#include "base/event_stream.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
namespace beryl {
namespace {

// What a visitor saw of one event.
struct Seen {
  uint64_t offset = 0;
  std::string fields;  // every key with the text of its value, members of `args` included

  bool operator==(const Seen&) const = default;
};

void PrintTo(const Seen& seen, std::ostream* out) { *out << seen.offset << ": " << seen.fields; }

struct Recording : EventBatch {
  std::vector<Seen> events;
  std::vector<std::string> members;
};

// Looks into `args` as importers do and skips everything else, as they do too.
class Recorder : public EventVisitor {
 public:
  bool Event(json::Value event, uint64_t offset) override {
    Seen seen{offset, ""};
    if (!event.IsObject()) {
      seen.fields = std::string(event.Token());
      recording_->events.push_back(seen);
      return true;
    }
    bool args_ok = true;
    const bool ok = event.ForEachMember([&](json::Key key, json::Value value) {
      seen.fields += std::string(key.Text()) + "=";
      if (key == "args" && value.IsObject()) {
        args_ok = value.ForEachMember([&](json::Key arg, json::Value content) {
          seen.fields += std::string(arg.Text()) + ":";
          seen.fields += std::string(content.String().value_or(content.Token())) + ";";
        });
      } else {
        seen.fields += std::string(value.String().value_or(value.Token())) + ";";
      }
    });
    if (!ok || !args_ok) return false;
    recording_->events.push_back(seen);
    return true;
  }
  void Member(json::Key key, json::Value value) override {
    recording_->members.push_back(std::string(key.Text()) + "=" + std::string(value.Token()));
  }
  std::unique_ptr<EventBatch> Take() override {
    return std::exchange(recording_, std::make_unique<Recording>());
  }

 private:
  std::unique_ptr<Recording> recording_ = std::make_unique<Recording>();
};

struct Walked {
  std::vector<Seen> events;
  std::vector<std::string> members;
  EventStreamEnd end;
  std::string error;
};

Walked Walk(std::string_view text, size_t chunk_bytes = size_t{1} << 20, int threads = 1) {
  Walked walked;
  ByteSource source = ByteSource::FromMemory(text, "trace.json");
  EventStreamOptions options;
  options.chunk_bytes = chunk_bytes;
  options.threads = threads;
  auto end = WalkEvents(
      source, options, [](int) { return std::make_unique<Recorder>(); },
      [&](std::unique_ptr<EventBatch> batch, int, bool keep) {
        auto& recording = static_cast<Recording&>(*batch);
        if (!keep) return;
        walked.events.insert(walked.events.end(), recording.events.begin(), recording.events.end());
        walked.members.insert(walked.members.end(), recording.members.begin(),
                              recording.members.end());
      });
  if (end) {
    walked.end = *end;
  } else {
    walked.error = end.error().message;
  }
  return walked;
}

// Makes traces that are hard to cut: what looks like the border of two events is everywhere.
class TraceMaker {
 public:
  explicit TraceMaker(unsigned seed) : random_(seed) {}

  std::string Trace() {
    pretty_ = Chance(2);
    const size_t count = Below(30);
    std::string events = "[";
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) events += Comma();
      events += Event();
    }
    events += Blank() + "]";
    if (Chance(3)) return Blank() + events + Blank();
    std::string text = "{";
    for (size_t i = Below(3); i > 0; --i) text += Member() + Comma();
    text += "\"traceEvents\":" + Blank() + events;
    for (size_t i = Below(4); i > 0; --i) text += Comma() + Member();
    return text + Blank() + "}" + Blank();
  }

 private:
  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }
  bool Chance(size_t one_in) { return Below(one_in) == 0; }
  std::string Blank() { return pretty_ ? (Chance(2) ? "\n  " : " ") : ""; }
  std::string Comma() { return pretty_ ? (Chance(2) ? ",\n  " : ", ") : ","; }

  std::string String() {
    static const std::vector<std::string> kPieces = {
        "},{",    "}, {\\\"", "\\\\", "\\\"", "a",    "layer_0/",    "]}",
        "[{",     "\\u00e9",  "é",    "層",   "🙂", "traceEvents", "\\\\\\\\\\\"",
        "},\\n{", " ",        ":",    ",",    "{}",   "\\\\\\\\",    "}\\\\,{"};
    std::string text = "\"";
    for (size_t i = Below(8); i > 0; --i) text += kPieces[Below(kPieces.size())];
    if (Chance(40)) text += std::string(Below(1000), Chance(2) ? 'x' : '\\') + "";
    // A run of backslashes must be even, or it would escape the closing quote.
    size_t run = 0;
    while (run < text.size() && text[text.size() - 1 - run] == '\\') ++run;
    if (run % 2 == 1) text += '\\';
    return text + "\"";
  }
  std::string Value(int depth) {
    switch (Below(depth > 4 ? 5 : 8)) {
      case 0:
        return fmt::format("{}", Below(100000));
      case 1:
        return fmt::format("-{}.5e3", Below(100));
      case 2:
        return Chance(2) ? "true" : "null";
      case 3:
      case 4:
        return String();
      case 5:
        return Object(depth + 1);
      default:
        return Array(depth + 1);
    }
  }
  std::string Object(int depth) {
    std::string text = "{";
    for (size_t i = Below(4), n = 0; n < i; ++n) {
      text += (n > 0 ? Comma() : Blank()) + String() + Blank() + ":" + Blank() + Value(depth);
    }
    return text + Blank() + "}";
  }
  std::string Array(int depth) {
    std::string text = "[";
    const bool of_objects = Chance(2);
    for (size_t i = Below(5), n = 0; n < i; ++n) {
      text += (n > 0 ? Comma() : Blank()) + (of_objects ? Object(depth) : Value(depth));
    }
    return text + Blank() + "]";
  }
  std::string Event() {
    if (Chance(30)) return Value(5);  // not even an object
    std::string text = "{\"ph\":\"X\"";
    if (Chance(2)) text += Comma() + "\"name\":" + Blank() + String();
    if (Chance(2)) text += Comma() + "\"args\":" + Blank() + Object(1);
    for (size_t i = Below(3); i > 0; --i) text += Comma() + String() + ":" + Value(1);
    if (Chance(60)) text += ",\"big\":[" + BigArray() + "]";
    return text + Blank() + "}";
  }
  std::string BigArray() {
    std::string text = "{}";
    for (size_t i = Below(60); i > 0; --i) text += Comma() + Object(4);
    return text;
  }
  std::string Member() { return fmt::format("\"member{}\":", Below(10)) + Blank() + Value(0); }

  std::mt19937 random_;
  bool pretty_ = false;
};

void ExpectSameWalk(const Walked& walked, const Walked& expected) {
  EXPECT_EQ(walked.error, expected.error);
  EXPECT_EQ(walked.events, expected.events);
  EXPECT_EQ(walked.members, expected.members);
  EXPECT_EQ(walked.end.bytes, expected.end.bytes);
  EXPECT_EQ(walked.end.truncated, expected.end.truncated);
  EXPECT_EQ(walked.end.broke_at, expected.end.broke_at);
  EXPECT_EQ(walked.end.replaced_bytes, expected.end.replaced_bytes);
  EXPECT_EQ(walked.end.first_replaced, expected.end.first_replaced);
}

TEST(EventStreamTest, SeesEventsWithTheirOffsets) {
  const std::string text = R"({"a":1,"traceEvents":[{"x":1}, {"y":"b"},7],"z":true})";
  const Walked walked = Walk(text);
  EXPECT_EQ(walked.error, "");
  EXPECT_THAT(walked.events,
              ElementsAre(Seen{text.find("{\"x"), "x=1;"}, Seen{text.find("{\"y"), "y=b;"},
                          Seen{text.find("7]"), "7"}));
  EXPECT_THAT(walked.members, ElementsAre("a=1", "z=true"));
  EXPECT_FALSE(walked.end.truncated);
  EXPECT_EQ(walked.end.bytes, text.size());
}

TEST(EventStreamTest, ResultDoesNotDependOnTheCut) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    const std::string text = TraceMaker(seed).Trace();
    const Walked expected = Walk(text, text.size() + 1);
    ASSERT_EQ(expected.error, "") << seed;
    ASSERT_FALSE(expected.end.truncated) << seed << expected.end.why << text;
    for (const size_t chunk_bytes : {64, 65, 100, 1000, 1 << 20}) {
      SCOPED_TRACE(fmt::format("seed {} chunk_bytes {}", seed, chunk_bytes));
      ExpectSameWalk(Walk(text, chunk_bytes), expected);
      if (HasFailure()) return;
    }
  }
}

TEST(EventStreamParallelTest, ResultDoesNotDependOnTheNumberOfThreads) {
  for (unsigned seed = 1000; seed < 1030; ++seed) {
    const std::string text = TraceMaker(seed).Trace();
    const Walked expected = Walk(text, text.size() + 1);
    for (const size_t chunk_bytes : {64, 65, 100, 1000}) {
      for (int threads = 2; threads <= 4; ++threads) {
        SCOPED_TRACE(fmt::format("seed {} chunk_bytes {} threads {}", seed, chunk_bytes, threads));
        ExpectSameWalk(Walk(text, chunk_bytes, threads), expected);
        if (HasFailure()) return;
      }
    }
  }
}

// In the object form the brackets that are put behind a chunk could end an event that was cut in an
// array of its own.
TEST(EventStreamTest, AnEventCutInsideItsOwnArrayIsSeenOnce) {
  const std::string filler(100, 'x');
  const std::string event = R"({"n":")" + filler + R"(","a":[{"b":1},{"c":2}]})";
  const std::string text = R"({"traceEvents":[)" + event + "," + event + "]}";
  const Walked expected = Walk(text);
  ASSERT_EQ(expected.events.size(), 2u);
  for (size_t chunk_bytes = 64; chunk_bytes < text.size(); ++chunk_bytes) {
    SCOPED_TRACE(chunk_bytes);
    ExpectSameWalk(Walk(text, chunk_bytes), expected);
  }
}

TEST(EventStreamTest, ACutInsideACharacterChangesNothing) {
  std::string name;
  for (int i = 0; i < 200; ++i) name += "層🙂é";
  const std::string text = R"([{"name":")" + name + R"("}])";
  const Walked expected = Walk(text);
  ASSERT_EQ(expected.end.replaced_bytes, 0u);
  for (size_t chunk_bytes = 64; chunk_bytes < 80; ++chunk_bytes) {
    SCOPED_TRACE(chunk_bytes);
    ExpectSameWalk(Walk(text, chunk_bytes), expected);
  }
}

TEST(EventStreamTest, MakesInvalidBytesHarmlessAndCountsThem) {
  std::string text = "{\"traceEvents\":[";
  for (int i = 0; i < 20; ++i) {
    text += (i > 0 ? "," : "") + std::string("{\"name\":\"a\xff\xc3z\x01\"}");
  }
  text += "]}";
  for (const size_t chunk_bytes : {size_t{64}, size_t{65}, size_t{100}, size_t{1} << 20}) {
    SCOPED_TRACE(chunk_bytes);
    const Walked walked = Walk(text, chunk_bytes);
    ASSERT_EQ(walked.error, "");
    ASSERT_EQ(walked.events.size(), 20u);
    for (const Seen& seen : walked.events) EXPECT_EQ(seen.fields, "name=a??z ;");
    EXPECT_EQ(walked.end.replaced_bytes, 60u);
    EXPECT_EQ(walked.end.first_replaced, text.find('\xff'));
    EXPECT_FALSE(walked.end.truncated);
  }
}

// How many events end, and where the outer document's array starts and ends.
struct SmallTrace {
  std::string text;
  std::vector<size_t> event_ends;
  size_t array_start = 0;  // behind the '['
};

SmallTrace MakeSmallTrace(bool bare, bool bad_bytes) {
  SmallTrace trace;
  trace.text = bare ? "[" : R"({"schema": {"v":[1]}, "traceEvents": [)";
  trace.array_start = trace.text.size();
  const std::vector<std::string> events = {
      R"({"ph":"M","name":"p\\\"q\\"})", R"({"a":[{"b":1},{"c":[{}]}],"args":{"name":"},{"}})",
      "{\"é\":\"層🙂\",\"t\":true,\"n\":-1.5e3}",
      R"({ "args" : { "d" : [ [ 1 , 2 ] , [ ] ] } })", bad_bytes ? "{\"bad\":\"\xff\x01\"}" : "{}"};
  for (size_t i = 0; i < events.size(); ++i) {
    if (i > 0) trace.text += i % 2 == 0 ? ",\n " : ",";
    trace.text += events[i];
    trace.event_ends.push_back(trace.text.size());
  }
  trace.text += bare ? "\n]" : R"(], "unit": "ms", "more": {"x":[{"y":1}]}})";
  return trace;
}

TEST(EventStreamTest, ATraceCutAtAnyByteKeepsWhatWasWhole) {
  for (const auto& [bare, bad_bytes] : {std::pair(true, false), {false, false}, {false, true}}) {
    const SmallTrace trace = MakeSmallTrace(bare, bad_bytes);
    const Walked whole = Walk(trace.text);
    ASSERT_EQ(whole.events.size(), trace.event_ends.size());
    ASSERT_FALSE(whole.end.truncated);
    for (size_t cut = 0; cut < trace.text.size(); ++cut) {
      for (const size_t chunk_bytes : {64, 97, 1 << 20}) {
        SCOPED_TRACE(fmt::format("bare {} bad {} chunk_bytes {} cut at {}: {}", bare, bad_bytes,
                                 chunk_bytes, cut, trace.text.substr(0, cut)));
        const Walked walked = Walk(std::string_view(trace.text).substr(0, cut), chunk_bytes);
        if (cut < trace.array_start) {
          EXPECT_THAT(walked.error, HasSubstr("trace.json: "));
          EXPECT_THAT(walked.events, IsEmpty());
          continue;
        }
        EXPECT_EQ(walked.error, "");
        const auto whole_events = static_cast<size_t>(
            std::upper_bound(trace.event_ends.begin(), trace.event_ends.end(), cut) -
            trace.event_ends.begin());
        EXPECT_EQ(walked.events, std::vector<Seen>(whole.events.begin(),
                                                   whole.events.begin() +
                                                       static_cast<std::ptrdiff_t>(whole_events)));
        EXPECT_TRUE(walked.end.truncated);
        EXPECT_EQ(walked.end.bytes, cut);
        EXPECT_THAT(walked.end.why, HasSubstr("expected "));
        EXPECT_LE(walked.end.broke_at, cut);
        if (whole_events > 0) {
          EXPECT_GE(walked.end.broke_at, trace.event_ends[whole_events - 1]);
        }
        if (whole_events < whole.events.size()) {
          EXPECT_LE(walked.end.broke_at, whole.events[whole_events].offset);
        }
      }
    }
  }
}

TEST(EventStreamTest, BrokenTextInTheMiddleIsAnErrorAtTheRightByte) {
  std::string before = R"({"traceEvents":[)";
  for (int i = 0; i < 50; ++i) before += R"({"name":"an event","a":[{"b":1},{"c":2}]},)";
  std::string after;
  for (int i = 0; i < 50; ++i) after += R"(,{"name":"an event"})";
  after += "]}";
  struct Case {
    std::string event;
    size_t wrong_at;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {R"({"name" "x"})", 8, "expected ':' after the member name, found '\"'"},
      {R"({"name":"x" "y":1})", 12, "expected ',' or '}', found '\"'"},
      {R"({"name":"x",})", 12, "expected a member name in quotes, found '}'"},
      {R"({"args":{"name":"x" 5}})", 20, "expected ',' or '}', found '5'"},
      {R"({"name":"x"]})", 11, "expected ',' or '}', found ']'"},
      {R"({name:"x"})", 1, "expected a member name in quotes or '}', found 'n'"},
  };
  for (const Case& broken : cases) {
    for (const size_t chunk_bytes : {64, 100, 1000, 1 << 20}) {
      SCOPED_TRACE(fmt::format("{} chunk_bytes {}", broken.event, chunk_bytes));
      const Walked walked = Walk(before + broken.event + after, chunk_bytes);
      EXPECT_THAT(walked.error,
                  AllOf(HasSubstr(fmt::format("trace.json: not valid JSON at byte {}: ",
                                              before.size() + broken.wrong_at)),
                        HasSubstr(broken.expected)));
    }
  }
}

TEST(EventStreamTest, TextsThatHoldNoEvents) {
  for (const char* text : {"[]", " [ ]\n", R"({"traceEvents":[]})",
                           R"({"a":[{}],"traceEvents":[ ]})", "\xEF\xBB\xBF[]"}) {
    const Walked walked = Walk(text);
    EXPECT_EQ(walked.error, "") << text;
    EXPECT_THAT(walked.events, IsEmpty()) << text;
    EXPECT_FALSE(walked.end.truncated) << text;
  }
  for (const char* text : {"", " \n ", "{}", R"({"traceEvents":5})", R"({"traceEvents":{}})",
                           "null", "5", "\"x\"", "x", "{", "}", "]", R"({"a":1)"}) {
    EXPECT_THAT(Walk(text).error, HasSubstr("trace.json: ")) << text;
  }
}

TEST(EventStreamTest, DeepNestingInsideAnEventIsNotAProblem) {
  const size_t depth = 200'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  const std::string text = R"([{"a":1},{"deep":)" + deep + R"(},{"b":2}])";
  const Walked expected = Walk(text);
  EXPECT_EQ(expected.error, "");
  EXPECT_EQ(expected.events.size(), 3u);
  ExpectSameWalk(Walk(text, 10'000), expected);
}

TEST(EventStreamTest, AnEventTooLongIsAnError) {
  const std::string text = R"([{"a":")" + std::string(size_t{70} << 20, 'x');
  EXPECT_THAT(Walk(text, size_t{33} << 20).error, HasSubstr("the event at byte 1 is longer than"));
}

TEST(EventStreamTest, TellsProgressUpToTheEnd) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i) text += "{\"a\":1},";
  text += "{}]";
  ByteSource source = ByteSource::FromMemory(text, "trace.json");
  EventStreamOptions options;
  options.chunk_bytes = 64;
  std::vector<uint64_t> told;
  options.progress = [&](uint64_t bytes) { told.push_back(bytes); };
  auto end = WalkEvents(
      source, options, [](int) { return std::make_unique<Recorder>(); },
      [](std::unique_ptr<EventBatch>, int, bool) {});
  ASSERT_TRUE(end);
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), text.size());
}

}  // namespace
}  // namespace beryl
