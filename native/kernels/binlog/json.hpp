// A JSON document as a JSON column stores it: offsets before values, so that a member is found without parsing the rest.
//
// Models      the binary JSON of the server (5.7 to 9.7): offsets of 2 bytes, of 4 in a container of 64 KiB and more;
//             an object's keys by length, then by bytes; literals and small integers in the place of their offset
// Leaves out  writing opaque values (DECIMAL, times): their text is JSON's number or string. They are read.
// Cost        writing: twice what a container takes where its offsets turn out too small; reading: O(bytes)
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "binlog/bytes.hpp"

namespace engineroom::binlog {

struct Json {
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value;
};

struct Json::Member {
  std::string key;
  Json value;
};

/// The document's bytes. Refuses one that is more than 100 deep, as the server does.
std::string json_binary(const Json& document);

/// The text of stored bytes: members in stored order, ", " and ": " between them as the server prints. Bytes that are no
/// document are damage of the event at `event`; work and text are bounded by the document's bytes, whatever its offsets say.
std::string json_text(Span document, std::uint64_t event);

}  // namespace engineroom::binlog
