// All rows of a file as text, a JSON object per line and row:
//
//   {"at": 356, "table": "shop.item", "change": "update", "before": {"@1": 7, ...}, "after": {"@1": 7, ...}}
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
  /// Appends the lines of an event's rows; nothing for other events. Remembers tables.
  void add(const Event& event, std::string& out);

 private:
  Tables tables_;
};

}  // namespace engineroom::binlog
