"""`engineroom join-order enumerate`: exact lines, totals, and errors with a remedy."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engineroom import paths
from engineroom._native import join_order
from engineroom.ask.query_graphs import graphs

CHAIN = {"nodes": 3, "edges": [{"left": [0], "right": [1]}, {"left": [1], "right": [2]}]}
TRIANGLE = {"nodes": 3, "edges": [*CHAIN["edges"], {"left": [2], "right": [0]}]}  # type: ignore[misc]


COMMAND = (sys.executable, "-c", "from engineroom.cli import main; main()", "join-order", "enumerate")


def enumerate_(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False)


def test_faithful_prints_one_line_an_event_and_the_totals_last(tmp_path):
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(CHAIN))
    done = enumerate_(str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        '["node", 2]',
        '["node", 1]',
        '["pair", [1], [2], 1]',
        '["node", 0]',
        '["pair", [0], [1], 0]',
        '["pair", [0], [1, 2], 0]',
        '["pair", [0, 1], [2], 1]',
        '{"connected_subgraphs": 6, "csg_cmp_pairs": 4, "calls": 4, "inner_tests": 7}',
    ]


def test_faithful_reports_each_edge_and_the_others_a_list_of_edges():
    stdin = json.dumps(TRIANGLE)
    faithful = enumerate_("-", stdin=stdin).stdout.splitlines()
    assert {'["pair", [0], [1, 2], 0]', '["pair", [0], [1, 2], 2]'} <= set(faithful)
    for algorithm in ("fast", "dpccp", "dpsize", "dpsub"):
        lines = enumerate_("-", "--algorithm", algorithm, stdin=stdin).stdout.splitlines()
        assert '["pair", [0], [1, 2], [0, 2]]' in lines
        assert len(lines) == 3 + 6 + 1


def test_lines_are_the_same_however_many_events_are_listed_at_once(monkeypatch):
    found = join_order.enumerate(graphs.from_json(graphs.shape("clique", 5))).events
    whole = list(graphs.event_lines(found, one_line_a_pair=True))
    monkeypatch.setattr(graphs, "_LISTED_AT_ONCE", 7)
    assert list(graphs.event_lines(found, one_line_a_pair=True)) == whole


def test_a_clique_of_16_is_printed_as_it_is_found(tmp_path):
    """Its events would take more memory than there is; the reader hangs up after a while."""
    (tmp_path / "clique.json").write_text(json.dumps(graphs.shape("clique", 16)))
    with subprocess.Popen(
        [*COMMAND, "--limit", "0", str(tmp_path / "clique.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout
        lines = list(itertools.islice(running.stdout, 1_500_000))
        peak_kb = int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{running.pid}/status").read_text())[1])
        running.stdout.close()
    assert len(set(lines)) == len(lines) == 1_500_000
    assert peak_kb < 400_000


@pytest.mark.parametrize("algorithm", graphs.ALGORITHMS)
def test_events_taken_in_pieces_are_those_kept_with_no_pair_torn(algorithm):
    clique = graphs.from_json(graphs.shape("clique", 11))
    pieces: list[Any] = []
    kept = join_order.enumerate(clique, algorithm=algorithm)
    found = join_order.enumerate(clique, algorithm=algorithm, take=pieces.append)
    assert len(found.events) == 0
    assert found.counters == kept.counters
    assert len(pieces) > 1
    assert np.array_equal(np.concatenate(pieces), kept.events)
    for one, other in itertools.pairwise(pieces):
        assert one[-1].tolist()[:2] != other[0].tolist()[:2]


CLIQUE_30 = json.dumps(graphs.shape("clique", 30))


@pytest.mark.parametrize("algorithm", graphs.ALGORITHMS)
def test_a_clique_of_30_ends_at_the_limit_with_the_way_to_lift_it(algorithm):
    done = enumerate_("-", "--quiet", "--algorithm", algorithm, "--limit", "1000000", stdin=CLIQUE_30)
    assert done.returncode == 1
    assert "the graph has more than 1,000,000 pairs" in done.stderr
    assert "--limit 0 lifts the limit" in done.stderr
    assert done.stdout == ""


def test_the_limit_is_lifted_by_zero_and_not_reached_by_less():
    clique = json.dumps(graphs.shape("clique", 16))  # 21,457,825 pairs
    pairs = (3**16 - 2**17 + 1) // 2
    for limit in ("0", str(pairs)):
        done = enumerate_("-", "--quiet", "--algorithm", "fast", "--limit", limit, stdin=clique)
        assert json.loads(done.stdout)["csg_cmp_pairs"] == pairs
    assert enumerate_("-", "--quiet", "--limit", "10000000", stdin=clique).returncode == 1


def test_progress_is_told_and_may_end_the_enumeration():
    told = []

    class Enough(Exception):
        pass

    def follow(reports):
        told.append(reports)
        if len(told) == 3:
            raise Enough

    with pytest.raises(Enough):
        join_order.enumerate(
            graphs.from_json(json.loads(CLIQUE_30)), algorithm="fast", events=False, progress=follow
        )
    assert told == [told[0], 2 * told[0], 3 * told[0]]


def test_quiet_prints_the_totals_alone():
    done = enumerate_("-", "--quiet", "--algorithm", "fast", stdin=json.dumps(TRIANGLE))
    assert json.loads(done.stdout)["csg_cmp_pairs"] == 6


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[1]", "object with nodes and edges, got [1]"),
        ('{"nodes": "3", "edges": []}', 'nodes is a whole number, got "3"'),
        ('{"nodes": 3, "edges": {}}', "edges is a list, got {}"),
        ('{"nodes": 3, "edges": [5]}', "edge 0 is an object with left and right, got 5"),
        ('{"nodes": 3, "edges": [{"left": [0]}]}', "right of edge 0 is a list of node numbers, got null"),
        ('{"nodes": 3, "edges": [{"left": [0], "right": [0.5]}]}', "right of edge 0"),
        ('{"nodes": 3, "edges": [{"left": [0], "right": []}]}', "a side is empty"),
        ('{"nodes": 3, "edges": [{"left": [0, 1], "right": [1]}]}', "node 1 is on both sides"),
        ('{"nodes": 3, "edges": [{"left": [0], "right": [3]}]}', "there is no node 3|has node 3"),
        ('{"nodes": 99999999999999999999, "edges": []}', "1 to 64 nodes"),
        ('{"nodes": 3, "edges": [{"left": [0], "right": [1]}]}', "its parts are {0,1} {2}"),
        (json.dumps(graphs.shape("chain", 62)), "at most 61 tables"),
    ],
)
def test_a_bad_graph_ends_with_what_is_wrong_and_what_to_do(text, problem):
    done = enumerate_("-", stdin=text)
    assert done.returncode == 1
    assert done.stdout == ""
    assert any(part in done.stderr for part in problem.split("|")), done.stderr
    assert "What to do:" in done.stderr
    assert "Traceback" not in done.stderr


BENCHMARK = paths.data() / "querygraphs" / "job.json"


def test_a_graph_is_chosen_by_name_from_a_file_of_many():
    done = enumerate_(f"{BENCHMARK}#1a", "--quiet")
    assert done.returncode == 0, done.stderr
    # ct-mc, it-mi_idx and the triangle of mc, mi_idx and t.
    edges = [{"left": [a], "right": [b]} for a, b in ((0, 2), (1, 3), (2, 3), (2, 4), (3, 4))]
    same = enumerate_("-", "--quiet", stdin=json.dumps({"nodes": 5, "edges": edges}))
    assert done.stdout == same.stdout
    assert json.loads(done.stdout)["csg_cmp_pairs"] > 0


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        (str(BENCHMARK), "holds 76 graphs, and none was chosen"),
        (f"{BENCHMARK}#99z", "holds 76 graphs, none is called '99z'"),
    ],
)
def test_a_file_of_many_graphs_says_how_to_choose_one(graph, problem):
    done = enumerate_(graph)
    assert done.returncode == 1
    assert problem in done.stderr
    assert f"say {BENCHMARK}#NAME, where NAME is one of 1a, 1b" in done.stderr


def test_a_name_in_a_file_of_one_graph_is_refused(tmp_path):
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(CHAIN))
    done = enumerate_(f"{file}#1a")
    assert done.returncode == 1
    assert "holds no named graphs, so none is called '1a'" in done.stderr
    renamed = file.rename(tmp_path / "chain#1a")
    assert enumerate_(str(renamed)).returncode == 0


def test_a_file_that_is_not_there_is_named():
    done = enumerate_(str(Path("no") / "such.json"))
    assert done.returncode == 1
    assert "no/such.json" in done.stderr


def test_a_graph_survives_the_way_to_its_file_and_back():
    value = {
        "nodes": 3,
        "edges": [*CHAIN["edges"][:1], {"left": [0, 1], "right": [2], "rules": [{"if": [0], "then": [1]}]}],
    }  # type: ignore[index]
    assert graphs.as_json(graphs.from_json(value)) == value
