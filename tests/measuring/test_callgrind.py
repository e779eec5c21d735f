"""Files of callgrind's, made by hand, and the names of functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from engineroom.errors import EngineRoomError
from engineroom.measuring import callgrind

HEAD = "# callgrind format\nversion: 1\ncreator: by hand\n"
# main: 10 + 5, and three calls of slow, which take 300.
FLAT = """positions: line
events: Ir D1mr
summary: 315 3

ob=(1) /opt/mysql/bin/mysqld
fl=(1) a.cc
fn=(1) main
1 10
+2 5 1
cfi=(2) b.cc
cfn=(2) slow(int)
calls=3 10
+1 300 2

fl=(2)
fn=(2)
10 300 2

totals: 315 3
"""


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str) -> Path:
        file = tmp_path / "counts.1-01"
        file.write_text(HEAD + text)
        return file

    return write


def test_names_are_known_by_their_number_and_a_call_is_counted_where_it_was_spent(written) -> None:
    (part,) = callgrind.read(written(FLAT))
    assert part.events == ("Ir", "D1mr")
    assert part.own == {("main",): (15, 1), ("slow(int)",): (300, 2)}
    assert part.calls == {("slow(int)",): 3}
    assert part.totals == (315, 3)


def test_names_without_numbers_and_two_columns_of_positions_are_read_too(written) -> None:
    text = (
        FLAT.replace("positions: line", "positions: instr line")
        .replace("(1) ", "")
        .replace("(2) ", "")
        .replace("fn=(2)", "fn=slow(int)")
    )
    lines = [f"0x10 {line}" if line[0:1] in {"1", "+"} else line for line in text.splitlines()]
    (part,) = callgrind.read(written("\n".join(lines)))
    assert part.own == {("main",): (15, 1), ("slow(int)",): (300, 2)}


def test_a_file_has_a_part_per_thread_and_dump_and_names_go_on_from_part_to_part(written) -> None:
    second = "part: 2\nthread: 3\nevents: Ir\nfn=(2)\n10 7\ntotals: 7\n"
    file = written(f"part: 1\nthread: 29\n{FLAT}{second}")
    parts = callgrind.read(file)
    assert [(part.thread, part.totals) for part in parts] == [(29, (315, 3)), (3, (7,))]
    assert parts[1].own == {("slow(int)",): (7,)}
    assert callgrind.totals(written(f"thread: 29\n{FLAT}")) == (29, 315)


def test_callers_in_a_name_make_a_path_and_a_recursions_depth_none(written) -> None:
    text = "events: Ir\nob=(1) /lib/libc.so.6\nfn=(1) 0x10'g(int)'2'g(int)'main\n0 4\nfn=(2) 0x10'g(int)'g(int)'main\n0 3\ntotals: 7\n"
    (part,) = callgrind.read(written(text))
    assert part.own == {("main", "g(int)", "g(int)", "0x10 in libc.so.6"): (7,)}


def test_calls_of_no_instructions_are_calls(written) -> None:
    """Of a function that callgrind entered when it was switched on it knows that it returns."""
    (part,) = callgrind.read(written("events: Ir\nfn=(1) f\n0 4\ncfn=(2) g\ncalls=0 0\n0 99\ntotals: 4\n"))
    assert part.own == {("f",): (4,)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FLAT.partition("fl=(2)")[0], "is cut short"),
        ("", "is no file of callgrind's"),
        (FLAT.replace("10 300 2", "10 299 2"), "cannot be read: .*its totals are"),
        (FLAT.replace("fn=(2)\n10", "fn=(9)\n10"), "cannot be read: KeyError"),
        (FLAT.replace("+2 5 1", "+2 five"), "cannot be read: ValueError"),
    ],
)
def test_a_file_that_is_cut_or_damaged_is_refused(written, text: str, problem: str) -> None:
    with pytest.raises(EngineRoomError, match=problem) as caught:
        callgrind.read(written(text))
    assert "count again" in caught.value.remedy


def test_a_file_that_is_gone_or_has_no_totals_is_refused(written, tmp_path: Path) -> None:
    with pytest.raises(EngineRoomError, match="No such file"):
        callgrind.read(tmp_path / "nothing")
    with pytest.raises(EngineRoomError, match="is cut short"):
        callgrind.totals(written(FLAT.partition("totals")[0]))


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("rec_get_offsets_func(unsigned char const*, dict_index_t const*)", "rec_get_offsets"),
        ("void Filesort_info::unpack_addon_fields<true>(Mem_root_array<TABLE*> const&)", "Filesort_info::unpack_addon_fields"),
        ("Buf_fetch<Buf_fetch_normal>::single_page()", "Buf_fetch::single_page"),
        ("std::__cxx11::basic_string<char, std::allocator<char> >::append(char const*)", "std::basic_string::append"),
        ("std::vector<std::pair<int, A<B> > >::size() const", "std::vector::size"),
        ("ib::(anonymous namespace)::f(int (*)(char))", "f"),
        ("operator new(unsigned long, std::nothrow_t const&)", "operator new"),
        ("Item::operator bool() const", "Item::operator bool"),
        ("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char)", "std::operator<<"),
        ("Less::operator()(int, int) const", "Less::operator()"),
        ("Bound::operator->() const", "Bound::operator->"),
        ("f(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda#1}::operator()"),
        ("dfield_t::len(int) const [clone .part.3]", "dfield_t::len"),
        ("mlog_open[abi:cxx11](int)", "mlog_open"),
        ("non-virtual thunk to Item_sum::add()", "Item_sum::add"),
        ("memcpy@GLIBC_2.2.5", "memcpy"),
        ("pthread_cond_timedwait@@GLIBC_2.3.2", "pthread_cond_timedwait"),
        ("__memset_avx2_unaligned_erms", "memset"),
        ("__strcmp_avx2", "strcmp"),
        ("st_select_lex::prepare(THD*)", "Query_block::prepare"),
        ("MYSQLparse(THD*)", "my_sql_parser_parse"),
        ("_int_malloc", "_int_malloc"),
        ("(below main)", "(below main)"),
    ],
)  # fmt: skip
def test_a_short_name_leaves_out_what_versions_spell_differently(full: str, short: str) -> None:
    assert callgrind.short(full) == short


def test_what_has_no_name_is_called_by_its_nearest_caller_or_by_its_library() -> None:
    path = (
        "0x1 in mysqld",
        "do_command(THD*)",
        "0x2 in mysqld",
        "0x3 in mysqld",
        "0x4 in libc.so.6",
        "g(int)",
        "g(int)",
    )
    assert callgrind.keys(path) == (
        "no name below the thread's start",
        "do_command",
        "no name below do_command",
        "no name in libc.so.6",
        "g",
    )
    assert [callgrind.is_nameless(name) for name in path[:2]] == [True, False]
