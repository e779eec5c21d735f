"""The join order chapter's experiments: small runs live, and what the recorded ones say."""

from __future__ import annotations

import numpy as np
import pytest

from engineroom import runs
from engineroom.ask.query_graphs import queries
from engineroom.chapters.join_order import experiments as join_order
from engineroom.chapters.join_order import figures as drawn
from engineroom.chapters.join_order.figures import own_join_order_planning
from engineroom.errors import EngineRoomError


def test_the_recorded_comparison_has_all_events_of_all_queries():
    run = runs.latest("own-join-order-trace", "live")
    assert run is not None
    for _, part in run.table.groupby("series"):
        assert part["is_equal"].all()
        assert len(part) >= 200
        assert (part["tables"] >= 6).sum() >= 100
        assert part["is_special"].sum() >= 40
        numbered = part["nodes"].str.findall(r"(\d+)=\w+")
        assert [list(map(int, numbers)) for numbers in numbered] == [list(range(n)) for n in part["tables"]]
    simplified = run.tables["simplified"]
    assert simplified["pairs_equal"].all()
    assert simplified["events_equal"].all()


def test_the_page_is_right_about_which_shapes_gain_and_which_lose():
    table = own_join_order_planning.rows(runs.latest("own-join-order-planning", "live"))
    assert drawn.faster_from(table, "chain", "on", "off") is not None
    for shape in ("star", "clique"):
        assert drawn.faster_from(table, shape, "off", "on") is not None


@pytest.mark.parametrize(
    ("shape", "n", "expected"),
    [
        ("chain", 20, (17545, 4193840, 1330)),
        ("cycle", 20, (37900, 22019294, 3610)),
        ("star", 20, (59892991338, 2323474358, 4980736)),
        ("clique", 20, (309338182241, 3484687250, 1742343625)),
        ("star", 15, (57305929, 9533170, 114688)),
    ],
)
def test_the_search_space_of_large_shapes_is_that_of_the_published_table(shape, n, expected):
    assert tuple(join_order.tests_by_formula(shape, n).values()) == expected


def test_the_search_space_is_counted_where_it_can_be():
    run = join_order.space(sizes=(4, 6), largest_measured=6)
    assert run.table["is_counted"].all()
    assert len(run.table) == 2 * 4 * 4


def test_no_cheaper_search_is_better_than_the_best_plan():
    run = join_order.quality(limits=(50,), fewest_tables=9, draws=2)
    assert set(run.table["series"]) == {"greedy", "left-deep", "at most 50 pairs"}
    # The left-deep search may take a cross product, which the best plan here may not.
    without_cross_products = run.table[run.table["series"] != "left-deep"]
    assert (without_cross_products["cost_per_best"] > 1 - 1e-9).all()


def test_pruning_never_finds_a_better_left_deep_plan():
    run = join_order.quality(limits=(), fewest_tables=8, most_unpruned=8, draws=1)
    pruned = run.table[(run.table["series"] == "left-deep") & (run.table["tables"] == 8)]
    whole = run.tables["unpruned"]
    assert whole["query"].tolist() == pruned["query"].tolist() != []
    assert (whole["cost_per_best"].to_numpy() <= pruned["cost_per_best"].to_numpy() * (1 + 1e-9)).all()


def test_an_equality_that_follows_from_two_others_is_counted_once():
    graph = next(each for each in queries.benchmark_graphs("job") if each["name"] == "1a")
    names = [relation["alias"] for relation in graph["relations"]]
    edges, selectivity = join_order.key_joins(graph)
    counted = {(names[a], names[b]): 1 / each for (a, b), each in zip(edges, selectivity, strict=True)}
    # mc.movie_id = mi_idx.movie_id follows from their equality with t.id.
    assert len(graph["edges"]) == 5
    assert counted == {
        ("ct", "mc"): pytest.approx(4),
        ("it", "mi_idx"): pytest.approx(113),
        ("t", "mc"): pytest.approx(2528312),
        ("t", "mi_idx"): pytest.approx(2528312),
    }


def test_the_joins_of_every_query_keep_its_tables_together():
    for graph in queries.benchmark_graphs("job"):
        edges, _ = join_order.key_joins(graph)
        assert len(join_order.job_graph({**graph, "edges": edges}).components) == 1


def test_filters_are_drawn_by_seed_and_leave_at_least_a_row():
    graph = next(each for each in queries.benchmark_graphs("job") if each["name"] == "29a")
    first, again, other = (join_order.filtered_rows(graph, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    for relation, rows in zip(graph["relations"], first, strict=True):
        assert max(1, relation["rows"] / 1000 ** relation["filter_columns"]) <= rows <= relation["rows"]
        assert relation["filter_columns"] or rows == relation["rows"]


def test_the_phases_of_planning_add_up():
    run = join_order.phases(repeats=1, query="1a")
    share = run.table.set_index("phase")["share_percent"]
    assert share["connecting_pairs"] + share["growing_subgraphs"] == pytest.approx(share["plan_search"])
    assert 0 < share["plan_search"] < 100


@pytest.mark.parametrize(("shape", "largest"), [("clique", 13), ("star", 20), ("chain", 20)])
def test_a_shape_with_more_columns_than_the_tables_have_is_refused(shape, largest):
    assert join_order.shape_sql(shape, largest).count("=") >= largest - 1
    with pytest.raises(EngineRoomError, match=f"a {shape} of {largest + 1} tables is too large"):
        join_order.shape_sql(shape, largest + 1)


@pytest.mark.live
def test_planning_is_measured_for_each_shape_and_setting():
    run = join_order.planning(sizes={"chain": (3,), "clique": (4,)}, repeats=1)
    assert len(run.table) == 2 * 3
    assert (run.table["planning_cpu_ms"] > 0).all()


@pytest.mark.live
def test_the_rebuilt_query_has_one_answer_with_the_switch_on_and_off():
    run = join_order.source_query(scales=(0.01,), shapes=(), repeats=1)
    answers = run.table[run.table["answer"] >= 0].groupby("query")["answer"].nunique()
    assert (answers == 1).all()
    assert "source_query" in answers.index
    steps = {"hypergraph", "planning", "prepare"}
    assert set(run.table["series"]) == {f"{step}_{switch}" for step in steps for switch in ("on", "off")}
