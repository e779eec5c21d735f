// Transactions to try settings on, made up as their tables are filled: those of TPC-C that write, and three of a web shop.
//
// Models      New-Order, Payment and Delivery as TPC-C's specification has their rows and a terminal sends them (updates of stock before order
//             lines), JSON documents, digests, and a counter beside a long text
// Leaves out  a database behind them: a row is drawn where it is changed, so that two transactions share none
// Cost        a random number per 10 letters
#pragma once

#include <cstdint>

#include "binlog/writer.hpp"
#include "common/names.hpp"

namespace engineroom::binlog {

enum class Example : std::uint8_t { new_order, payment, delivery, documents, digests, counter };
constexpr auto named(names::Of<Example>) { return names::as_written<Example::counter>("example"); }

/// Appends the events of the nth transaction of a kind, all but its GTID event. Same arguments, same bytes.
void put_example(Writer& writer, Example kind, RowImage image, std::uint64_t nth);

/// Bytes of the GTID event, with its checksum, before so many bytes of events: it says how long the transaction is.
std::uint64_t gtid_bytes(std::uint64_t behind);

}  // namespace engineroom::binlog
