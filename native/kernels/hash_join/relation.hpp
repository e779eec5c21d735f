// What every join of this chapter reads: two columns of integers, and which keys are NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/names.hpp"

namespace engineroom::hash_join {

/// A table of one key column and at most one payload column. Rows are called by their number.
struct Relation {
  std::span<const std::int64_t> key;
  std::span<const std::int64_t> payload = {};  // empty: no such column
  std::span<const bool> key_is_null = {};      // empty: no key is NULL

  std::size_t size() const { return key.size(); }
  bool is_null(std::size_t row) const { return !key_is_null.empty() && key_is_null[row]; }
  std::int64_t payload_of(std::size_t row) const { return payload.empty() ? 0 : payload[row]; }
};

/// Always seen from the probe side, which is the left input in the server's plan.
enum class JoinType : std::uint8_t {
  inner,
  left,  // every probe row at least once
  semi,  // every probe row that has a match, once
  anti,  // every probe row that has no match, once
};
constexpr auto named(names::Of<JoinType>) { return names::as_written<JoinType::anti>("join"); }

/// The part of a join condition that a hash cannot help with: |build payload - probe payload| <= max_diff.
struct ExtraCondition {
  std::optional<std::uint64_t> max_diff = {};

  bool is_present() const { return max_diff.has_value(); }

  /// Whether a present condition holds. Exact for all 64-bit payloads: the difference is taken without sign.
  bool holds(std::int64_t build_payload, std::int64_t probe_payload) const {
    const auto build = static_cast<std::uint64_t>(build_payload);
    const auto probe = static_cast<std::uint64_t>(probe_payload);
    return (build_payload > probe_payload ? build - probe : probe - build) <= *max_diff;
  }
};

// What the options of all joins have in common.
inline constexpr std::string_view kJoinMeaning =
    "which rows come, seen from the probe side; 'left' keeps all of its rows";
inline constexpr std::string_view kMaxDiffMeaning =
    "extra condition, a pair joins only if its payloads differ by at most this much";

/// Refuses columns of different lengths, and an extra condition without payloads.
void check(const Relation& build, const Relation& probe, const ExtraCondition& extra);

}  // namespace engineroom::hash_join
