#include "hash_join/relation.hpp"

#include <string>

#include "common/require.hpp"

namespace engineroom::hash_join {

namespace {

void check_lengths(const Relation& relation, const std::string& side) {
  const auto must_match = [&](std::size_t length, const std::string& column) {
    if (length == 0 || length == relation.size()) return;
    refuse(side + "_" + column + " must have one value a row, got " + std::to_string(length) +
           " values for " + std::to_string(relation.size()) + " keys");
  };
  must_match(relation.payload.size(), "payload");
  must_match(relation.key_is_null.size(), "null");
}

}  // namespace

void check(const Relation& build, const Relation& probe, const ExtraCondition& extra) {
  check_lengths(build, "build");
  check_lengths(probe, "probe");
  const auto lacks_payload = [](const Relation& r) { return r.size() > 0 && r.payload.empty(); };
  if (extra.is_present() && (lacks_payload(build) || lacks_payload(probe))) {
    refuse("max_diff=" + std::to_string(*extra.max_diff) +
           " compares payloads; pass build_payload and probe_payload, or leave max_diff out");
  }
}

}  // namespace engineroom::hash_join
