// All rows of a file as text, a JSON object per line and row:
//
//   {"at": 356, "time": "2026-01-02 03:04:05", "gtid": "...:7", "table": "shop.item", "change": "update",
//    "before": {"@1": 7, ...}, "after": {"@1": 7, ...}, "json_diffs": {"@4": [{"op": "replace", "path": "$.a", "value": 2}]}}
//
// A JSON column with a diff is not in "after"; a list without members is a document that did not change.
//
// Models      what mysqlbinlog -v prints of rows events, in a form that programs read
// Leaves out  statements, and names of ENUM and SET members: the log has their numbers
// Cost        one pass; the text of an event at a time
#pragma once

#include <string>

#include "binlog/reader.hpp"

namespace engineroom::binlog {

class RowsText {
 public:
  /// `file` stands in each line unless it is empty.
  explicit RowsText(std::string file = {}) : file_(std::move(file)) {}
  /// Appends the lines of an event's rows; nothing for other events. Remembers tables.
  void add(const Event& event, std::string& out);

 private:
  std::string file_;
  std::string gtid_;
  Tables tables_;
};

}  // namespace engineroom::binlog
