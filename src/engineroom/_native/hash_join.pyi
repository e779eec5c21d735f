"""
Joins: nested loops, MySQL's hybrid hash join, and a faster one.
"""

import enum
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "RandomReads",
    "Result",
    "Step",
    "Workspace",
    "block_nested_loop",
    "chunk_count",
    "chunk_hash",
    "fast",
    "hybrid",
    "index_nested_loop",
    "nested_loop",
    "skewed_keys",
    "table_hash",
]

class Step(enum.IntEnum):
    """What happened to a row: the values of trace['step']."""

    build_stored = 0
    build_skipped_null = 1
    build_duplicate = 2
    buffer_full = 3
    build_to_chunk = 4
    probe_lookup = 5
    probe_to_chunk = 6
    probe_saved = 7
    chunk_loading = 8
    build_stored_from_chunk = 9
    probe_lookup_from_chunk = 10
    probe_lookup_from_saving_file = 11
    output = 12

class Result:
    """
    What a join returns.
    """
    @property
    def count(self) -> int:
        """
        Number of result rows.
        """
    @property
    def counters(self) -> dict[str, int]:
        """
        What the join did: counts and bytes by name.
        """
    @property
    def rows(self) -> numpy.ndarray | None:
        """
        Structured array with build_row and probe_row, -1 for no row; None when output='count'.
        """
    @property
    def sum(self) -> int:
        """
        Sum of all payloads in the result, both sides, wrapping around at 64 bits; NULL counts as 0. The build side of a semijoin or antijoin is not part of the result.
        """
    @property
    def trace(self) -> numpy.ndarray:
        """
        The first steps, as many as asked for: structured array with step, chunk, pass, build_row, probe_row.
        """

class Workspace:
    """
    Memory that one join leaves to the next of the same size, and temporary files that it overwrites; all goes back to the system with this object.
    """
    def __init__(self) -> None: ...

class RandomReads:
    """
    Independent reads of single cache lines: the limit of a look-up.
    """
    def __init__(self, table_bytes: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def run(self, keys: numpy.ndarray, values: numpy.ndarray, *, prefetch: bool) -> int:
        """
        Reads one line per key and returns a sum without meaning; `prefetch` asks for lines some reads ahead.
        """

def block_nested_loop(
    build_key: numpy.ndarray,
    probe_key: numpy.ndarray,
    *,
    build_payload: numpy.ndarray | None = None,
    probe_payload: numpy.ndarray | None = None,
    build_null: numpy.ndarray | None = None,
    probe_null: numpy.ndarray | None = None,
    output: str = "rows",
    join: str = "inner",
    max_diff: typing.SupportsIndex | None = None,
    join_buffer_bytes: typing.SupportsIndex = 262144,
    row_bytes: typing.SupportsIndex | None = None,
) -> Result:
    """
    Block nested loop join: a bufferful of probe (outer) rows shares one scan of the build (inner) rows.

    Stands for the server's JOIN_CACHE_BNL (5.6 to 8.0.19).

    build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
    build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
    output: "rows", or "count" for count and sum only.

    Rows come buffer by buffer.

    Raises ValueError for an array of another dtype, shape or length and for a value out of range; Ctrl-C stops it.

    join: which rows come, seen from the probe side; 'left' keeps all of its rows; 'inner', 'left', 'semi' or 'anti', default 'inner'
    max_diff: extra condition, a pair joins only if its payloads differ by at most this much; default None
    join_buffer_bytes: a buffer smaller than a row takes one row; at least 1, default 262144
    row_bytes: of a probe row in the buffer; None for what the columns need, 12 or with a payload 20; at least 1, default None
    """

def chunk_count(
    estimated_build_rows: typing.SupportsInt | typing.SupportsIndex,
    keys_in_memory: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    Number of pairs of chunk files that a hybrid hash join opens when its buffer is full. The server divides by the number of different keys in memory, which is that of the rows only when there are no duplicates.
    """

def chunk_hash(key: typing.Annotated[numpy.typing.ArrayLike, numpy.int64]) -> typing.Any:
    """
    xxHash64 of each key with the seed of the server's chunk files; its low bits choose the chunk.
    """

def fast(
    build_key: numpy.ndarray,
    probe_key: numpy.ndarray,
    *,
    build_payload: numpy.ndarray | None = None,
    probe_payload: numpy.ndarray | None = None,
    build_null: numpy.ndarray | None = None,
    probe_null: numpy.ndarray | None = None,
    output: str = "rows",
    workspace: Workspace | None = None,
    storage: str = "file",
    directory: str | None = None,
    join: str = "inner",
    threads: typing.SupportsIndex = 1,
    memory_bytes: typing.SupportsIndex | None = None,
    layout: str = "automatic",
    may_swap: bool = True,
) -> Result:
    """
    Our own hash join, made for the caches and the threads of one machine.

    build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
    build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
    output: "rows", or "count" for count and sum only.
    workspace: memory and files that the join takes over from an earlier one, and leaves to a later one. None: from the
    system and back.
    storage: "file" (directory, by default the system's folder for temporary files) or "memory".

    Rows come in order of the probe row, then of the build row. Raises ValueError for an array of another dtype, shape or
    length, for an unknown name and for a memory_bytes too small to work with; Ctrl-C stops it.

    join: which rows come, seen from the probe side; 'left' keeps all of its rows; 'inner', 'left', 'semi' or 'anti', default 'inner'
    threads: how many work at once; the result is the same for any number; 1 to 256, default 1
    memory_bytes: the most that the join takes besides its two inputs and its result; what does not fit is written to storage; None for no bound; at least 1, default None
    layout: 'partitioned' cuts both sides so that each part's table fits the cache; a table that does not fit into memory_bytes is always partitioned; 'array' takes rows by their key where keys are different numbers that lie close together, as 'automatic' does where it pays; 'automatic', 'one_table', 'partitioned' or 'array', default 'automatic'
    may_swap: build the smaller side, where only count and sum of an inner join are asked for; False builds the side that is called so; default True
    """

def hybrid(
    build_key: numpy.ndarray,
    probe_key: numpy.ndarray,
    *,
    build_payload: numpy.ndarray | None = None,
    probe_payload: numpy.ndarray | None = None,
    build_null: numpy.ndarray | None = None,
    probe_null: numpy.ndarray | None = None,
    output: str = "rows",
    storage: str = "file",
    directory: str | None = None,
    join: str = "inner",
    max_diff: typing.SupportsIndex | None = None,
    join_buffer_bytes: typing.SupportsIndex = 262144,
    estimated_build_rows: typing.SupportsIndex | None = None,
    allow_spill: bool = True,
    row_bytes: typing.SupportsIndex | None = None,
    max_chunks: typing.SupportsIndex = 128,
    probe_row_first: bool = False,
    trace: typing.SupportsIndex = 0,
) -> Result:
    """
    MySQL's hash join: what fits into the join buffer stays there, the rest is spilled to chunk files.

    Stands for the server's HashJoinIterator (8.0.18 and later, in the form of 9.7).

    build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
    build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
    output: "rows", or "count" for count and sum only.
    storage: "file" for real temporary files in `directory` (the system's own by default), or "memory"; they have no
    name and are gone when the join ends, whatever happens.

    In memory, rows come in probe order and those of one key newest build row first; spilled, in no order. Raises
    OSError with the folder's name when a file cannot be made, written or read.

    Raises ValueError for an array of another dtype, shape or length and for a value out of range; Ctrl-C stops it.

    join: which rows come, seen from the probe side; 'left' keeps all of its rows; 'inner', 'left', 'semi' or 'anti', default 'inner'
    max_diff: extra condition, a pair joins only if its payloads differ by at most this much; default None
    join_buffer_bytes: as the variable of the server; below 16384 it acts as 16384; at least 128, default 262144
    estimated_build_rows: what the optimizer believes, which decides the number of chunk files; None for the true number; default None
    allow_spill: False for refill mode, as under LIMIT: no chunk files, the probe input is read again for each filling; default True
    row_bytes: of a packed row on both sides; None for what the columns need, 12 or with a payload 20; at least 1, default None
    max_chunks: most pairs of chunk files; a power of two from 1 to 128, default 128
    probe_row_first: read a probe row before anything is built, so that an empty probe input ends the join at once; default False
    trace: number of steps to keep in Result.trace; what each did is a Step; default 0
    """

def index_nested_loop(
    build_key: numpy.ndarray,
    probe_key: numpy.ndarray,
    *,
    build_payload: numpy.ndarray | None = None,
    probe_payload: numpy.ndarray | None = None,
    build_null: numpy.ndarray | None = None,
    probe_null: numpy.ndarray | None = None,
    output: str = "rows",
    join: str = "inner",
    max_diff: typing.SupportsIndex | None = None,
    entries_per_page: typing.SupportsIndex = 512,
) -> Result:
    """
    Index nested loop join: one descent in an index on the build (inner) rows for every probe (outer) row.

    Stands for the server's NestedLoopIterator over RefIterator, an index lookup (all versions).

    build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
    build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
    output: "rows", or "count" for count and sum only.

    Rows come in probe order. The index is there before the join: making it is not counted.

    Raises ValueError for an array of another dtype, shape or length and for a value out of range; Ctrl-C stops it.

    join: which rows come, seen from the probe side; 'left' keeps all of its rows; 'inner', 'left', 'semi' or 'anti', default 'inner'
    max_diff: extra condition, a pair joins only if its payloads differ by at most this much; default None
    entries_per_page: fan-out of the index; at least 2, default 512
    """

def nested_loop(
    build_key: numpy.ndarray,
    probe_key: numpy.ndarray,
    *,
    build_payload: numpy.ndarray | None = None,
    probe_payload: numpy.ndarray | None = None,
    build_null: numpy.ndarray | None = None,
    probe_null: numpy.ndarray | None = None,
    output: str = "rows",
    join: str = "inner",
    max_diff: typing.SupportsIndex | None = None,
) -> Result:
    """
    Nested loop join: every probe (outer) row against every build (inner) row.

    Stands for the server's NestedLoopIterator over two table scans (all versions).

    build_key, probe_key: int64, one-dimensional. build_payload, probe_payload: int64, one value a row.
    build_null, probe_null: bool, True where the key is NULL; NULL matches nothing.
    output: "rows", or "count" for count and sum only.

    Rows come in probe order.

    Raises ValueError for an array of another dtype, shape or length and for a value out of range; Ctrl-C stops it.

    join: which rows come, seen from the probe side; 'left' keeps all of its rows; 'inner', 'left', 'semi' or 'anti', default 'inner'
    max_diff: extra condition, a pair joins only if its payloads differ by at most this much; default None
    """

def skewed_keys(
    *,
    rows: typing.SupportsInt | typing.SupportsIndex,
    distinct: typing.SupportsInt | typing.SupportsIndex,
    skew_quarters: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 0,
) -> numpy.typing.NDArray[numpy.int64]:
    """
    Join keys with a chosen skew, drawn by `seed`: int64.

    rows: how many keys. distinct: out of how many values, 1 to 2^24.
    skew_quarters: 0 to 8; the k-th most frequent value appears in proportion to k ** -(skew_quarters / 4).

    The values depend on their rank alone, so that two tables share their keys. Integers only: the same on every
    machine and in the browser. Raises ValueError for an argument out of range.
    """

def table_hash(key: typing.Annotated[numpy.typing.ArrayLike, numpy.int64]) -> typing.Any:
    """
    The hash of each key in the in-memory table; its high bits choose the bucket.
    """
