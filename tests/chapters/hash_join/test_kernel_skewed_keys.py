"""Keys with a chosen skew, the same in a lab and in the browser."""

from __future__ import annotations

import numpy as np
import pytest


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
