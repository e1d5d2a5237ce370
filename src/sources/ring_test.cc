#include "sources/ring.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>

namespace beryl::sources {
namespace {

bool PutNumbers(Ring& ring, std::span<const uint64_t> numbers) {
  const std::array<std::span<const std::byte>, 1> parts = {std::as_bytes(numbers)};
  return ring.Put(parts);
}

TEST(Ring, GivesRecordsBackInOrderAcrossItsEnd) {
  Ring ring(256);
  std::vector<std::byte> out;
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::vector<uint64_t> numbers(1 + i % 7, i);
    ASSERT_TRUE(PutNumbers(ring, numbers));
    ASSERT_TRUE(ring.Take(out));
    ASSERT_EQ(out.size(), numbers.size() * sizeof(uint64_t));
    EXPECT_EQ(std::memcmp(out.data(), numbers.data(), out.size()), 0);
  }
  EXPECT_FALSE(ring.Take(out));
}

TEST(Ring, RefusesWhatDoesNotFit) {
  Ring ring(64);
  const std::vector<uint64_t> numbers(3, 7);
  EXPECT_TRUE(PutNumbers(ring, numbers));
  EXPECT_TRUE(PutNumbers(ring, numbers));
  EXPECT_FALSE(PutNumbers(ring, numbers));
  EXPECT_FALSE(PutNumbers(ring, std::vector<uint64_t>(100, 1)));
  std::vector<std::byte> out;
  EXPECT_TRUE(ring.Take(out));
  EXPECT_TRUE(PutNumbers(ring, numbers));
  EXPECT_TRUE(PutNumbers(ring, {}) == false);  // full again
}

TEST(RingThread, LosesAndMixesNothing) {
  Ring ring(1024);
  constexpr uint64_t kCount = 20'000;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kCount; ++i) {
      const std::vector<uint64_t> numbers(1 + i % 5, i);
      while (!PutNumbers(ring, numbers)) std::this_thread::yield();
    }
  });
  std::vector<std::byte> out;
  for (uint64_t i = 0; i < kCount; ++i) {
    while (!ring.Take(out)) std::this_thread::yield();
    const std::vector<uint64_t> expected(1 + i % 5, i);
    ASSERT_EQ(out.size(), expected.size() * sizeof(uint64_t));
    ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.size()), 0);
  }
  writer.join();
}

}  // namespace
}  // namespace beryl::sources
