#include "base/sort_by_key.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace beryl {
namespace {

void ExpectSortsLikeStableSort(std::vector<uint64_t> keys) {
  std::vector<KeyedIndex> entries;
  for (size_t i = 0; i < keys.size(); ++i) entries.push_back({keys[i], static_cast<uint32_t>(i)});
  std::vector<KeyedIndex> expected = entries;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const KeyedIndex& a, const KeyedIndex& b) { return a.key < b.key; });
  SortByKey(entries);
  ASSERT_EQ(entries.size(), expected.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(entries[i].key, expected[i].key) << i;
    ASSERT_EQ(entries[i].index, expected[i].index) << i;
  }
}

TEST(SortByKeyTest, SmallCases) {
  ExpectSortsLikeStableSort({});
  ExpectSortsLikeStableSort({7});
  ExpectSortsLikeStableSort({2, 1});
  ExpectSortsLikeStableSort({std::numeric_limits<uint64_t>::max(), 0, 1});
}

TEST(SortByKeyTest, RandomKeysOfEveryWidth) {
  std::mt19937_64 random(1);
  for (int shift = 0; shift < 64; shift += 7) {
    for (const size_t size : {10, 1000, 5000}) {
      std::vector<uint64_t> keys(size);
      for (uint64_t& key : keys) key = random() >> shift;
      ExpectSortsLikeStableSort(keys);
    }
  }
}

TEST(SortByKeyTest, EqualKeysStayInOrder) {
  std::mt19937_64 random(2);
  ExpectSortsLikeStableSort(std::vector<uint64_t>(3000, 42));
  std::vector<uint64_t> keys(3000);
  for (uint64_t& key : keys) key = (random() % 5) << 40;
  ExpectSortsLikeStableSort(keys);
}

TEST(SortByKeyTest, SortedPiecesOneAfterTheOther) {
  std::mt19937_64 random(4);
  for (size_t pieces = 1; pieces < 20; ++pieces) {
    std::vector<uint64_t> keys;
    for (size_t piece = 0; piece < pieces; ++piece) {
      const auto start = static_cast<std::ptrdiff_t>(keys.size());
      for (size_t size = random() % 500; size > 0; --size) keys.push_back(random() % 1000);
      std::sort(keys.begin() + start, keys.end());
    }
    ExpectSortsLikeStableSort(keys);
  }
}

TEST(SortByKeyTest, NearlySorted) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> keys(10'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * 10 + random() % 50;
  ExpectSortsLikeStableSort(keys);
  // One early entry that comes last must not make the quick way slow or wrong.
  keys.push_back(0);
  ExpectSortsLikeStableSort(keys);
  std::reverse(keys.begin(), keys.end());
  ExpectSortsLikeStableSort(keys);
}

// The quick way gives up half-way: what it leaves must still be in the order of equal keys.
TEST(SortByKeyTest, GivingUpHalfWayKeepsTheOrderOfEqualKeys) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 2000; ++i) keys.push_back(1000 + i / 10);
  for (uint64_t i = 0; i < 2000; ++i) keys.push_back(i / 20);
  ExpectSortsLikeStableSort(keys);
}

}  // namespace
}  // namespace beryl
