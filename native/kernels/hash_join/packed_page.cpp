#include "hash_join/packed_page.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/x86.hpp"

namespace engineroom::hash_join {

namespace {

static_assert(std::endian::native == std::endian::little);  // the first bytes of a number are its lowest

struct Header {
  HashedRow shared;  // the upper bytes
  std::uint32_t hash_bytes;
  std::uint32_t value_bytes;
};
static_assert(sizeof(Header) == 24);

std::uint32_t bytes_for(std::uint64_t number) {
  return static_cast<std::uint32_t>((std::bit_width(number) + 7) / 8);
}

std::uint64_t mask_of(std::uint32_t bytes) {
  return bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

/// The bits in which not all rows agree.
HashedRow differing(std::span<const HashedRow> rows) {
  const HashedRow first = rows.front();
  HashedRow bits{.hash = 0, .value = 0};
  for (const HashedRow& row : rows) {
    bits.hash |= row.hash ^ first.hash;
    bits.value |= row.value ^ first.value;
  }
  return bits;
}

// Eight bytes are stored each time; what is too much of them, the next store overwrites.
void pack_rows(std::span<const HashedRow> rows, const Header& header, std::byte* to) {
  for (const HashedRow& row : rows) {
    std::memcpy(to, &row.hash, sizeof(row.hash));
    to += header.hash_bytes;
    std::memcpy(to, &row.value, sizeof(row.value));
    to += header.value_bytes;
  }
}

void unpack_rows(const std::byte* from, const Header& header, std::span<HashedRow> rows) {
  const std::uint64_t hash_mask = mask_of(header.hash_bytes);
  const std::uint64_t value_mask = mask_of(header.value_bytes);
  for (HashedRow& row : rows) {
    std::uint64_t hash;
    std::uint64_t value;
    std::memcpy(&hash, from, sizeof(hash));
    from += header.hash_bytes;
    std::memcpy(&value, from, sizeof(value));
    from += header.value_bytes;
    row = {.hash = header.shared.hash | (hash & hash_mask),
           .value = header.shared.value | (value & value_mask)};
  }
}

#if ENGINEROOM_X86
constexpr std::size_t kRowsPerRegister = 4;

bool has_vbmi2() {
  static const bool has =
      __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  return has;
}

/// The bytes of four rows that are not shared.
__mmask64 own_bytes(const Header& header) {
  const std::uint64_t row =
      ((std::uint64_t{1} << header.hash_bytes) - 1) | (((std::uint64_t{1} << header.value_bytes) - 1) << 8);
  return row * 0x0001000100010001;
}

[[gnu::target("avx512f,avx512bw,avx512vbmi2")]] HashedRow differing_vbmi2(std::span<const HashedRow> rows) {
  const __m512i first = _mm512_maskz_broadcast_i32x4(
      __mmask16{0xffff}, _mm_loadu_si128(reinterpret_cast<const __m128i*>(&rows.front())));
  __m512i bits = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + kRowsPerRegister <= rows.size(); i += kRowsPerRegister) {
    bits = _mm512_or_si512(bits, _mm512_xor_si512(_mm512_loadu_si512(rows.data() + i), first));
  }
  std::array<HashedRow, kRowsPerRegister + 1> four{};
  _mm512_storeu_si512(four.data(), bits);
  for (; i < rows.size(); ++i) {
    four.back().hash |= rows[i].hash ^ rows.front().hash;
    four.back().value |= rows[i].value ^ rows.front().value;
  }
  HashedRow all{.hash = 0, .value = 0};
  for (const HashedRow& row : four) {
    all.hash |= row.hash;
    all.value |= row.value;
  }
  return all;
}

[[gnu::target("avx512f,avx512bw,avx512vbmi2")]] void pack_rows_vbmi2(std::span<const HashedRow> rows,
                                                                     const Header& header, std::byte* to) {
  const __mmask64 own = own_bytes(header);
  const std::size_t step = kRowsPerRegister * (header.hash_bytes + header.value_bytes);
  std::size_t i = 0;
  for (; i + kRowsPerRegister <= rows.size(); i += kRowsPerRegister) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(own, _mm512_loadu_si512(rows.data() + i)));
    to += step;
  }
  pack_rows(rows.subspan(i), header, to);
}

[[gnu::target("avx512f,avx512bw,avx512vbmi2")]] void unpack_rows_vbmi2(const std::byte* from,
                                                                       const Header& header,
                                                                       std::span<HashedRow> rows) {
  const __mmask64 own = own_bytes(header);
  const std::size_t step = kRowsPerRegister * (header.hash_bytes + header.value_bytes);
  const __m512i shared = _mm512_maskz_broadcast_i32x4(
      __mmask16{0xffff}, _mm_loadu_si128(reinterpret_cast<const __m128i*>(&header.shared)));
  std::size_t i = 0;
  for (; i + kRowsPerRegister <= rows.size(); i += kRowsPerRegister) {
    const __m512i low = _mm512_maskz_expand_epi8(own, _mm512_loadu_si512(from));
    _mm512_storeu_si512(rows.data() + i, _mm512_or_si512(shared, low));
    from += step;
  }
  unpack_rows(from, header, rows.subspan(i));
}
#endif

}  // namespace

std::size_t pack_page(std::span<const HashedRow> rows, std::byte* to) {
#if ENGINEROOM_X86
  const bool wide = has_vbmi2();
  const HashedRow bits = wide ? differing_vbmi2(rows) : differing(rows);
#else
  const HashedRow bits = differing(rows);
#endif
  Header header{
      .shared = rows.front(), .hash_bytes = bytes_for(bits.hash), .value_bytes = bytes_for(bits.value)};
  header.shared.hash &= ~mask_of(header.hash_bytes);
  header.shared.value &= ~mask_of(header.value_bytes);
  std::memcpy(to, &header, sizeof(header));
  std::byte* const packed = to + sizeof(header);
#if ENGINEROOM_X86
  wide ? pack_rows_vbmi2(rows, header, packed) : pack_rows(rows, header, packed);
#else
  pack_rows(rows, header, packed);
#endif
  return sizeof(header) + rows.size() * (header.hash_bytes + header.value_bytes);
}

void unpack_page(const std::byte* from, std::span<HashedRow> rows) {
  Header header;
  std::memcpy(&header, from, sizeof(header));
  from += sizeof(header);
#if ENGINEROOM_X86
  if (has_vbmi2()) return unpack_rows_vbmi2(from, header, rows);
#endif
  unpack_rows(from, header, rows);
}

}  // namespace engineroom::hash_join
