#include "types/op_pile.h"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace beryl {
namespace {

constexpr int64_t kMicro = 1000;
constexpr int64_t kFar = 4'000'000'000'000'000'000;  // differences of nearer times fit

void PutVarint(std::string& out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}
// Small numbers of either sign are short.
void PutSigned(std::string& out, int64_t number) {
  PutVarint(out, (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63));
}

// Differences of times may not fit; wrapped around, they come back exactly.
int64_t Less(Nanos a, Nanos b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a.value) - static_cast<uint64_t>(b.value));
}
Nanos More(Nanos time, int64_t by) {
  return Nanos{static_cast<int64_t>(static_cast<uint64_t>(time.value) + static_cast<uint64_t>(by))};
}

// Most traces count in whole microseconds; then so do the differences.
int64_t UnitOf(std::span<const Op> ops) {
  const auto is_whole = [](Nanos time) {
    return time.value % kMicro == 0 && time.value > -kFar && time.value < kFar;
  };
  const bool all = std::all_of(
      ops.begin(), ops.end(), [&](const Op& op) { return is_whole(op.start) && is_whole(op.end); });
  return all ? kMicro : 1;
}

// `ops` are in order of start.
std::string Encode(std::span<const Op> ops) {
  std::string out;
  out.reserve(ops.size() * 9 + 16);
  const int64_t unit = UnitOf(ops);
  PutVarint(out, ops.size());
  PutVarint(out, static_cast<uint64_t>(unit));
  PutSigned(out, ops.front().start.value);
  Nanos before = ops.front().start;
  for (const Op& op : ops) {
    PutSigned(out, Less(op.start, before) / unit);
    PutSigned(out, Less(op.end, op.start) / unit);
    PutVarint(out, op.kind);
    PutVarint(out, op.device);
    PutVarint(out, static_cast<uint32_t>(op.lane + 1));  // none is 0
    PutVarint(out, static_cast<uint32_t>(op.step + 1));
    before = op.start;
  }
  out.shrink_to_fit();
  return out;
}

class Decoder {
 public:
  explicit Decoder(const std::string& piece) : piece_(&piece) {
    left_ = Varint();
    unit_ = static_cast<int64_t>(Varint());
    before_ = Nanos{Signed()};
  }

  bool is_done() const { return left_ == 0; }
  Op Next() {
    --left_;
    Op op;
    op.start = before_ = More(before_, Signed() * unit_);
    op.end = More(op.start, Signed() * unit_);
    op.kind = static_cast<uint32_t>(Varint());
    op.device = static_cast<uint16_t>(Varint());
    op.lane = static_cast<uint32_t>(Varint()) - 1;
    op.step = static_cast<uint32_t>(Varint()) - 1;
    return op;
  }

 private:
  uint64_t Varint() {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>((*piece_)[at_++]);
      number |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return number;
    }
  }
  int64_t Signed() {
    const uint64_t number = Varint();
    return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
  }

  const std::string* piece_;
  size_t at_ = 0;
  uint64_t left_ = 0;
  int64_t unit_ = 1;
  Nanos before_;
};

// Pieces that follow one another in time.
class PackedPieces : public PackedOps {
 public:
  void Add(std::span<const Op> ops) {
    if (ops.empty()) return;
    pieces_.push_back(Encode(ops));
    for (const Op& op : ops) {
      if (op.device >= glance_.devices.size()) glance_.devices.resize(op.device + size_t{1});
      glance_.devices[op.device].Include(op.start, op.end, 1);
    }
  }

  const OpGlance& glance() const override { return glance_; }
  size_t blocks() const override { return pieces_.size(); }
  bool Unpack(size_t block, std::vector<Op>& ops) const override {
    ops.clear();
    for (Decoder piece(pieces_[block]); !piece.is_done();) ops.push_back(piece.Next());
    return true;
  }

 private:
  std::vector<std::string> pieces_;
  OpGlance glance_;
};

// Takes pieces that are each in order of start, and gives all operations in order.
class Merger {
 public:
  explicit Merger(std::vector<std::string>& pieces) : pieces_(pieces) {
    decoders_.reserve(pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      decoders_.emplace_back(pieces[i]);
      Advance(i);
    }
  }

  bool is_done() const { return heads_.empty(); }
  Op Next() {
    const Head head = heads_.top();
    heads_.pop();
    Advance(head.piece);
    return head.op;
  }

 private:
  struct Head {
    Op op;
    size_t piece;
    // The earliest is on top; of those that start together, the one that came first.
    bool operator<(const Head& other) const {
      return op.start != other.op.start ? op.start > other.op.start : piece > other.piece;
    }
  };

  void Advance(size_t piece) {
    if (!decoders_[piece].is_done()) {
      heads_.push({decoders_[piece].Next(), piece});
    } else {
      pieces_[piece] = {};
    }
  }

  std::vector<std::string>& pieces_;
  std::vector<Decoder> decoders_;
  std::priority_queue<Head> heads_;
};

class SteppedOps : public PackedOps {
 public:
  SteppedOps(std::shared_ptr<const PackedOps> all, uint32_t step)
      : all_(std::move(all)), step_(step) {}

  const OpGlance& glance() const override { return all_->glance(); }
  size_t blocks() const override { return all_->blocks(); }
  bool Unpack(size_t block, std::vector<Op>& ops) const override {
    const bool is_whole = all_->Unpack(block, ops);
    for (Op& op : ops) {
      if (op.step == kNoStep) op.step = step_;
    }
    return is_whole;
  }

 private:
  const std::shared_ptr<const PackedOps> all_;
  const uint32_t step_;
};

}  // namespace

void OpPile::Add(const Op& op) {
  listed_.push_back(op);
  const bool are_many = !pieces_.empty() || listed_.size() > most_listed_;
  if (are_many && listed_.size() >= kInPiece) PackListed();
}

void OpPile::PackListed() {
  for (size_t from = 0; from < listed_.size(); from += kInPiece) {
    const auto piece = std::span(listed_).subspan(from, std::min(kInPiece, listed_.size() - from));
    std::stable_sort(piece.begin(), piece.end(),
                     [](const Op& a, const Op& b) { return a.start < b.start; });
    pieces_.push_back(Encode(piece));
  }
  if (listed_.capacity() > kInPiece) listed_ = {};
  listed_.clear();
}

void OpPile::ForEach(const Change& look) const {
  for (const std::string& bytes : pieces_) {
    for (Decoder piece(bytes); !piece.is_done();) {
      Op op = piece.Next();
      look(op);
    }
  }
  for (Op op : listed_) look(op);
}

void OpPile::MoveTo(OpTrace& trace, const Change& change) {
  const bool are_many = !pieces_.empty() && trace.ops.empty() && !trace.packed;
  if (!pieces_.empty()) PackListed();
  if (pieces_.empty() && trace.ops.empty()) {
    size_t kept = 0;
    for (Op op : listed_) {
      if (change(op)) listed_[kept++] = op;
    }
    listed_.resize(kept);
    trace.ops = std::move(listed_);
    return;
  }
  for (Op& op : listed_) {
    if (change(op)) trace.ops.push_back(op);
  }
  auto packed = std::make_shared<PackedPieces>();
  std::vector<Op> next;
  for (Merger merger(pieces_); !merger.is_done();) {
    Op op = merger.Next();
    if (!change(op)) continue;
    (are_many ? next : trace.ops).push_back(op);
    if (next.size() < kInPiece) continue;
    packed->Add(next);
    next.clear();
  }
  packed->Add(next);
  if (packed->blocks() > 0) trace.packed = std::move(packed);
  pieces_.clear();
}

std::shared_ptr<const PackedOps> InStep(std::shared_ptr<const PackedOps> packed, uint32_t step) {
  return std::make_shared<SteppedOps>(std::move(packed), step);
}

}  // namespace beryl
