// Row events in the browser: the same transactions under each row image, plain and packed by zstd at one level, in bytes.
//
// Leaves out  arguments out of range: the caller checks them
#include <zstd.h>
#include <array>
#include <cstddef>
#include <cstdint>

#include "binlog/examples.hpp"
#include "wasm/exports.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::binlog;

constexpr const auto& kImages = names::table_of<RowImage>;

/// Sums over transactions; in the order of COUNTED in binlog.js.
struct Counted {
  std::uint64_t gtid = 0;
  std::uint64_t begin_and_xid = 0;
  std::uint64_t maps = 0;
  std::uint64_t rows = 0;
  std::uint64_t inside = 0;  // what zstd is given: the events behind the GTID event, without checksums
  std::uint64_t frames = 0;  // what zstd makes of them
  std::uint64_t packed = 0;  // GTID and payload events
  std::uint64_t inside_crc = 0;
  std::uint64_t frames_crc = 0;
};
std::array<Counted, kImages.all.size()> counted;

void count_events(Span events, Counted& in) {
  for (std::size_t at = 0; at < events.size();) {
    const std::uint64_t size = load_little(events.data() + at + 9, 4);
    switch (static_cast<EventType>(events[at + 4])) {
      case EventType::query:
      case EventType::xid:
        in.begin_and_xid += size;
        break;
      case EventType::table_map:
        in.maps += size;
        break;
      default:
        in.rows += size;
    }
    at += size;
  }
}

void count_packed(Span inside, std::uint32_t level, Buffer& frames, Counted& in) {
  static ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, static_cast<int>(level));
  const std::size_t begin = frames.size();
  std::uint8_t* const to = frames.grow(ZSTD_compressBound(inside.size()));
  const std::size_t bytes =
      ZSTD_compress2(context, to, ZSTD_compressBound(inside.size()), inside.data(), inside.size());
  if (ZSTD_isError(bytes)) __builtin_trap();
  frames.cut(begin + bytes);
  Buffer event;
  Writer(event, kFirstEvent, true).payload(frames.span().subspan(begin), inside.size());
  in.frames += bytes;
  in.packed += event.size() + gtid_bytes(event.size());
}

}  // namespace

/// The addresses of the names, each ended by a line feed, all by a zero; the next call writes over them.
ENGINEROOM_EXPORT("examples") const char* examples() { return exports::names_of<Example>(); }
ENGINEROOM_EXPORT("images") const char* images() { return exports::names_of<RowImage>(); }

/// The first `transactions` of a kind (its place in examples()), packed at `level` of zstd, not at all at 0. The address of a Counted for
/// each of images().
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t example, std::uint32_t transactions, std::uint32_t level) {
  for (std::size_t i = 0; i < kImages.all.size(); ++i) {
    Counted& in = counted[i] = {};
    Buffer all_inside, frames;
    for (std::uint32_t nth = 0; nth < transactions; ++nth) {
      const auto put = [&](Buffer& out, std::uint64_t position, bool has_checksums) {
        Writer writer(out, position, has_checksums);
        put_example(writer, exports::at<Example>(example), kImages.all[i].value, nth);
      };
      Buffer in_file;
      put(in_file, kFirstEvent, true);
      count_events(in_file.span(), in);
      in.gtid += gtid_bytes(in_file.size());
      const std::size_t begin = all_inside.size();
      put(all_inside, 0, false);
      const Span inside = all_inside.span().subspan(begin);
      in.inside += inside.size();
      if (level > 0) count_packed(inside, level, frames, in);
    }
    in.inside_crc = crc32(all_inside.span());
    in.frames_crc = crc32(frames.span());
  }
  return &counted[0].gtid;
}
