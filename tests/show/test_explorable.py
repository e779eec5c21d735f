"""Explorables in two carriers: a page's script and a notebook's widget."""

from __future__ import annotations

import functools

import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.show import bundle, headless

MOST_BYTES = 150_000  # of a module: group commit's has coroutines of a log, a binary log and sessions; 65 kB on the wire
# Two lock systems, three logs, a transaction system, the binary log's stages and a buffer pool in one; some 135 kB on the wire.
# ... the same for speed instead of size, which halves what a reader waits for its runs; 130 kB on the wire.
# ... and the compressor of zstd with all its levels; 83 kB on the wire.
# The first is a lock system with rows, gaps and a page that types statements.
MOST_BYTES_OF = {"lock_sys": 152_000, "engine": 370_000, "grant_order": 430_000, "binlog": 180_000}

needs_node = pytest.mark.skipif(headless.node() is None, reason="no Node.js here to run WebAssembly in")
seen_at_start = functools.cache(headless.evaluate)  # by the explorable; that of a whole engine takes seconds


@needs_node
@pytest.mark.parametrize("word", bundle.words())
def test_plain_figure_is_the_picture_at_the_start_values(word):
    assert bundle.plain_figure(word).read_text() == seen_at_start(word)["picture"], "run `make wasm`"


@needs_node
@pytest.mark.parametrize("word", bundle.words())
def test_a_preset_names_values_that_the_knobs_have_and_differs_from_the_start(word):
    seen = seen_at_start(word)
    values = {knob["name"]: knob["values"] for knob in seen["knobs"] if knob["values"]}
    starts = {knob["name"]: knob["start"] for knob in seen["knobs"]}
    assert len({preset["label"] for preset in seen["presets"]}) == len(seen["presets"])
    for preset in seen["presets"]:
        turned = {name: value for name, value in preset["values"].items() if name in values}
        assert all(value in values[name] for name, value in turned.items()), preset
        assert all(value != starts[name] for name, value in turned.items()), preset
        assert preset["values"].keys() <= starts.keys(), preset
        assert any(value != starts[name] for name, value in preset["values"].items()), preset


@needs_node
@pytest.mark.parametrize(
    "word", ["binlog", "hash_join", "join_order", "query_graph"]
)  # which compute at once
def test_every_preset_computes_something_else_than_the_start(word):
    presets = seen_at_start(word)["presets"]
    start, *turned = headless.evaluate(word, [{}, *(preset["values"] for preset in presets)])["results"]
    assert all(each["shown"] != start["shown"] for each in turned)


@needs_node
@pytest.mark.parametrize("word", bundle.words())
def test_a_switch_is_off_or_on(word):
    assert all(knob["values"] == [0, 1] for knob in seen_at_start(word)["knobs"] if knob["isSwitch"])


@needs_node
@pytest.mark.parametrize("word", bundle.words())
def test_a_choice_is_of_few(word):
    assert all(2 <= len(knob["values"]) <= 4 for knob in seen_at_start(word)["knobs"] if knob["isChoice"])


@pytest.mark.parametrize("word", bundle.words())
def test_explorable_is_small_and_names_no_address(word):
    script = bundle.classic_script(word)
    assert len(bundle.wasm_file(word).read_bytes()) < MOST_BYTES_OF.get(word, MOST_BYTES)
    assert "http" not in script.replace("http://www.w3.org/2000/svg", "")
    assert "export " not in script


def test_missing_part_of_an_explorable_names_the_command_that_makes_it():
    with pytest.raises(EngineRoomError, match="make wasm"):
        bundle.sources("no_such_word")


def test_widget_carries_the_page_s_module_and_kernel():
    from engineroom.show.explorable import Explorable

    widget = Explorable("hash_join")
    assert "export default { render" in widget.get_state()["_esm"]
    assert ".er-live" in widget.get_state()["_css"]
    assert widget.kernel == bundle.wasm_file("hash_join").read_bytes()
    with pytest.raises(EngineRoomError, match="hash_join"):
        Explorable("hash_joyn")


def test_a_lab_has_the_chapter_s_knobs_and_no_others():
    """Their sliders are the browser's own, with a label each; those of ipywidgets have no name for assistive technology."""
    labs = {lab.stem: lab.read_text() for lab in (paths.root() / "notebooks").glob("*.md")}
    shown = {word for word, text in labs.items() if f'\nExplorable("{word}")\n' in text}
    assert shown == labs.keys() & set(bundle.words())
    assert [word for word, text in labs.items() if "ipywidgets" in text] == []
