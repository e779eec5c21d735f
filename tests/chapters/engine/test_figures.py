"""The engine beside servers, drawn from rows made by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

from engineroom import show
from engineroom.runs import Run


def drawn(figure, columns, rows):
    """The titles of the panels that have lines, and the caption."""
    of = show.drawing.figure_of(figure)
    table = of.rows(Run(figure, "live", pd.DataFrame(rows, columns=columns.split()), {}))
    drawing = Figure()
    of.picture(table, drawing.add_subplot())
    titles = [panel.get_title(loc="left") for panel in drawing.axes if panel.lines]
    return titles, of.words(table).caption


def test_a_binary_log_beside_servers_is_drawn_with_a_panel_per_load_and_disk():
    rows = [
        (n, series, repeat, version, f"uniform, {disk}", 100 * n * factor)
        for n in (1, 64)
        for series, factor in (("server", 1.0), ("engine", 1.1 if n > 1 else 1.0))
        for version in ("5.7.22", "9.7.4")
        for disk in ("steady disk", "real disk")
        for repeat in range(2)
    ]
    columns = "clients series repeat server distribution tps"
    titles, caption = drawn("own-engine-live-binlog", columns, rows)
    assert titles == ["uniform, steady disk", "uniform, real disk"]
    assert "1.00 to 1.10 times as fast as the server" in caption


@pytest.mark.parametrize("figure", ["own-engine-tpcc", "own-engine-tpcc-binlog"])
def test_tpcc_beside_servers_is_drawn_with_a_line_per_server(figure):
    rows = [
        (server, "TPC-C, 10 warehouses", clients, series, 0, 100.0 * clients**factor)
        for server in ("5.7.22", "9.7.4")
        for clients in (1, 2, 64)
        for series, factor in (("server", 0.5), ("engine", 0.6))
    ]
    titles, caption = drawn(figure, "server distribution clients series repeat tps", rows)
    assert titles == ["TPC-C, 10 warehouses"]
    assert "From two clients on it lies between 1.07 and 1.52" in caption


def test_what_if_is_drawn_with_a_panel_per_load():
    rows = [
        (n, series, 0, server, load, tps * factor, 90 * n, 105 * n, 0.0)
        for n in (1, 64)
        for server in ("5.7.22", "9.7.4")
        for load, tps in (("shop", 100 * n), ("counter", 90 * n))
        for series, factor in (("server", 1.0), ("predicted", 1.25 if server == "5.7.22" else 1.05))
    ]
    columns = "clients series repeat server load tps lowest_tps highest_tps row_waiters"
    titles, caption = drawn("own-whatif", columns, rows)
    assert titles == ["shop", "counter"]
    assert "predicts 1.05 to 1.25 times the measured throughput" in caption
