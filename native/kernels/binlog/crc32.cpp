#include <array>

#include "binlog/bytes.hpp"

namespace engineroom::binlog {

namespace {

// Eight tables, so that eight bytes cost eight independent reads instead of a chain of eight (slicing-by-8).
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1U)));
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 255];
    }
  }
  return tables;
}();

}  // namespace

std::uint32_t crc32(Span bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    const std::uint64_t eight = load_little(at, 8) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][eight >> (8 * i) & 255];
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 255];
  return ~crc;
}

}  // namespace engineroom::binlog
