from __future__ import annotations

import pandas as pd

from engineroom.chapters.redo_log.figures import own_redo_writer_threads
from engineroom.runs import Run


def test_the_time_of_a_commit_is_told_with_one_client_and_with_the_most():
    quantities = {"on": (100.0, 2.0, 4.0), "off": (110.0, 1.0, 5.0)}
    rows = [
        (n, how, repeat, tps, median_ms * n, most_ms * n)
        for how, (tps, median_ms, most_ms) in quantities.items()
        for n in (1, 4, 64)
        for repeat in range(3)
    ]
    columns = "concurrency series repeat transactions_per_second commit_ms_p50 commit_ms_p95"
    run = Run("own-redo-writer-threads", "live", pd.DataFrame(rows, columns=columns.split()), {})
    words = own_redo_writer_threads.words(own_redo_writer_threads.rows(run))
    assert "With one client half of the COMMITs take at most 2.00 ms" in words.caption
    assert "off, 95 %: 5.00 at 1, 20.00 at 4, 320.00 at 64" in words.alt
