"""The page that `explain` makes: complete, escaped, and without anything from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.query_graphs.cli import join_order
from engineroom.ask.query_graphs.page import page

EVIL = "<script>alert('1')</script> \"&\x1b"


def block(**others: Any) -> dict[str, Any]:
    return {
        "select": 1,
        "tables": [{"name": name, "rows": 30.0, "filtered_rows": 3.0} for name in ("a", "b", EVIL)],
        "edges": [
            {"left": [0], "right": [1], "condition": "(a.x = b.x)", "selectivity": 0.1},
            {"left": [0, 1], "right": [2], "condition": f"(a.y = '{EVIL}')", "selectivity": 0.5},
        ],
        "counters": {"csg_cmp_pairs": 2},
        "simplification_steps": 0,
        "our_plan": {
            "hint": "JOIN_ORDER(a, b, c)",
            "hint_hashes_others": [],
            "forced_joins": 0,
            "repeats_an_alias": False,
            "shared_equalities": [],
            "tree": {
                "kind": "inner",
                "rows": 3.0,
                "cost": 9.0,
                "inputs": [{"table": "a", "rows": 3.0}, {"table": EVIL, "rows": 3.0}],
            },
        },
        "server_join_order": "((a,b),c)",
        "server_cost": 12.5,
        **others,
    }


def explained(*blocks: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"server": "9.7.4", "pair_limit": 100, "statement": f"SELECT '{EVIL}'", "blocks": blocks, **others}


class Elements(HTMLParser):
    """What a page is made of; every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_whatever_a_statement_holds_is_text():
    shown = page(explained(block(), {"select": 2, "refused": EVIL}, hypergraph_plan=EVIL, usual_plan=EVIL))
    tags = {tag for tag, _ in Elements(shown).seen}
    assert "script" not in tags
    assert "\x1b" not in shown
    assert "&lt;script&gt;" in shown


def test_nothing_is_loaded_from_elsewhere():
    shown = page(explained(block(), hypergraph_plan="-> x", usual_plan="-> x"))
    assert not re.search(r"https?:|//|url\(|@import", shown)
    assert not any({"src", "href"} & set(attributes) for _, attributes in Elements(shown).seen)


def test_a_phone_and_dark_mode_are_provided_for():
    shown = page(explained(block()))
    assert 'name="viewport" content="width=device-width' in shown
    assert "color-scheme: light dark" in shown
    assert shown.count('<div class="wide" tabindex="0"') == shown.count("<table>")


def test_the_drawing_has_its_tables_and_edges_as_alt_text():
    seen = Elements(page(explained(block()))).seen
    ((_, drawing),) = [each for each in seen if each[0] == "svg"]
    # Edge 1 has two tables on its left side and one on its right.
    assert [found.get("class") for tag, found in seen if tag == "line"] == [None, None, None, "of-sets"]
    assert drawing["role"] == "img"
    assert "Hypergraph of 3 tables" in str(drawing["aria-label"])
    assert "Edge 0 joins {a} and {b}" in str(drawing["aria-label"])


def test_a_long_name_keeps_the_end_by_which_an_applications_tables_differ():
    tables = [
        {"name": name, "rows": 1.0, "filtered_rows": 1.0}
        for name in (f"catalogue_{end}" for end in ("product", "productcategory_of_all"))
    ]
    shown = page(explained(block(tables=tables, edges=block()["edges"][:1], counters={"csg_cmp_pairs": 1})))
    labels = re.findall(r'text-anchor="middle">([^<]*)<', shown)
    assert labels == ["catalogue_product", "catalog…ategory_of_all"]
    assert all(len(label) <= 23 for label in labels)
    assert "does not bite: 1 pair of the 100" in shown


@pytest.mark.parametrize(
    ("steps", "said"), [(0, "does not bite: 2 pairs of the 100"), (7, "of 100 bites: 7 steps")]
)
def test_the_page_says_whether_the_limit_bites(steps, said):
    assert said in page(explained(block(simplification_steps=steps)))


def test_a_run_has_actual_rows_beside_the_estimated_ones():
    plan = (
        "-> Aggregate: count(0)  (cost=5 rows=1) (actual time=0.1..0.2 rows=1 loops=1)\n"
        "    -> Table scan on a  (cost=2 rows=1.5e+3) (actual time=0.1..0.2 rows=40 loops=3)\n"
        "    -> Table scan on b  (cost=2 rows=7) (never executed)"
    )
    shown = page(explained(block(), hypergraph_plan=plan, usual_plan="-> x  (cost=1 rows=2)"))
    assert (
        '<td class="n">1,500</td><td class="n">40</td><td class="n">0.027</td><td class="n">3</td>' in shown
    )
    assert "never executed" in shown
    assert "off most: Table scan on a, 1,500 rows estimated and 40 found" in shown
    assert "The plan of the hypergraph optimizer: cost 5, 0.2 ms until its last row." in shown
    assert shown.count("actual rows per loop") == 1


SQL = (
    "SELECT COUNT(*) FROM t00 JOIN t01 ON t00.c0 = t01.c0 JOIN t02 ON t01.c1 = t02.c0 "
    "WHERE t00.c5 <> '<b>' AND t02.c3 = 3"
)


@pytest.mark.live
def test_the_command_runs_a_file_and_tries_the_hint(tmp_path):
    if not servers.runnable("9.7"):
        pytest.skip("no MySQL 9.7 on this machine")
    (tmp_path / "one.sql").write_text(f"-- mine\n{SQL};\n")
    command = ["explain", str(tmp_path / "one.sql"), "--run", "20", "--format"]
    shown = CliRunner().invoke(join_order, [*command, "html"], catch_exceptions=False).stdout
    assert shown.startswith("<!doctype html>")
    assert shown.count("actual rows per loop") == 3
    assert "<b>" not in shown
    assert Elements(shown).seen
    found = json.loads(CliRunner().invoke(join_order, [*command, "json"], catch_exceptions=False).stdout)
    assert found["hint_tried"]["gets_ours"] is True
    assert found["hint_tried"]["hint"] in shown


def test_a_trace_has_a_page_without_the_servers_plans():
    shown = page(
        {"server": None, "pair_limit": None, "blocks": [block(server_join_order=None, server_cost=None)]}
    )
    assert Elements(shown).seen
    assert "The server's order: unknown, cost unknown" in shown.replace("&#x27;", "'")
    assert "The limit did not bite: 2 pairs" in shown
    assert "The server's plans" not in shown
