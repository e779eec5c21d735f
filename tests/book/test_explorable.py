"""The browser's kernel is the native one, and what is committed is what the sources give."""

from __future__ import annotations

import itertools
import shutil
import subprocess

import numpy as np
import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.widgets import bundle, headless

GRID = [
    {
        "build_rows": build,
        "probe_rows": probe,
        "skew_quarters": skew,
        "estimate_percent": estimate,
        "join_buffer_bytes": buffer,
    }
    for build, probe, skew, estimate, buffer in itertools.product(
        (500, 5000), (500, 10000), (0, 4, 8), (10, 100, 1000), (16384, 65536, 262144, 16 << 20)
    )
]
needs_node = pytest.mark.skipif(headless.node() is None, reason="no Node.js here to run WebAssembly in")
needs_clang = pytest.mark.skipif(
    shutil.which("clang++-19") is None, reason="no clang++-19 here: .ci/run installs it"
)


def native(inputs: dict[str, int]) -> dict[str, int]:
    from engineroom._native import hash_join

    rows = inputs["build_rows"]
    result = hash_join.hybrid(
        hash_join.skewed_keys(rows=rows, distinct=rows, skew_quarters=inputs["skew_quarters"], seed=1),
        hash_join.skewed_keys(rows=inputs["probe_rows"], distinct=rows, seed=2),
        output="count",
        join_buffer_bytes=inputs["join_buffer_bytes"],
        estimated_build_rows=max(1, rows * inputs["estimate_percent"] // 100),
        row_bytes=100,
        storage="memory",
    )
    return {"count": result.count, **result.counters}


@needs_node
def test_webassembly_counts_what_the_native_kernel_counts():
    in_browser = headless.evaluate("hash_join", GRID)["results"]
    for inputs, result in zip(GRID, in_browser, strict=True):
        expected = native(inputs)
        counted = {name: value for name, value in result.items() if name in expected}
        assert len(counted) == 15
        assert counted == {name: expected[name] for name in counted}, inputs


@needs_node
def test_the_grid_spills_and_fits_and_reads_again():
    results = headless.evaluate("hash_join", GRID)["results"]
    assert {result["chunk_files"] for result in results} >= {0, 2, 8, 256}
    assert any(result["bytes_read"] > result["bytes_written"] for result in results)


@needs_node
def test_sentence_says_what_the_counters_say():
    fits, spills, again = headless.evaluate(
        "hash_join",
        [
            {"join_buffer_bytes": 16 << 20},
            {"join_buffer_bytes": 262144},
            {"join_buffer_bytes": 262144, "estimate_percent": 10},
        ],
    )["results"]
    assert "no chunk file" in fits["sentence"]
    assert f"{spills['chunk_files'] // 2} pairs of chunk files" in spills["sentence"]
    assert "more than once" not in spills["sentence"]
    assert "1 pair of chunk files" in again["sentence"]
    assert "more than once" in again["sentence"]


def test_join_order_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import join_order

    if headless.node() is None:
        pytest.skip("no Node.js here to run WebAssembly in")
    grid = [
        {"shape": shape, "tables": n, "chords": chords, "step": step, "large": large}
        for shape, n, chords, step, large in itertools.product(
            range(4), (2, 5, 8), (0, 3), (0, 9, 99), (1, 99)
        )
    ]
    for inputs, result in zip(grid, headless.evaluate("join_order", grid)["results"], strict=True):
        graph = join_order.Graph(inputs["tables"], [([a], [b]) for a, b in result["joins"]])
        found = join_order.enumerate(graph)
        pairs = list(dict.fromkeys((left, right) for left, right, edge in found.events.tolist() if edge >= 0))
        assert (result["left"], result["right"]) == pairs[min(inputs["step"], len(pairs) - 1)]
        assert result["closed"] & (result["left"] | result["right"]) == 0
        counted = (result["sets"], result["pairs"], result["calls"])
        counters = found.counters
        assert counted == (counters["connected_subgraphs"], counters["csg_cmp_pairs"], counters["calls"])
        for name in ("dpsize", "dpsub"):
            tests = join_order.enumerate(graph, algorithm=name, events=False).counters["inner_tests"]
            assert result[name] == tests
        rows = [100_000.0 if table == inputs["large"] else 100.0 for table in range(inputs["tables"])]
        best = join_order.best_plan(graph, rows, [0.01] * len(result["joins"]))
        assert result["cost"] == int(best.cost)
        assert sorted(result["plan"].strip("()").replace("(", "").replace(")", "").split()) == list(
            "ABCDEFGH"[: inputs["tables"]]
        )


def drawn(edges: list[tuple[int, int]]) -> dict[str, int]:
    """The edge between tables a < b as bit b(b-1)/2 + a of two words."""
    bits = sum(1 << (b * (b - 1) // 2 + a) for a, b in edges)
    return {"low": bits & 0xFFFFFFFF, "high": bits >> 32}


@needs_node
def test_a_drawn_graph_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import join_order

    random = np.random.default_rng(1)
    graphs, grid = [], []
    for case in range(40):
        n = int(random.integers(2, 11))
        # A random tree, so that all is joined, and further edges; every fourth loses an edge of a leaf.
        edges = {(int(random.integers(0, b)), b) for b in range(1, n)}
        edges |= {(a, b) for a, b in itertools.combinations(range(n), 2) if random.random() < case / 60}
        if case % 4 == 3:
            edges = {edge for edge in edges if n - 1 not in edge}
        graphs.append((n, sorted(edges, key=lambda edge: edge[::-1])))
        grid.append({"tables": n, "step": case, "large": case % n, **drawn(graphs[-1][1])})
    grid[0] |= {"large": 99}
    for (n, edges), inputs, result in zip(
        graphs, grid, headless.evaluate("query_graph", grid)["results"], strict=True
    ):
        parts = [sum(1 << table for table in part) for part in components(n, edges)]
        assert sorted(result["part_sets"]) == sorted(parts)
        sub = [
            join_order.Graph(len(part), [([part.index(a)], [part.index(b)]) for a, b in edges if a in part])
            for part in components(n, edges)
        ]
        for name, of in (("sets", "connected_subgraphs"), ("pairs", "csg_cmp_pairs")):
            found = [join_order.enumerate(graph, events=False).counters[of] for graph in sub]
            assert result[name] == sum(found)
        if len(parts) > 1:
            assert result["plan"] == ""
            assert "Not all tables are joined" in result["sentence"]
            continue
        for name, algorithm in (("dpsize",) * 2, ("dpsub",) * 2, ("dpccp",) * 2, ("dphyp", "faithful")):
            counters = join_order.enumerate(sub[0], algorithm=algorithm, events=False).counters
            assert result[name] == counters["inner_tests"]
        events = [event for event in join_order.enumerate(sub[0]).events.tolist() if event[2] >= 0]
        pairs = list(dict.fromkeys((left, right) for left, right, _ in events))
        assert (result["left"], result["right"]) == pairs[min(inputs["step"], len(pairs) - 1)]
        rows = [100_000.0 if table == inputs["large"] else 100.0 for table in range(n)]
        assert result["cost"] == int(join_order.best_plan(sub[0], rows, [0.01] * len(edges)).cost)
        assert sorted(result["plan"].replace("(", " ").replace(")", " ").split()) == list("ABCDEFGHIJ"[:n])


def components(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """The parts of a graph, by merging."""
    parts = [[table] for table in range(n)]
    for a, b in edges:
        one, other = (next(part for part in parts if table in part) for table in (a, b))
        if one is not other:
            parts.remove(other)
            one.extend(other)
    return [sorted(part) for part in parts]


@needs_node
def test_the_largest_drawn_graph_is_computed_at_once():
    clique = {"tables": 10, **drawn(list(itertools.combinations(range(10), 2)))}
    answer = headless.evaluate("query_graph", [clique, clique, clique])
    assert answer["results"][0]["pairs"] == 28501
    assert answer["results"][0]["dpsize"] == 306991


@needs_node
def test_redo_log_in_webassembly_runs_the_native_run():
    from engineroom._native import redo_log
    from engineroom.experiments.redo_log import SYSBENCH

    designs = ("5.7", "8.0", "8.0, writer threads off")
    grid = [
        {"design": design, "clients": clients, "cores": 4, "gate": gate}
        for design, clients, gate in itertools.product(range(3), (1, 20), (0, 1))
    ]
    for inputs, result in zip(grid, headless.evaluate("redo_log", grid)["results"], strict=True):
        expected = redo_log.simulate(
            design=designs[inputs["design"]],
            parameters={"cores_per_socket": 4, "disk_fsync_quantiles_ps": [100_000_000]},
            load={**SYSBENCH, "clients": inputs["clients"]},
            log={
                "buffer_bytes": 1 << 20,
                "recent_written_slots": 1 << 14,
                "recent_closed_slots": 1 << 15,
                "cpu_sample_ns": 5_000_000,
                "cpu_gate": inputs["gate"],
            },
            warmup_ns=20_000_000,
            run_ns=max(10_000, round(120_000 / inputs["clients"] ** 0.5)) * 1000,
        )
        assert int(result["hash"]) == expected["trace_hash"], inputs
        for name in ("events", "transactions", "fsyncs"):
            assert result[name] == expected[name]
        assert result["transactions"] > 0


@needs_node
def test_log_steps_never_show_a_pointer_past_the_one_before_it():
    grid = [
        {"step": step, "late": late, "writer_threads": threads, "seed": seed}
        for step, late, threads, seed in itertools.product(range(0, 40, 3), (1, 3, 99), (0, 1), (1, 4))
    ]
    outcomes = set()
    for inputs, result in zip(grid, headless.evaluate("log_steps", grid)["results"], strict=True):
        assert result["flushed"] <= result["written"] <= result["ready"] <= result["reserved"]
        ends = [0, *(each["end"] for each in result["ranges"])]
        for start, each in zip(ends, result["ranges"], strict=False):
            # A block's end is not data: behind it a range starts 16 bytes later.
            assert each["start"] - start in (0, 16)
            outcomes.add(each["outcome"])
            is_whole = each["outcome"] >= 2
            assert is_whole == (each["end"] <= result["ready"]), inputs
        assert result["steps"] <= 40, "the knob has 40 steps"
    assert outcomes == set(range(6))


@needs_node
@pytest.mark.parametrize("word", bundle.words())
def test_plain_figure_is_the_picture_at_the_start_values(word):
    assert bundle.plain_figure(word).read_text() == headless.evaluate(word)["picture"], "run `make wasm`"


@needs_clang
@pytest.mark.slow
def test_committed_webassembly_is_what_the_sources_give(tmp_path):
    subprocess.run([paths.root() / "native/wasm/build.sh", tmp_path], check=True, capture_output=True)
    committed = {file.name: file.read_bytes() for file in (paths.root() / "book/web/wasm").glob("*.wasm")}
    rebuilt = {file.name: file.read_bytes() for file in tmp_path.glob("*.wasm")}
    assert {bundle.wasm_file(word).name for word in bundle.words()} <= rebuilt.keys() == committed.keys()
    changed = [name for name, code in rebuilt.items() if code != committed[name]]
    assert changed == [], "a kernel changed: run `make wasm` and commit"


@pytest.mark.parametrize("word", bundle.words())
def test_explorable_is_small_and_names_no_address(word):
    script = bundle.classic_script(word)
    assert len(bundle.wasm_file(word).read_bytes()) < 100_000
    assert "http" not in script.replace("http://www.w3.org/2000/svg", "")
    assert "export " not in script


def test_missing_part_of_an_explorable_names_the_command_that_makes_it():
    with pytest.raises(EngineRoomError, match="make wasm"):
        bundle.sources("no_such_word")


def test_widget_carries_the_page_s_module_and_kernel():
    from engineroom.widgets.explorable import Explorable

    widget = Explorable("hash_join")
    assert "export default { render" in widget.get_state()["_esm"]
    assert ".er-live" in widget.get_state()["_css"]
    assert widget.kernel == bundle.wasm_file("hash_join").read_bytes()
    with pytest.raises(EngineRoomError, match="hash_join"):
        Explorable("hash_joyn")


class TestSkewedKeys:
    @staticmethod
    def draw(**arguments: int) -> np.ndarray:
        from engineroom._native import hash_join

        return hash_join.skewed_keys(**arguments)

    def test_same_seed_same_keys(self):
        first = self.draw(rows=1000, distinct=50, skew_quarters=3, seed=5)
        assert (first == self.draw(rows=1000, distinct=50, skew_quarters=3, seed=5)).all()
        assert (first != self.draw(rows=1000, distinct=50, skew_quarters=3, seed=6)).any()

    @pytest.mark.parametrize("quarters", range(9))
    def test_frequencies_follow_the_power_law(self, quarters):
        keys = self.draw(rows=200_000, distinct=8, skew_quarters=quarters, seed=1)
        frequency = np.sort(np.unique(keys, return_counts=True)[1])[::-1] / len(keys)
        weights = np.arange(1, 9) ** (-quarters / 4)
        assert np.allclose(frequency, weights / weights.sum(), atol=0.005)

    def test_two_tables_share_their_keys(self):
        build = self.draw(rows=5000, distinct=100, skew_quarters=8, seed=1)
        probe = self.draw(rows=5000, distinct=100, seed=2)
        assert set(build) <= set(probe)

    @pytest.mark.parametrize(
        "wrong", [{"distinct": 0}, {"distinct": 2**24 + 1}, {"rows": -1}, {"skew_quarters": 9}]
    )
    def test_bad_arguments_are_refused_with_their_name(self, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            self.draw(**{"rows": 1, "distinct": 1, **wrong})


@needs_node
def test_filesort_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import filesort

    grid = [
        {"rows": rows, "limit": limit, "lob_bytes": lob, "sort_buffer_bytes": buffer, "design": design}
        for rows, limit, lob, buffer, design in itertools.product(
            (100, 500), (0, 1, 30, 300), (0, 1000, 8192), (32768, 262144, 4194304), range(3)
        )
    ]
    for inputs, result in zip(grid, headless.evaluate("filesort", grid)["results"], strict=True):
        lob, limit = inputs["lob_bytes"], inputs["limit"] or None
        table = filesort.article_table(rows=inputs["rows"], lob_bytes=lob, declared_bytes=max(lob, 1))
        buffer = inputs["sort_buffer_bytes"]
        chosen = filesort.choose(
            table, release="9.7", selected=range(5), limit=limit, sort_buffer_bytes=buffer
        )
        designs = [
            {"attach": "rowid", "is_read_set_narrow": True},
            chosen,
            {"attach": "rowid", "is_read_set_narrow": False},
        ]
        expected = filesort.sort(
            table,
            selected=range(5),
            limit=limit,
            sort_buffer_bytes=buffer,
            storage="memory",
            output="count",
            **designs[inputs["design"]],
        ).counters
        counted = {name: value for name, value in result.items() if name in expected}
        assert len(counted) == 9
        assert counted == {name: expected[name] for name in counted}, inputs
        parts = [result[name] for name in ("leaf_pages", "pages_of_values", "pages_fetched")]
        assert (sum(parts), parts[0]) == (expected["pages_touched"], table.leaf_pages)


@needs_node
def test_low_concurrency_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import low_concurrency

    grid = [
        {"columns": columns, "rows": rows}
        for columns, rows in itertools.product((1, 4, 64, 65, 193), (1, 100, 10_000, 1_000_000))
    ]
    results = headless.evaluate("low_concurrency", grid)["results"]
    assert {result["parsed"] for result in results} == {True, False}
    for inputs, result in zip(grid, results, strict=True):
        for container, counted in zip(("list_5_7", "deque_8_0", "deque_9_7"), result["lists"], strict=True):
            assert counted["bytes"] == low_concurrency.container_bytes(container, **inputs)
            parsed = low_concurrency.parse_insert(container, **inputs) if result["parsed"] else {}
            assert counted["bytes"] == parsed.get("container_bytes", counted["bytes"])
        assert result["items"] == inputs["rows"] * inputs["columns"] * 128
        row = low_concurrency.container_bytes("deque_9_7", rows=2, columns=inputs["columns"])
        first = low_concurrency.container_bytes("deque_9_7", rows=1, columns=inputs["columns"])
        assert result["row_blocks"] == (row - first - 48) // 1024
