#include "low_concurrency/insert_values.hpp"

#include <string>

#include "common/require.hpp"
#include "low_concurrency/arena.hpp"
#include "low_concurrency/value_lists.hpp"

namespace engineroom::low_concurrency {

namespace {

/// A literal of the parse tree. Virtual, because such a call is what surrounds the lists in the server.
class Item {
 public:
  explicit Item(std::uint64_t value) : value_(value) {}
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  /// Prepares the item and returns the one to use instead of it, which is itself for a literal.
  virtual Item* itemize(std::uint64_t& id) = 0;
  std::uint64_t value() const { return value_; }

 protected:
  ~Item() = default;  // an arena runs no destructor
  std::uint64_t value_;
  std::uint64_t id_ = 0;
  std::uint64_t unused_[13] = {};  // name, marker, collation, type: set by the constructor, not read here
};
static_assert(sizeof(void*) != 8 || sizeof(Item) == kItemBytes);

class SmallInteger final : public Item {
 public:
  using Item::Item;
  Item* itemize(std::uint64_t& id) override {
    id_ = id++;
    return this;
  }
};

// A second class, so that no compiler can turn the virtual call into a plain one.
class LargeInteger final : public Item {
 public:
  using Item::Item;
  Item* itemize(std::uint64_t& id) override {
    id_ = id++;
    unused_[0] = value_ >> 32;
    return this;
  }
};

Item* literal(Arena& arena, std::uint64_t value) {
  void* const memory = arena.allocate(std::size_t{kItemBytes});
  if (value % 8 == 7) return new (memory) LargeInteger(value);
  return new (memory) SmallInteger(value);
}

/// The text of one row; row r has its own digits.
std::string row_text(std::uint64_t columns) {
  std::string text = "(";
  for (std::uint64_t c = 0; c < columns; ++c)
    text += std::to_string(1000 + c) + (c + 1 < columns ? "," : ")");
  return text;
}

template <typename List, typename Outer>
ParsedInsert parse(Container container, std::uint64_t rows, std::uint64_t columns, Clock now,
                   Interrupt& interrupt) {
  Arena arena;
  ParsedInsert result;
  const std::string text = row_text(columns);
  Outer outer;
  const std::uint64_t start = now ? now() : 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    // In the server the list is a member of the row's parse tree node.
    List* const list = new (arena.allocate(static_cast<std::size_t>(header_bytes(container)))) List;
    if constexpr (requires { list->reserve(arena, 1); })
      list->reserve(arena, static_cast<std::size_t>(columns));
    const char* at = text.data() + 1;
    const char* const end = text.data() + text.size();
    while (at != end) {
      std::uint64_t value = 0;
      for (; *at >= '0' && *at <= '9'; ++at) value = 10 * value + static_cast<std::uint64_t>(*at - '0');
      ++at;
      list->push_back(arena, literal(arena, value + row));
    }
    outer.push_back(arena, list);
    interrupt.advance(4 * columns);
  }
  const std::uint64_t built = now ? now() : 0;
  std::uint64_t ids = 0;
  outer.each([&](List* list) {
    interrupt.advance(columns);
    list->each([&](Item*& item) {
      item = item->itemize(ids);
      result.checksum = result.checksum * 31 + item->value();
    });
  });
  result.values = ids;
  result.build_ns = built - start;
  result.walk_ns = (now ? now() : 0) - built;
  result.item_bytes = rows * columns * kItemBytes;
  result.container_bytes = arena.used_bytes() - result.item_bytes;
  result.reserved_bytes = arena.reserved_bytes();
  result.arena_blocks = arena.blocks();
  return result;
}

std::uint64_t deque_bytes(std::uint64_t elements, bool copies_each_time) {
  // The first block begins in its middle.
  const std::uint64_t blocks = elements <= 64 ? 1 : 1 + (elements - 64 + 127) / 128;
  std::uint64_t pointers = 0;
  if (copies_each_time) {
    pointers = blocks * (blocks + 1) / 2;
  } else {
    for (std::uint64_t capacity = 1;; capacity *= 2) {
      pointers += capacity;
      if (capacity >= blocks) break;
    }
  }
  return 1024 * blocks + 8 * pointers;
}

}  // namespace

std::uint64_t header_bytes(Container container) {
  return container == Container::list_5_7 || container == Container::reserved ? 24 : 40;
}

ParsedInsert parse_insert(Container container, std::uint64_t rows, std::uint64_t columns, Clock now,
                          Interrupt interrupt) {
  if (rows < 1) refuse("rows is 0; an INSERT has at least one");
  if (columns < 1 || columns > 4096)
    refuse("columns is " + std::to_string(columns) + "; a table has 1 to 4096");
  switch (container) {
    case Container::list_5_7:
      return parse<NodeList<Item*>, NodeList<NodeList<Item*>*>>(container, rows, columns, now, interrupt);
    case Container::deque_8_0: {
      using List = BlockDeque<Item*, Growth::copy_each_time>;
      return parse<List, BlockDeque<List*, Growth::copy_each_time>>(container, rows, columns, now, interrupt);
    }
    case Container::deque_9_7: {
      using List = BlockDeque<Item*, Growth::spare_slots>;
      return parse<List, BlockDeque<List*, Growth::spare_slots>>(container, rows, columns, now, interrupt);
    }
    case Container::reserved:
      break;
  }
  return parse<ReservedArray<Item*>, ReservedArray<ReservedArray<Item*>*>>(container, rows, columns, now,
                                                                           interrupt);
}

std::uint64_t container_bytes(Container container, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t headers = rows * header_bytes(container);
  switch (container) {
    case Container::list_5_7:
      return headers + 16 * rows * columns + 16 * rows;
    case Container::deque_8_0:
    case Container::deque_9_7: {
      const bool copies = container == Container::deque_8_0;
      return headers + rows * deque_bytes(columns, copies) + deque_bytes(rows, copies);
    }
    case Container::reserved:
      break;
  }
  std::uint64_t outer = 0;
  for (std::uint64_t capacity = 4;; capacity *= 2) {
    outer += 8 * capacity;
    if (capacity >= rows) break;
  }
  return headers + 8 * rows * columns + outer;
}

}  // namespace engineroom::low_concurrency
