"""The rule on made-up runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from engineroom.errors import EngineRoomError
from engineroom.ledger import verdicts
from engineroom.ledger.claims import figure
from engineroom.ledger.verdicts import Claim, Judgement, direction_holds, judge, magnitude_holds
from engineroom.runs import Run

Values = Mapping[str, Mapping[float | str, float | Sequence[float]]]


def made_up(id: str, values: Values, **more: object) -> Run:
    """A run with `{series: {x: value or repeats}}`."""
    subject = figure(id)
    rows = [
        {subject.x: x, "series": series, subject.y_column("live"): value, "repeat": repeat}
        for series, cells in values.items()
        for x, given in cells.items()
        for repeat, value in enumerate(given if isinstance(given, Sequence) else [given])
    ]
    columns = [subject.x, "series", subject.y_column("live"), "repeat"]
    return Run(id, "live", pd.DataFrame(rows, columns=columns), {}, **more)  # type: ignore[arg-type]


def outcomes(judged: Judgement) -> dict[str, str]:
    return {f"{claim.id} {claim.part}": claim.outcome for claim in judged.claims}


PLANS = {
    "index_nested_loop": {"5.7.22": 4.0, "9.7.4": 3.0},
    "hash_join": {"9.7.4": 1.0},
    "reversed_order_without_hash": {"9.7.4": 2.0},
}


def test_a_run_like_the_source_is_reproduced() -> None:
    judged = judge(made_up("fig-7-23", PLANS))
    assert (judged.verdict, judged.claims_held, judged.claims_total) == ("reproduced", 4, 4)


def test_the_published_rows_of_every_curve_reproduce_themselves() -> None:
    for id in (
        "fig-7-01",
        "fig-7-07",
        "fig-7-13",
        "fig-7-19",
        "fig-7-26",
        "tab-gc-1",
        "fig-7-02",
        "num-fs-2",
    ):
        judged = judge(made_up(id, figure(id).published_rows()))
        assert judged.verdict == "reproduced"
        assert judged.claims_held == judged.claims_total == figure(id).claims_total


def test_a_gain_of_another_size_and_one_shape_lost_is_partly() -> None:
    judged = judge(made_up("fig-7-23", {**PLANS, "reversed_order_without_hash": {"9.7.4": 0.5}}))
    assert outcomes(judged)["hash-not-order shape"] == "not held"
    assert judged.verdict == "partly"


def test_small_gains_in_the_published_direction_are_partly() -> None:
    rows = {"fifo": {100: 1.0, 300: 1.0, 500: 1.0, 700: 1.0, 900: 0.9}}
    rows["cats"] = {x: v * (1.01 + x / 1e5) for x, v in rows["fifo"].items()}
    judged = judge(made_up("fig-7-10", rows))
    assert all(c.is_held for c in judged.claims if c.part == "direction")
    assert not any(c.is_held for c in judged.claims if c.part == "magnitude")
    assert judged.verdict == "partly"


def test_the_other_way_round_is_contradicted() -> None:
    swapped = {**PLANS, "hash_join": {"9.7.4": 9.0}}
    judged = judge(made_up("fig-7-23", swapped))
    assert (judged.verdict, judged.claims_held) == ("contradicted", 0)


def test_repeats_on_both_sides_of_a_boundary_leave_a_claim_undecided() -> None:
    judged = judge(
        made_up(
            "fig-7-22",
            {"index_nested_loop": {"9.7.4": [3.0, 1.0, 3.0]}, "hash_join": {"9.7.4": [2.0, 2.0, 2.0]}},
        )
    )
    assert judged.repeats == 3
    assert outcomes(judged) == {"nested-loop-slowest shape": "undecided"}
    assert (judged.verdict, judged.claims_held, judged.claims_total) == ("undecided", 0, 1)


def test_undecided_claims_save_a_figure_only_if_more_could_hold_than_not() -> None:
    """Exactly half that hold is enough, exactly half that could is not. Of fig-7-23 all four claims are directions and shapes, or none is."""

    def of(held: int, undecided: int, total: int) -> str:
        outcomes = ["held"] * held + ["undecided"] * undecided + ["not held"] * (total - held - undecided)
        return verdicts._verdict(
            Claim(str(i), "shape", "", None, True, each) for i, each in enumerate(outcomes)
        )

    assert [of(n, 0, 4) for n in range(5)] == [
        "contradicted",
        "contradicted",
        "partly",
        "partly",
        "reproduced",
    ]
    assert [of(1, n, 4) for n in range(4)] == ["contradicted", "contradicted", "undecided", "undecided"]
    assert [of(0, n, 4) for n in range(5)] == [
        "contradicted",
        "contradicted",
        "contradicted",
        "undecided",
        "undecided",
    ]
    assert (of(1, 0, 3), of(1, 1, 3), of(2, 1, 3)) == ("contradicted", "undecided", "partly")


def test_half_of_the_magnitudes_is_enough_and_fewer_are_not() -> None:
    def of(held: int, total: int) -> str:
        claims = [Claim("d", "direction", "", 2.0, 2.0, "held")]
        claims += [
            Claim(str(i), "magnitude", "", 2.0, 2.0, "held" if i < held else "not held") for i in range(total)
        ]
        return verdicts._verdict(claims)

    assert [of(n, 4) for n in (1, 2, 3)] == ["partly", "reproduced", "reproduced"]
    assert [of(n, 3) for n in (1, 2)] == ["partly", "reproduced"]


def test_a_magnitude_can_be_undecided_where_the_direction_is_not() -> None:
    wide = {"load_time": {"before": [3.0, 2.9, 4.9], "after": [1.0, 1.9, 1.0]}}
    assert outcomes(judge(made_up("fig-7-02", wide))) == {
        "before-over-after direction": "held",
        "before-over-after magnitude": "undecided",
    }


def test_a_claim_that_one_repeat_would_grant_is_undecided_and_not_held() -> None:
    judged = judge(made_up("fig-7-02", {"load_time": {"before": [1.0, 1.0, 3.0], "after": [2.0, 2.0, 2.0]}}))
    assert outcomes(judged)["before-over-after direction"] == "undecided"


def test_the_summary_is_the_median_or_the_least_as_the_run_says() -> None:
    rows = {"load_time": {"before": [10.0, 12.0, 30.0], "after": [2.0, 4.0, 6.0]}}
    by_median = judge(made_up("fig-7-02", rows))
    by_least = judge(made_up("fig-7-02", rows, summary="min"))
    assert (by_median.claims[0].ours, by_least.claims[0].ours) == (3.0, 5.0)


def test_repeats_are_paired_and_a_shorter_series_gives_its_own_in_turn() -> None:
    # Both fall together, as under load from others: within each repeat the order is the same.
    together = {"index_nested_loop": {"9.7.4": [3.0, 6.0]}, "hash_join": {"9.7.4": [2.0, 5.0]}}
    assert judge(made_up("fig-7-22", together)).verdict == "reproduced"
    short = {"index_nested_loop": {"9.7.4": [3.0, 1.0]}, "hash_join": {"9.7.4": 2.0}}
    assert judge(made_up("fig-7-22", short)).verdict == "undecided"


def test_not_attributable_comes_from_the_experiment_and_keeps_the_count() -> None:
    judged = judge(made_up("fig-7-23", PLANS, not_attributable="one core: no two threads at a time"))
    assert (judged.verdict, judged.claims_held) == ("not_attributable", 4)
    assert judged.reason == "one core: no two threads at a time"


def test_a_missing_claim_counts_and_is_not_held() -> None:
    judged = judge(made_up("fig-7-23", {k: v for k, v in PLANS.items() if not k.startswith("rev")}))
    assert outcomes(judged)["hash-not-order shape"] == "missing"
    assert (judged.claims_held, judged.claims_total, judged.verdict) == (3, 4, "partly")


def test_an_optional_missing_claim_does_not_count_at_all() -> None:
    published = figure("fig-7-06").published_rows()
    judged = judge(made_up("fig-7-06", published))
    assert outcomes(judged)["more-than-old shape"] == "left out"
    assert judged.verdict == "reproduced"
    assert judged.claims_total == figure("fig-7-06").claims_total


def test_an_optional_claim_with_rows_counts_like_any_other() -> None:
    rows = {**figure("fig-7-06").published_rows(), "old_redo": {3.0: 20.0}}
    judged = judge(made_up("fig-7-06", rows))
    assert outcomes(judged)["more-than-old shape"] == "not held"
    assert judged.claims_total == figure("fig-7-06").claims_total + 1
    assert judged.verdict == "partly"


def test_an_optional_effect_is_left_out_with_both_its_claims() -> None:
    rows = {"kept": {"read_only": 1.0}, "removed_at_once": {"read_only": 1.0}}
    judged = judge(made_up("num-rv-3", rows))
    assert outcomes(judged)["5-7-over-5-6-read-only direction"] == "left out"
    assert (judged.claims_held, judged.claims_total) == (1, 3)


def test_a_run_without_rows_holds_nothing() -> None:
    judged = judge(made_up("fig-7-23", {}))
    assert (judged.verdict, judged.claims_held, judged.claims_total) == ("contradicted", 0, 4)
    assert set(outcomes(judged).values()) == {"missing"}


def test_a_value_that_was_not_measured_is_missing() -> None:
    judged = judge(made_up("fig-7-02", {"load_time": {"before": 5.0, "after": float("nan")}}))
    assert set(outcomes(judged).values()) == {"missing"}


def test_x_is_a_text_where_the_figure_says_so() -> None:
    table = pd.DataFrame(
        {"server": [5.7, 9.7], "series": ["index_nested_loop", "hash_join"], "server_cpu_s": [3.0, 1.0]}
    )
    assert judge(Run("fig-7-22", "live", table, {})).verdict == "reproduced"


def test_x_is_a_number_where_the_figure_says_so() -> None:
    rows = {
        s: {str(int(x)): v for x, v in cells.items()}
        for s, cells in figure("fig-7-07").published_rows().items()
    }
    assert judge(made_up("fig-7-07", rows)).verdict == "reproduced"
    with pytest.raises(EngineRoomError, match="takes numbers for concurrency"):
        judge(made_up("fig-7-07", {"before": {"many": 1.0}}))


@pytest.mark.parametrize(
    ("ours", "published", "holds"),
    [
        (1.09, 1.0, True),
        (0.91, 1.028, True),
        (1.10, 0.97, True),
        (0.90, 1.03, True),
        (1.12, 1.02, False),
        (0.89, 0.98, False),
        (1.0001, 1.04, True),
        (1.0, 1.04, False),
        (0.99, 1.04, False),
        (0.5, 0.2, True),
        (1.5, 0.2, False),
    ],
)
def test_direction(ours: float, published: float, holds: bool) -> None:
    assert bool(direction_holds(ours, published)) is holds


@pytest.mark.parametrize(
    ("ours", "published", "holds"),
    [
        (2.0, 4.0, True),
        (16.0, 4.0, True),
        (1.99, 4.0, False),
        (16.1, 4.0, False),
        (0.5, 0.25, True),
        (0.0625, 0.25, True),
        (4.0, 0.25, False),
        (0.0, 0.25, False),
        (-1.0, 4.0, False),
        (1.05, 1.02, True),
        (1.2, 1.02, False),
    ],
)
def test_magnitude(ours: float, published: float, holds: bool) -> None:
    assert bool(magnitude_holds(ours, published)) is holds


def test_a_run_without_the_columns_of_its_figure_is_refused() -> None:
    table = pd.DataFrame({"server": ["9.7"], "series": ["hash_join"], "seconds": [1.0]})
    with pytest.raises(EngineRoomError, match="lacks the column server_cpu_s"):
        judge(Run("fig-7-22", "live", table, {}))


def test_the_same_thing_measured_twice_in_one_repeat_is_refused() -> None:
    table = pd.DataFrame({"server": ["9.7"] * 2, "series": ["hash_join"] * 2, "server_cpu_s": [1.0, 2.0]})
    with pytest.raises(EngineRoomError, match="twice in one repeat"):
        judge(Run("fig-7-22", "live", table, {}))


def test_an_unknown_figure_is_named() -> None:
    with pytest.raises(EngineRoomError, match="fig-9-99"):
        judge(Run("fig-9-99", "live", pd.DataFrame({"series": []}), {}))
