"""Paths of calls go to causes, and a server's operations come out as counts."""

from __future__ import annotations

import pytest

from engineroom.chapters.low_concurrency.experiments import counted
from engineroom.chapters.low_concurrency.settings import EQUAL
from engineroom.measuring import instructions


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        (("do_command", "my_sql_parser_parse", "alloc_root"), "parser"),
        (("my_sql_parser_parse", "PT_item_list::push_back", "memcpy"), "value list"),
        (("row_ins_step", "mtr_t::commit", "log_buffer_write", "memcpy"), "mini-transaction"),
        (("btr_cur_search_to_nth_level", "page_cur_search_with_match", "rec_get_offsets"), "record offsets"),
        (("row_search_mvcc", "no name below row_search_mvcc"), "executor"),
        (("start_thread", "memset"), counted.REST),
        ((), counted.REST),
    ],
)
def test_a_path_belongs_to_its_innermost_named_function(path, cause):
    assert counted.cause_of(path) == cause


def test_causes_part_all_instructions():
    paths = {("a", "mtr_t::commit"): 5, ("a",): 2, ("b", "cmp_data", "memcmp"): 3}
    assert counted.by_cause(paths) == {"mini-transaction": 5, counted.REST: 2, "key comparison": 3}


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(instructions.why_not() is not None, reason=str(instructions.why_not()))
def test_an_insert_is_counted_by_cause_and_function():
    run = counted.operations_counted(versions=("5.7",), settings=(EQUAL,), only=(counted.BULK,), workers=1)
    (first, second) = run.table["instructions"]
    assert second == pytest.approx(first, rel=0.01)
    causes = run.tables["causes"].set_index("cause")["instructions"]
    assert causes.sum() == pytest.approx(second, rel=0.001)
    assert causes["parser"] > causes["mini-transaction"] > 0
    assert "rec_get_offsets" in set(run.tables["functions"]["function"])
    assert run.tables["paths"]["own"].sum() <= second
    assert run.why_busy is None
