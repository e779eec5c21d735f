"""A sitting with servers: they end with their block, and a run says which they were."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from engineroom import servers
from engineroom.measuring.sitting import LiveSitting

ROWS = [{"series": "a", "ns": 1.0}]


class MadeUp:
    """A server that only says what was done to it."""

    def __init__(self, version, said):
        self.version, self.said = version, said

    def __enter__(self):
        self.said.append(f"{self.version} starts")
        return self

    def __exit__(self, *_):
        self.said.append(f"{self.version} ends")

    def provenance(self):
        return {"server_version": self.version}

    def connect(self):
        return SimpleNamespace(close=lambda: self.said.append(f"{self.version} is left"))


@pytest.fixture
def said(monkeypatch):
    done = []

    def start(version, *, options):
        done.append(options)
        return MadeUp(f"{version}.4", done)

    monkeypatch.setattr(servers, "start", start)
    return done


def test_a_run_names_the_servers_of_its_sitting(said):
    with LiveSitting(seed=1) as sitting:
        with sitting.session("9.7", options={"a": "b"}):
            pass
        with sitting.server("9.7", label="half the rows"):
            pass
    assert said == [
        {"a": "b"}, "9.7.4 starts", "9.7.4 is left", "9.7.4 ends", None, "9.7.4 starts", "9.7.4 ends",
    ]  # fmt: skip
    run = sitting.run("num-deg-1", ROWS, columns={}, queries={})
    about = {"server_version": "9.7.4"}
    assert run.provenance["servers"] == {"9.7.4": about, "9.7.4, half the rows": about}
    assert (run.method, run.provenance["seed"], run.provenance["queries"]) == ("live", 1, {})


def test_servers_that_are_measured_together_all_end_when_one_cannot_start(said, monkeypatch):
    usual = servers.start

    def start(version, *, options):
        if version == "5.7":
            raise RuntimeError("not here")
        return usual(version, options=options)

    monkeypatch.setattr(servers, "start", start)
    with contextlib.ExitStack() as stack:
        sitting = stack.enter_context(LiveSitting())
        with sitting.together(("8.4", "9.7")) as sessions:
            assert [server.version for server, _ in sessions] == ["8.4.4", "9.7.4"]
        assert said[-4:] == ["9.7.4 is left", "9.7.4 ends", "8.4.4 is left", "8.4.4 ends"]
        stack.enter_context(pytest.raises(RuntimeError, match="not here"))
        stack.enter_context(sitting.together(("9.7", "5.7")))
    assert said[-2:] == ["9.7.4 is left", "9.7.4 ends"]
