"""The sizes of a file as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engineroom.ask.binlog_files.kinds import is_mariadb
from engineroom.ask.binlog_files.sizes import FileSizes, together, utc

__all__ = ["text"]

SHOWN_TABLES = 20
SHOWN_COLUMNS = 8
SHOWN_MINUTES = 5
LEAST_SECONDS = 0.1


def text(files: Sequence[FileSizes]) -> str:
    """What a DBA wants to see first: the totals of each setting, then when and in which transactions, kinds of events, tables."""
    found = files[0] if len(files) == 1 else together(files)
    heads = [_head(one) for one in (files if len(files) == 1 else [*files, found])]
    parts = ["\n".join(heads), _settings(found), *_transactions(found), _kinds(found)]
    tables = sorted(found.tables, key=_table_bytes, reverse=True)
    parts += [_table(table, found) for table in tables[:SHOWN_TABLES]]
    if len(tables) > SHOWN_TABLES:
        parts.append(f"and {len(tables) - SHOWN_TABLES} smaller tables; --format json has all")
    return "\n\n".join(parts)


def _head(found: FileSizes) -> str:
    server = found.server_version if is_mariadb(found.server_version) else f"MySQL {found.server_version}"
    text = f"{found.file}: {found.file_bytes:,} bytes, {found.transactions:,} transactions, {server}"
    if found.read_bytes < found.file_bytes:
        text += f"\nthe server was writing the file; read as far as position {found.read_bytes:,}"
    return text


def _settings(found: FileSizes) -> str:
    whole = found.uncompressed_bytes
    transactions = max(found.transactions, 1)
    rows: list[tuple[str, ...]] = [
        ("the same transactions", "bytes", "of uncompressed", "CPU s", "us/transaction")
    ]
    if found.read_bytes != whole:
        rows.append(("as they are", f"{found.read_bytes:,}", _share(found.read_bytes, whole), "", ""))
    rows.append(("uncompressed", f"{whole:,}", "100.0 %", "", ""))
    rows.append(("minimal images", f"{found.minimal_bytes:,}", _share(found.minimal_bytes, whole), "", ""))
    for level in sorted(found.levels, key=lambda level: (level.image, level.level)):
        name = f"zstd {level.level}" + (", minimal images" if level.image == "minimal" else "")
        cpu = (f"{level.cpu_s:.2f}", f"{level.cpu_s * 1e6 / transactions:.1f}")
        rows.append((name, f"{level.file_bytes:,}", _share(level.file_bytes, whole), *cpu))
    return "\n".join([_aligned(rows), *found.remarks])


def _transactions(found: FileSizes) -> list[str]:
    parts = []
    if found.minutes:
        n_bytes = sorted(n for n, _ in found.minutes.values())
        rows: list[tuple[str, ...]] = [("most bytes per minute (UTC)", "bytes", "transactions")]
        busiest = sorted(found.minutes.items(), key=lambda item: -item[1][0])[:SHOWN_MINUTES]
        rows += [(utc(60 * minute)[:-3], f"{n:,}", f"{k:,}") for minute, (n, k) in busiest]
        rows.append((f"median of {len(n_bytes):,} minutes", f"{n_bytes[len(n_bytes) // 2]:,}", ""))
        parts.append(_aligned(rows))
    several = len({one["file"] for one in (*found.largest, *found.longest)}) > 1
    for title, of in (("largest transactions", found.largest), ("longest transactions", found.longest)):
        shown = [one for one in of if one["seconds"] >= LEAST_SECONDS or of is found.largest]
        if not shown:
            continue
        rows = [(f"{title}, begun (UTC)", "bytes", "rows", "seconds", "position", "GTID")]
        for one in shown:
            where = f"{one['file']}:{one['position']}" if several else str(one["position"])
            counts = (f"{one['bytes']:,}", f"{one['rows']:,}", f"{one['seconds']:.1f}")
            rows.append((one["begun"], *counts, where, one["gtid"] or "-"))
        parts.append(_aligned(rows))
    return parts


def _kinds(found: FileSizes) -> str:
    rows: list[tuple[str, ...]] = [("events", "number", "bytes", "of the file")]
    largest_first = sorted(found.in_file.items(), key=lambda item: -item[1][1])
    rows += [(kind, f"{n:,}", f"{b:,}", _share(b, found.file_bytes)) for kind, (n, b) in largest_first]
    inside = {kind: count for kind, count in found.uncompressed.items() if count != found.in_file.get(kind)}
    if set(found.in_file) - set(found.uncompressed) and inside:
        rows.append(("with those that were compressed:", "", "", ""))
        rows += [(kind, f"{n:,}", f"{b:,}", "") for kind, (n, b) in inside.items()]
    return _aligned(rows)


def _table(table: Mapping[str, Any], found: FileSizes) -> str:
    key = ", ".join(table["columns"][i]["column"] for i in table["key"]) or "none"
    source = {"given": "as given", "logged": "from the log", "assumed": "assumed: --key says otherwise"}
    bytes_ = _table_bytes(table)
    lines = [
        f"{table['table']}: {bytes_:,} bytes, {_share(bytes_, found.uncompressed_bytes)}; key {key} ({source[table['key_from']]})"
    ]
    changes: list[tuple[str, ...]] = [("  change", "rows", "events", "bytes", "with minimal images")]
    for change, n in table["changes"].items():
        minimal = f"{n['minimal_bytes']:,}"
        changes.append((f"  {change}", f"{n['rows']:,}", f"{n['events']:,}", f"{n['bytes']:,}", minimal))
    lines.append(_aligned(changes))
    columns = sorted(table["columns"], key=lambda one: -(one["before_bytes"] + one["after_bytes"]))
    shown: list[tuple[str, ...]] = [("  column", "type", "bytes before", "after", "unchanged")]
    for one in columns[:SHOWN_COLUMNS]:
        numbers = (f"{one[name]:,}" for name in ("before_bytes", "after_bytes", "unchanged_bytes"))
        shown.append((f"  {one['column']}", one["type"], *numbers))
    lines.append(_aligned(shown))
    if len(columns) > SHOWN_COLUMNS:
        lines.append(f"  and {len(columns) - SHOWN_COLUMNS} smaller columns")
    return "\n".join(lines)


def _table_bytes(table: Mapping[str, Any]) -> int:
    return int(table["map_bytes"] + sum(change["bytes"] for change in table["changes"].values()))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    is_text = [
        not any(any(c.isdigit() for c in row[i]) for row in rows[1:]) or i == 0 for i in range(len(rows[0]))
    ]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in rows
    )
