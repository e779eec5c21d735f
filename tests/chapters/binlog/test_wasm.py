"""The browser's events and frames are those of the native kernel and of the zstd that Python has, and its CPU times are the recorded ones."""

from __future__ import annotations

import itertools
import json
import re
import zlib

import pytest
import zstandard

from engineroom import runs
from engineroom._native import binlog
from engineroom.show import bundle, headless

pytestmark = pytest.mark.usefixtures("node")

KINDS = ("new_order", "payment", "delivery", "documents", "digests", "counter")
IMAGES = ("full", "minimal", "noblob")
EVENT_TYPES = {2: "begin_and_xid", 16: "begin_and_xid", 19: "maps", 30: "rows", 31: "rows", 32: "rows"}


@pytest.fixture(scope="module")
def results():
    """Of every kind and level, the bytes of all images."""
    grid = [{"kind": kind, "level": level} for kind, level in itertools.product(KINDS, range(23))]
    return headless.evaluate("binlog", grid)["results"]


def by_type(events: bytes) -> dict[str, int]:
    counted = dict.fromkeys(EVENT_TYPES.values(), 0)
    at = 0
    while at < len(events):
        size = int.from_bytes(events[at + 9 : at + 13], "little")
        counted[EVENT_TYPES[events[at + 4]]] += size
        at += size
    return counted


def gtid_event(behind: int) -> int:
    whole = 0
    for _ in range(2):
        writer = binlog.Writer(position=4, checksums=True)
        writer.gtid(uuid=bytes(16), number=1, last_committed=0, sequence_number=1, commit_us=1, transaction_bytes=behind + whole, server_version=90704)  # fmt: skip
        whole = len(writer.take())
    return whole


def payload_event(frame: bytes, uncompressed: int) -> int:
    writer = binlog.Writer(position=4, checksums=True)
    writer.payload(frame, uncompressed_bytes=uncompressed)
    return len(writer.take())


def test_events_in_webassembly_are_the_native_ones_byte_for_byte(results):
    for seen in results:
        kind, n = seen["inputs"]["kind"], seen["n"]
        if seen["inputs"]["level"] > 0:
            continue
        for image in IMAGES:
            in_file = [binlog.example(kind, image=image, nth=nth, checksums=True) for nth in range(n)]
            inside = [binlog.example(kind, image=image, nth=nth) for nth in range(n)]
            counted = seen["images"][image]
            assert counted["inside_crc"] == zlib.crc32(b"".join(inside)), (kind, image)
            assert counted["inside"] * n == sum(map(len, inside))
            parts = by_type(b"".join(in_file))
            assert {name: counted[name] * n for name in parts} == parts
            assert counted["gtid"] * n == sum(gtid_event(len(events)) for events in in_file)


def test_frames_in_webassembly_are_those_of_python_s_zstd_at_every_level(results):
    compared = 0
    for seen in results:
        kind, level, n = seen["inputs"]["kind"], seen["inputs"]["level"], seen["n"]
        if level == 0:
            continue
        compressor = zstandard.ZstdCompressor(level=level)
        for image in IMAGES:
            inside = [binlog.example(kind, image=image, nth=nth) for nth in range(n)]
            frames = [compressor.compress(events) for events in inside]
            counted = seen["images"][image]
            assert counted["frames_crc"] == zlib.crc32(b"".join(frames)), (kind, level, image)
            assert counted["frames"] * n == sum(map(len, frames))
            events = [payload_event(frame, len(events)) for frame, events in zip(frames, inside, strict=True)]
            assert counted["packed"] * n == sum(size + gtid_event(size) for size in events)
            compared += 1
    assert compared == len(KINDS) * 22 * len(IMAGES)


def test_its_cpu_times_are_the_least_of_the_newest_recordings():
    source = bundle.sources("binlog")[1].read_text(encoding="utf-8")
    said = {
        name: json.loads(f"[{numbers}]") for name, numbers in re.findall(r"(\w+): \[([\d., ]+)\]", source)
    }
    levels = runs.newest("own-binlog-levels", "kernel").table
    least = levels.groupby(["rows_kind", "level"])["cpu_ns_per_byte"].min()
    assert said.keys() == set(levels["rows_kind"])
    for kind, numbers in said.items():
        assert numbers == pytest.approx(least[kind].to_list(), rel=1e-3), kind
    server = runs.newest("own-binlog-cpu", "live").table
    plain = server[server["setting"] == "full, uncompressed"]["server_cpu_us"].min()
    assert float(re.search(r"SERVER_US = (\d+)", source)[1]) == pytest.approx(plain, rel=1e-3)


def test_a_kind_without_a_recording_shows_no_cpu_time():
    (seen,) = headless.evaluate("binlog", [{"kind": "counter", "level": 22}])["results"]
    assert "CPU" not in seen["sentence"]
    assert dict(seen["shown"])["CPU time of compressing, recorded"] == "not recorded for such rows"
