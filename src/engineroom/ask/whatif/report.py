"""A prediction in words, for a terminal."""

from __future__ import annotations

from engineroom.ask.whatif.prediction import DISK, Point, Prediction, not_known

__all__ = ["text"]

_MOST_PLACES, _SAID_FROM = 3, 0.05


def text(prediction: Prediction) -> str:
    """Throughput by version and clients, the first queue of each version, where threads wait, and what is not known."""
    parts = [
        _head(prediction),
        _throughput(prediction),
        _first(prediction),
        _places(prediction),
        _unknown(prediction),
    ]
    return "\n\n".join(parts)


def _head(prediction: Prediction) -> str:
    kinds = ", ".join(f"{kind.name} ({kind.weight})" for kind in prediction.demands.kinds)
    return f"Transactions by weight: {kinds}; measured on MySQL {prediction.demands.server}.\nMachine: {prediction.machine}."


def _throughput(prediction: Prediction) -> str:
    lines = ["Transactions per second, and their range on the varied machines:"]
    clients = list(dict.fromkeys(point.clients for point in prediction.points))
    cells = {(p.version, p.clients): _rate(p) for p in prediction.points}
    widths = {n: max(len(f"{n:,}"), *(len(cells[v, n]) for v in prediction.versions)) for n in clients}
    lines.append("  ".join(["clients", *(f"{n:,}".rjust(widths[n]) for n in clients)]))
    for version in prediction.versions:
        lines.append("  ".join([version.ljust(7), *(cells[version, n].rjust(widths[n]) for n in clients)]))
    if any(not point.is_settled for point in prediction.points):
        lines.append("-: had not settled to 2 % when its window ended, so that there is no number to compare")
    return "\n".join(lines)


def _rate(point: Point) -> str:
    if not point.is_settled:
        return "-"
    span = f" ({point.lowest_tps:,.0f} to {point.highest_tps:,.0f})" if point.varied else ""
    return f"{point.tps:,.0f}{span}"


def _first(prediction: Prediction) -> str:
    lines = ["Which queue forms first (at least one thread waits there in the mean):"]
    for version in prediction.versions:
        point = prediction.first(version)
        if point is None:
            most = max(each.clients for each in prediction.of(version))
            lines.append(f"{version}: none up to {most:,} clients")
            continue
        of = (
            f", the longest on {prediction.agree(point)} of {len(point.varied)} varied machines"
            if point.varied
            else ""
        )
        waiting = point.waiting[str(point.queue)]
        lines.append(
            f"{version}: {point.queue}, with {point.clients:,} clients: {waiting:.1f} threads wait{of}"
        )
    return "\n".join(lines)


def _places(prediction: Prediction) -> str:
    lines = [
        f"Threads that wait in the mean, by version and clients ({DISK}: clients share an fsync, so that is no queue):"
    ]
    width = max(len(f"{point.clients:,}") for point in prediction.points)
    for point in prediction.points:
        places = list(point.waiting.items())[:_MOST_PLACES]
        said = ", ".join(f"{name} {mean:.1f}" for name, mean in places if mean >= _SAID_FROM) or "nobody"
        lines.append(f"{point.version}  {point.clients:{width},}  {said}")
    return "\n".join(lines)


def _unknown(prediction: Prediction) -> str:
    return "\n".join(["What this cannot know:", *(f"- {each}" for each in not_known(prediction.demands))])
