#include "store/blocks.h"

#include <fmt/format.h>

#include "base/deflate.h"
#include "store/encoding.h"

namespace beryl::store {
namespace {

constexpr size_t kHeaderBytes = 16;       // magic, version, 0
constexpr size_t kBlockHeaderBytes = 16;  // type, coding, 0, 0, size, stored size, checksum
// Far above what is written; a damaged length must not make a reader allocate all memory.
constexpr uint32_t kLargestBlock = 64U << 20;

}  // namespace

Status BlockWriter::Start() {
  std::string header(kMagic);
  PutFixed<uint32_t>(header, kVersion);
  PutFixed<uint32_t>(header, 0);
  return file_.Append(header);
}

Status BlockWriter::Add(BlockType type, std::string_view bytes, bool pack) {
  std::string deflated;
  auto coding = Coding::kPlain;
  if (pack) {
    deflated = Deflate(bytes);
    if (deflated.size() + deflated.size() / 16 < bytes.size()) coding = Coding::kDeflated;
  }
  const std::string_view stored = coding == Coding::kDeflated ? deflated : bytes;
  std::string block;
  block.reserve(kBlockHeaderBytes + stored.size());
  PutFixed<uint8_t>(block, static_cast<uint8_t>(type));
  PutFixed<uint8_t>(block, static_cast<uint8_t>(coding));
  PutFixed<uint16_t>(block, 0);
  PutFixed<uint32_t>(block, static_cast<uint32_t>(bytes.size()));
  PutFixed<uint32_t>(block, static_cast<uint32_t>(stored.size()));
  PutFixed<uint32_t>(block, Checksum(stored, Checksum(block)));
  block += stored;
  return file_.Append(block);
}

Status BlockWriter::Finish() { return Add(BlockType::kEnd, "", false); }

std::optional<std::string> BytesOf(Block& block) {
  std::string header;
  PutFixed<uint8_t>(header, static_cast<uint8_t>(block.type));
  PutFixed<uint8_t>(header, static_cast<uint8_t>(block.coding));
  PutFixed<uint16_t>(header, 0);
  PutFixed<uint32_t>(header, block.size);
  PutFixed<uint32_t>(header, static_cast<uint32_t>(block.stored.size()));
  if (Checksum(block.stored, Checksum(header)) != block.checksum) return std::nullopt;
  if (block.coding == Coding::kPlain) {
    if (block.stored.size() != block.size) return std::nullopt;
    return std::move(block.stored);
  }
  auto bytes = Inflate(block.stored, block.size);
  if (!bytes) return std::nullopt;
  return std::move(*bytes);
}

Status BlockReader::Start() {
  std::string header(kHeaderBytes, '\0');
  auto got = TRY(source_.Read(header.data(), header.size()));
  if (!std::string_view(header).substr(0, got).starts_with(kMagic)) {
    return InvalidError(fmt::format(
        "{}: not a run file; beryl import writes one from an operation trace and a power trace",
        source_.name()));
  }
  offset_ = got;
  if (got < header.size()) {
    damage_ = NoteKind::kRunFileHeaderCut;
    return {};
  }
  Decoder decoder(header);
  decoder.Bytes(kMagic.size());
  const auto version = decoder.Fixed<uint32_t>();
  if (version > kVersion) {
    return InvalidError(fmt::format(
        "{}: a run file of version {}, written by a later beryl; this one reads up to version {}",
        source_.name(), version, kVersion));
  }
  return {};
}

Result<std::optional<Block>> BlockReader::Next() {
  if (damage_) return std::optional<Block>();
  std::string header(kBlockHeaderBytes, '\0');
  if (TRY(source_.Read(header.data(), header.size())) < header.size()) {
    damage_ = NoteKind::kRunFileNotFinished;
    return std::optional<Block>();
  }
  Block block;
  block.offset = offset_;
  Decoder decoder(header);
  block.type = static_cast<BlockType>(decoder.Fixed<uint8_t>());
  block.coding = static_cast<Coding>(decoder.Fixed<uint8_t>());
  decoder.Fixed<uint16_t>();
  block.size = decoder.Fixed<uint32_t>();
  const auto stored = decoder.Fixed<uint32_t>();
  block.checksum = decoder.Fixed<uint32_t>();
  if (block.size > kLargestBlock || stored > kLargestBlock) {
    damage_ = NoteKind::kRunFileBlockTooLarge;
    return std::optional<Block>();
  }
  block.stored.resize(stored);
  if (TRY(source_.Read(block.stored.data(), stored)) < stored) {
    damage_ = NoteKind::kRunFileBlockCut;
    return std::optional<Block>();
  }
  offset_ += kBlockHeaderBytes + stored;
  return std::optional<Block>(std::move(block));
}

}  // namespace beryl::store
