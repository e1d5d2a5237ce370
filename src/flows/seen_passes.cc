#include "flows/seen_passes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace beryl::flows {
namespace {

using Size = tree::SeenInput::Size;
using Sizes = std::vector<Size>;

// What is like one of `list` counts there.
template <typename T, typename Alike>
void AddTo(std::vector<T>& list, const T& one, const Alike& alike) {
  const auto like =
      std::find_if(list.begin(), list.end(), [&](const T& other) { return alike(other, one); });
  if (like == list.end()) {
    list.push_back(one);
  } else {
    like->count += one.count;
  }
}

void Add(const SeenPass& pass, std::vector<SeenPass>& passes) {
  if (pass.count == 0) return;
  AddTo(passes, pass, [](const SeenPass& a, const SeenPass& b) {
    return a.input == b.input && a.beams == b.beams;
  });
}

// Passes over whole sequences. `keys`: how many tokens single ones attended to.
SeenPasses PlainPasses(const Sizes& sizes, const std::optional<double>& keys, bool has_cache,
                       const ModelInput& input) {
  SeenPasses seen;
  for (const Size& size : sizes) {
    SeenPass pass{input, size.count};
    pass.input.batch = size.batch;
    pass.input.seq = size.length;
    if (has_cache && size.length == 1) {
      seen.cache_seen = seen.cache_seen && keys.has_value();
      pass.input.context = std::llround(keys.value_or(1)) - 1;
    }
    Add(pass, seen.passes);
  }
  return seen;
}

// A prompt and the single tokens of its batch that follow are a generation.
SeenPasses DecoderPasses(const tree::SeenInput& run, const ModelInput& input) {
  SeenPasses seen;
  std::optional<SeenPass> open;
  // Only a generation needs no more than the last word of a prompt.
  bool generates = run.only_last_tokens;
  for (const Size& size : run.tokens) {
    if (size.length > 1) {
      if (open) Add(*open, seen.passes);
      open = SeenPass{input, size.count - 1};
      open->input.batch = size.batch;
      open->input.prompt = size.length;
      Add(*open, seen.passes);
      open->count = 1;
    } else if (open && open->input.batch == size.batch) {
      open->input.generate += static_cast<int64_t>(size.count);
      generates = true;
    } else {
      seen.complete = false;  // of a prompt that the run does not have
    }
  }
  if (open) Add(*open, seen.passes);
  return generates && open ? seen : PlainPasses(run.tokens, run.keys, true, input);
}

// What goes into an encoder, and what goes into the decoder after it.
class EncoderDecoderPasses {
 public:
  EncoderDecoderPasses(const Sizes& sizes, const ModelInput& input) : input_(input) {
    const NodeId encoder = sizes.front().place;
    const auto decoder = std::find_if(sizes.rbegin(), sizes.rend(),
                                      [&](const Size& size) { return size.place != encoder; });
    const bool told_apart = decoder != sizes.rend();
    for (const Size& size : sizes) {
      if (told_apart && size.place != encoder && size.place != decoder->place) {
        seen_.complete = false;
      } else if (told_apart ? size.place == encoder : size.length > 1 && encoded_.empty()) {
        encoded_.push_back(size);
      } else {
        Decode(size);
      }
    }
    Close();
    if (!encoded_.empty()) seen_.complete = false;
  }

  SeenPasses Take() { return std::move(seen_); }

 private:
  void Close() {
    if (open_) Add(*open_, seen_.passes);
    open_.reset();
  }

  void Decode(Size size) {
    const bool goes_on = open_ && encoded_.empty() && size.length == 1 &&
                         size.batch == open_->input.batch * open_->beams;
    if (goes_on) {
      open_->input.generate += static_cast<int64_t>(size.count);
      return;
    }
    while (size.count > 0) {
      // The decoder of a beam search has several sequences for each one of the encoder.
      const auto from = std::find_if(encoded_.begin(), encoded_.end(), [&](const Size& encoder) {
        return size.length == 1 ? size.batch % encoder.batch == 0 : size.batch == encoder.batch;
      });
      if (from == encoded_.end()) {
        seen_.complete = false;
        return;
      }
      Close();
      SeenPass pass{input_, size.length == 1 ? 1 : std::min(from->count, size.count)};
      pass.input.batch = from->batch;
      from->count -= pass.count;
      size.count -= pass.count;
      if (size.length == 1) {
        // The first token is not generated.
        pass.input.prompt = from->length;
        pass.input.generate = static_cast<int64_t>(std::exchange(size.count, 0));
        pass.beams = size.batch / from->batch;
        open_ = pass;
      } else {
        pass.input.seq = from->length;
        pass.input.decoder_seq = size.length;
        Add(pass, seen_.passes);
      }
      if (from->count == 0) encoded_.erase(from);
    }
  }

  const ModelInput& input_;
  SeenPasses seen_;
  Sizes encoded_;                 // not decoded yet
  std::optional<SeenPass> open_;  // a generation that may go on
};

SeenPasses TokenPasses(const models::ModelTraits& traits, const tree::SeenInput& seen,
                       const ModelInput& input) {
  if (traits.encoder_decoder) return EncoderDecoderPasses(seen.tokens, input).Take();
  if (traits.generates) return DecoderPasses(seen, input);
  return PlainPasses(seen.tokens, seen.keys, false, input);
}

SeenPasses ImagePasses(const Sizes& sizes, const ModelInput& input) {
  SeenPasses seen;
  for (const Size& size : sizes) {
    SeenPass pass{input, size.count};
    pass.input.batch = size.batch;
    pass.input.image_size = size.length;
    Add(pass, seen.passes);
  }
  return seen;
}

}  // namespace

SeenPasses PassesOf(const models::ModelTraits& traits, const tree::SeenInput& seen,
                    const ModelInput& input) {
  if ((traits.takes_images ? seen.images : seen.tokens).empty()) return {};
  SeenPasses passes =
      traits.takes_images ? ImagePasses(seen.images, input) : TokenPasses(traits, seen, input);
  std::stable_sort(passes.passes.begin(), passes.passes.end(),
                   [](const SeenPass& a, const SeenPass& b) { return a.count > b.count; });
  return passes;
}

std::string SizesText(const std::vector<tree::SeenInput::Size>& seen) {
  constexpr size_t kMost = 8;
  Sizes sizes;
  for (const Size& size : seen) {
    AddTo(sizes, size,
          [](const Size& a, const Size& b) { return a.batch == b.batch && a.length == b.length; });
  }
  std::string text;
  for (size_t i = 0; i < std::min(sizes.size(), kMost); ++i) {
    const Size& size = sizes[i];
    text += fmt::format("{}{}x{} ({} {})", i == 0 ? "" : ", ", size.batch, size.length, size.count,
                        size.count == 1 ? "time" : "times");
  }
  if (sizes.size() > kMost) text += fmt::format(" and {} more", sizes.size() - kMost);
  return text;
}

}  // namespace beryl::flows
