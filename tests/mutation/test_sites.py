"""Where C++ can be wrong by one change, and how such a change keeps its name."""

from __future__ import annotations

from collections import Counter

import pytest

from engineroom.mutation.sites import mutants_of

SOURCE = """// A queue.
namespace queue {
constexpr int kMost = 16;
struct QueueConfig { int most = 3; };
Task<bool> push(M& m, int n) {
  static_assert(kMost < 20);
  assert(n < kMost);
  if (n >= kMost && n != 7) co_return false;
  co_await m.store(words_[0], n + 1);
  co_await m.unpark(words_[0], std::min<int>(n, 2));
  ++count_;
  refuse("so many: " + std::to_string(n));
  co_return true;
}
}  // namespace queue
"""


def changes(source: str) -> Counter[tuple[str, str, str]]:
    return Counter((m.change, m.before, m.after) for m in mutants_of("queue.hpp", source.encode()))


def test_every_kind_of_change_is_found_once():
    assert changes(SOURCE) == Counter(
        {
            ("negated condition", "n >= kMost && n != 7", "!(n >= kMost && n != 7)"): 1,
            ("and or or", "&&", "||"): 1,
            ("relation", ">=", ">"): 1,
            ("relation", "!=", "=="): 1,
            ("constant + 1", "7", "(7 + 1)"): 1,
            ("constant - 1", "7", "(7 - 1)"): 1,
            ("boolean", "false", "true"): 1,
            ("boolean", "true", "false"): 1,
            ("removed await", "co_await m.store(words_[0], n + 1);", ";"): 1,
            ("removed await", "co_await m.unpark(words_[0], std::min<int>(n, 2));", ";"): 1,
            (
                "swapped stores",
                "co_await m.store(words_[0], n + 1); co_await m.unpark(words_[0], std::min<int>(n, 2));",
                "co_await m.unpark(words_[0], std::min<int>(n, 2)); co_await m.store(words_[0], n + 1);",
            ): 1,
            ("arithmetic", "+", "-"): 1,
            ("constant + 1", "0", "(0 + 1)"): 2,
            ("constant - 1", "0", "(0 - 1)"): 2,
            ("constant + 1", "1", "(1 + 1)"): 1,
            ("constant - 1", "1", "(1 - 1)"): 1,
            ("constant + 1", "2", "(2 + 1)"): 1,
            ("constant - 1", "2", "(2 - 1)"): 1,
            ("min or max", "std::min<int>", "std::max<int>"): 1,
            ("assignment", "++", "--"): 1,
            ("removed statement", "++count_;", ";"): 1,
        }
    )


def test_what_only_the_compiler_evaluates_is_left_alone():
    assert not changes(
        "constexpr int kMost = 16;\nstatic_assert(kMost > 3);\nint a[4];\nenum class E { a = 1 };"
    )
    assert not changes("void f() { if constexpr (kMost > 3) return; }")
    assert not changes("constexpr auto described(options::Of<C>) { return list(1, 2); }")


def test_a_mutant_keeps_its_name_while_its_line_moves_and_loses_it_when_the_line_changes():
    names = {m.name for m in mutants_of("queue.hpp", SOURCE.encode())}
    moved = {m.name for m in mutants_of("queue.hpp", f"// One more line.\n{SOURCE}".encode())}
    changed = {m.name for m in mutants_of("queue.hpp", SOURCE.replace("n != 7", "n != 8").encode())}
    assert names == moved
    assert len(names - changed) == 7
    assert len(names) == sum(changes(SOURCE).values())


@pytest.mark.parametrize("file", ["a.hpp", "b.hpp"])
def test_the_same_line_twice_has_mutants_of_two_names(file: str):
    source = b"int f(int a) {\n  a += a;\n  a += a;\n  return a;\n}"
    mutants = mutants_of(file, source)
    assert len({m.name for m in mutants}) == len(mutants) == 4
    assert not {m.name for m in mutants} & {m.name for m in mutants_of("another.hpp", source)}
