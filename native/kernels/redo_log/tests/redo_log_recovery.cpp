// The block format, and recovery as a pure function over bytes: whatever happens to a file, recovery gives
// back a prefix of the groups that were written, each whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/tests/part_of.hpp"
#include "redo_log/block.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/mtr.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kCapacity = 256 * kBlockBytes;

std::vector<Bytes> some_groups(std::mt19937_64& random, std::size_t n, std::size_t most_bytes) {
  std::vector<Bytes> groups;
  for (std::size_t i = 0; i < n; ++i) groups.push_back(make_group(7, i, 1 + random() % most_bytes));
  return groups;
}

/// How many groups came back; fails unless they are the first ones, byte for byte.
std::size_t prefix_length(const Recovered& found, const std::vector<Bytes>& groups) {
  EXPECT_LE(found.groups.size(), groups.size());
  Sn sn = kStartSn;
  for (std::size_t i = 0; i < std::min(found.groups.size(), groups.size()); ++i) {
    const auto bytes = found.bytes_of(found.groups[i]);
    EXPECT_TRUE(std::ranges::equal(bytes, groups[i])) << "group " << i;
    EXPECT_EQ(found.groups[i].start_lsn, lsn_of(sn));
    EXPECT_EQ(found.groups[i].end_lsn, lsn_of(sn += groups[i].size()));
  }
  return found.groups.size();
}

std::vector<Lsn> ends_of(const std::vector<Bytes>& groups) {
  std::vector<Lsn> ends;
  Sn sn = kStartSn;
  for (const Bytes& group : groups) ends.push_back(lsn_of(sn += group.size()));
  return ends;
}

TEST(RedoBlock, AnLsnSkipsHeadersAndTrailers) {
  EXPECT_EQ(lsn_of(0), 12U);
  EXPECT_EQ(lsn_of(495), 507U);
  EXPECT_EQ(lsn_of(496), 524U);
  EXPECT_EQ(lsn_of(kStartSn), 8204U);
  EXPECT_EQ(lsn_of(kStartSn + 700), 8920U);
  for (Sn sn = 0; sn < 5000; ++sn) {
    ASSERT_EQ(sn_of(lsn_of(sn)), sn);
    ASSERT_GE(offset_in_block(lsn_of(sn)), kHeaderBytes);
    ASSERT_LT(offset_in_block(lsn_of(sn)), kBlockBytes - kTrailerBytes);
  }
}

TEST(RedoBlock, TheChecksumIsCastagnolis) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(kDigits))), 0xE3069283U);
  const std::array<std::byte, 32> zeroes{};
  EXPECT_EQ(crc32c(zeroes), 0x8A9136AAU);
}

TEST(RedoBlock, TheChecksumOfAnyNumberOfBytesIsThatOfOneBitAfterTheOther) {
  std::mt19937_64 random(1);
  Bytes bytes;
  for (std::size_t size = 0; size < 70; ++size, bytes.push_back(static_cast<std::byte>(random()))) {
    std::uint32_t crc = ~0U;
    for (const std::byte byte : bytes) {
      crc ^= static_cast<std::uint32_t>(byte);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    }
    EXPECT_EQ(crc32c(bytes), ~crc) << size;
  }
}

TEST(RedoGroup, OfAnotherClientOrNumberHasOtherBytes) {
  std::set<std::vector<int>>
      groups;  // of numbers: gcc 12 warns of comparing vectors of bytes where it inlines that
  std::set<std::byte> values;
  for (std::uint32_t client = 0; client < 10; ++client) {
    for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
      const Bytes group = make_group(client, sequence, 150);
      std::vector<int> numbers;
      for (const std::byte each : group) numbers.push_back(std::to_integer<int>(each));
      groups.insert(numbers);
      values.insert(group.begin() + kRecordHeaderBytes, group.end());
    }
  }
  EXPECT_EQ(groups.size(), 100U);
  EXPECT_EQ(values.size(), 256U);
}

TEST(RedoBlock, GivesBackWhatWasSealedAndAnyFlippedBitIsSeen) {
  std::array<std::byte, kBlockBytes> block{};
  set_first_group(block, 0x0123);
  seal(block, 0x12345 * kBlockBytes, 0x01FE, 0x12345678);
  ASSERT_TRUE(checksum_holds(block));
  const BlockHeader header = header_of(block);
  EXPECT_EQ(header.number, 0x12346U);
  EXPECT_EQ(header.data_bytes, 0x01FE);
  EXPECT_EQ(header.first_group, 0x0123);
  EXPECT_EQ(header.checkpoint, 0x12345678U);
  for (std::size_t bit = 0; bit < kBlockBytes * 8; ++bit) {
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_FALSE(checksum_holds(block)) << bit;
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

TEST(RedoGroup, OneRecordIsMarkedAndSeveralEndWithAMark) {
  const Bytes one = make_group(1, 1, 5);
  EXPECT_EQ(one.size(), kRecordHeaderBytes + 5);
  EXPECT_NE(one[0] & kSingleRecord, std::byte{0});
  const Bytes three = make_group(1, 1, 500);
  EXPECT_EQ(three.size(), 3 * kRecordHeaderBytes + 500 + 1);
  EXPECT_EQ(three.back(), kMultiRecordEnd);
  EXPECT_EQ(parse_group(three).records.size(), 3U);
}

TEST(Groups, ChangeEachOfSixteenPages) {
  std::set<std::uint32_t> pages;
  for (std::uint64_t i = 0; i < 500; ++i) {
    for (const Record& record : parse_group(make_group(7, i, 100)).records) pages.insert(record.page);
  }
  EXPECT_EQ(pages.size(), 16U);
  EXPECT_EQ(*pages.rbegin(), 15U);
}

TEST(RedoGroup, IsParsedIntoTheChangesItWasMadeOf) {
  const Bytes first(3, std::byte{7});
  const Bytes second(200, std::byte{9});
  Mtr mtr;
  mtr.write(0x01020304, 250, first);
  mtr.write(5, 17, second);
  const ParsedGroup group = parse_group(mtr.finish());
  ASSERT_EQ(group.records.size(), 2U);
  EXPECT_EQ(group.records[0].page, 0x01020304U);
  EXPECT_EQ(group.records[0].offset, 250);
  EXPECT_TRUE(std::ranges::equal(group.records[0].bytes, first));
  EXPECT_EQ(group.records[1].page, 5U);
  EXPECT_EQ(group.records[1].offset, 17);
  EXPECT_TRUE(std::ranges::equal(group.records[1].bytes, second));
  EXPECT_THROW(mtr.write(1, 254, first), std::invalid_argument);
}

TEST(Recovery, SaysWhyItStopped) {
  std::mt19937_64 random(1);
  const std::vector<Bytes> groups = some_groups(random, 40, 300);
  const Lsn end = ends_of(groups).back();
  const Bytes whole = write_file(groups, kCapacity);
  const std::size_t second = kFileHeaderBytes + kBlockBytes;
  const auto stop_of = [](const Bytes& file) { return recover(file)->stop; };
  EXPECT_EQ(stop_of(whole), Stop::partial_block);
  EXPECT_EQ(stop_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(second) + 100)),
            Stop::end_of_file);
  Bytes flipped = whole;
  flipped[second + 100] ^= std::byte{1};
  EXPECT_EQ(stop_of(flipped), Stop::bad_checksum);
  Bytes zeroed = whole;
  std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(second), kBlockBytes, std::byte{0});
  EXPECT_EQ(stop_of(zeroed), Stop::wrong_number);
  Bytes no_record = whole;
  no_record[kFileHeaderBytes + kHeaderBytes] = std::byte{0};
  seal(Block(&no_record[kFileHeaderBytes], kBlockBytes), kStartLsn, kBlockBytes, 0);
  EXPECT_EQ(stop_of(no_record), Stop::corrupt_record);
  EXPECT_EQ(recover(whole)->end_lsn, end);
}

TEST(RedoGroup, EveryTrueBeginningOfAGroupIsIncomplete) {
  const Bytes group = make_group(2, 9, 500);
  for (std::size_t bytes = 0; bytes < group.size(); ++bytes) {
    ASSERT_EQ(parse_group(std::span(group).first(bytes)).state, Parsed::incomplete) << bytes;
  }
  EXPECT_EQ(parse_group(group).state, Parsed::complete);
}

TEST(RedoGroup, ZeroesAreNotARecord) { EXPECT_EQ(parse_group(Bytes(20)).state, Parsed::corrupt); }

TEST(Recovery, TheFirstGroupOfTheSpecEndsAt8920AndTheNextBlockNamesIt) {
  // 700 bytes from LSN 8204: 8204 + 700 + 16, in the second block, where the next group starts.
  const std::vector<Bytes> groups{make_group(1, 0, 700 - 4 * kRecordHeaderBytes - 1), make_group(1, 1, 10)};
  ASSERT_EQ(groups[0].size(), 700U);
  const Bytes file = write_file(groups, kCapacity);
  const auto block = [&](Lsn lsn) {
    return header_of(
        std::span(file).subspan(static_cast<std::size_t>(file_offset(lsn, kCapacity))).first<kBlockBytes>());
  };
  EXPECT_EQ(block(8192).first_group, 12U);
  EXPECT_EQ(block(8192).data_bytes, 512U);
  EXPECT_EQ(block(8704).first_group, 216U);
  const auto found = recover(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(prefix_length(*found, groups), 2U);
  EXPECT_EQ(found->groups[0].end_lsn, 8920U);
  EXPECT_EQ(found->stop, Stop::partial_block);
}

TEST(Recovery, AGroupThatFillsItsBlockEndsBehindTheNextHeader) {
  const std::vector<Bytes> groups{make_group(1, 0, 496 - 3 * kRecordHeaderBytes - 1)};
  ASSERT_EQ(groups[0].size(), 496U);
  const auto found = recover(write_file(groups, kCapacity));
  ASSERT_TRUE(found);
  EXPECT_EQ(prefix_length(*found, groups), 1U);
  EXPECT_EQ(found->end_lsn, 8192U + 524);
}

TEST(Recovery, OfAnEmptyLogIsEmpty) {
  const auto found = recover(new_file_header(kCapacity));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->groups.empty());
  EXPECT_EQ(found->end_lsn, 8204U);
  EXPECT_FALSE(recover({}));
  EXPECT_FALSE(recover(Bytes(kFileHeaderBytes)));
  EXPECT_THROW(new_file_header(1000), std::invalid_argument);
}

TEST(Recovery, ACutAnywhereLeavesExactlyTheGroupsOfTheWholeBlocksBeforeIt) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Bytes> groups = some_groups(random, 30, 1200);
    const std::vector<Lsn> ends = ends_of(groups);
    const Bytes file = write_file(groups, kCapacity);
    for (int cut = 0; cut < 100; ++cut) {
      const std::size_t bytes = kFileHeaderBytes + random() % (file.size() - kFileHeaderBytes);
      const auto found = recover(std::span(file).first(bytes));
      ASSERT_TRUE(found);
      const Lsn kept = kStartLsn + (bytes - kFileHeaderBytes) / kBlockBytes * kBlockBytes;
      // Data of a kept block reaches to its end, which is the LSN behind the next block's header.
      const auto expected = std::ranges::count_if(ends, [&](Lsn end) { return end <= kept + kHeaderBytes; });
      ASSERT_EQ(prefix_length(*found, groups), static_cast<std::size_t>(expected)) << seed << " " << bytes;
    }
  }
}

TEST(Recovery, AnyDamageLeavesAPrefix) {
  for (std::uint64_t seed = 0; seed < part_of(2000); ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Bytes> groups = some_groups(random, 20, 700);
    const std::vector<Lsn> ends = ends_of(groups);
    Bytes file = write_file(groups, kCapacity);
    // A bit flips, a stretch becomes zero, or a block is torn: its second half is of another time.
    const std::size_t log_bytes = static_cast<std::size_t>(block_of(ends.back()) + kBlockBytes - kStartLsn);
    const std::size_t at = kFileHeaderBytes + random() % log_bytes;
    switch (seed % 3) {
      case 0:
        file[at] ^= static_cast<std::byte>(1 << random() % 8);
        break;
      case 1:
        std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min(file.size() - at, random() % 2000), std::byte{0});
        break;
      case 2:
        std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at / kBlockBytes * kBlockBytes + 256), 256,
                    std::byte(seed));
        break;
    }
    const auto found = recover(file);
    ASSERT_TRUE(found);
    const std::size_t whole = prefix_length(*found, groups);
    const Lsn damaged = kStartLsn + (at - kFileHeaderBytes) / kBlockBytes * kBlockBytes;
    const auto before = std::ranges::count_if(ends, [&](Lsn end) { return end <= damaged + kHeaderBytes; });
    ASSERT_GE(whole, static_cast<std::size_t>(before)) << seed;
    if (seed % 3 == 0) {
      ASSERT_EQ(whole, static_cast<std::size_t>(before)) << seed;
    }
  }
}

TEST(Recovery, StartsAtTheCheckpointAlsoWhenTheFileWentRound) {
  for (std::uint64_t seed = 0; seed < part_of(200); ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t capacity = 64 * kBlockBytes;
    const std::vector<Bytes> groups = some_groups(random, 400, 1000);  // some fill a block alone
    const std::vector<Lsn> ends = ends_of(groups);
    Bytes file = write_file(groups, capacity);
    // Any group end that the circle still holds may be the checkpoint.
    const Lsn oldest = ends.back() - capacity + 4 * kBlockBytes;
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i] >= oldest) possible.push_back(i);
    }
    const std::size_t chosen = possible[random() % possible.size()];
    const Bytes older = checkpoint_block({.number = 1, .lsn = ends[possible[0]]});
    const Bytes newer = checkpoint_block({.number = 2, .lsn = ends[chosen]});
    std::copy(older.begin(), older.end(), file.begin() + kCheckpointAt[1]);
    std::copy(newer.begin(), newer.end(), file.begin() + kCheckpointAt[0]);
    if (seed % 2 == 0) file[kCheckpointAt[0] + 9] ^= std::byte{1};  // the newer one was torn
    const std::size_t from = seed % 2 == 0 ? possible[0] : chosen;
    const auto found = recover(file);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->checkpoint.lsn, ends[from]);
    EXPECT_EQ(found->checkpoint.number, seed % 2 == 0 ? 1U : 2U);
    EXPECT_EQ(found->end_lsn, ends.back()) << seed;
    // All groups from the checkpoint on are there; some before it may be.
    ASSERT_GE(found->groups.size(), groups.size() - 1 - from) << seed;
    for (std::size_t i = from + 1; i < groups.size(); ++i) {
      const auto& group = found->groups[found->groups.size() - groups.size() + i];
      ASSERT_TRUE(std::ranges::equal(found->bytes_of(group), groups[i])) << seed << " " << i;
    }
  }
}

TEST(Recovery, AppliedTwiceOrOverPagesAlreadyWrittenGivesTheSamePages) {
  for (std::uint64_t seed = 0; seed < part_of(200); ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Bytes> groups = some_groups(random, 40, 600);
    const std::vector<Lsn> ends = ends_of(groups);
    Pages expected;
    Pages written;  // some pages reached the disk, each with a prefix of its changes
    const std::size_t flushed = random() % groups.size();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const ParsedGroup group = parse_group(groups[i]);
      apply(group.records, ends[i], expected);
      if (i == flushed) {
        for (const auto& [number, page] : expected) {
          if (random() % 2 == 0) written[number] = page;
        }
      }
    }
    const auto found = recover(write_file(groups, kCapacity));
    ASSERT_TRUE(found);
    found->apply_to(written);
    found->apply_to(written);
    ASSERT_EQ(written.size(), expected.size());
    for (const auto& [number, page] : expected) {
      ASSERT_EQ(written[number].lsn, page.lsn);
      ASSERT_EQ(written[number].bytes, page.bytes);
    }
  }
}

}  // namespace
}  // namespace engineroom::redo_log
