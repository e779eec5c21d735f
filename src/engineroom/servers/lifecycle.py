"""Choose a provider and start a server; keep the shared ones apart from the private ones."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypedDict

from engineroom import forms, paths
from engineroom.errors import EngineRoomError
from engineroom.servers import local
from engineroom.servers.catalogue import Request, Setting, resolve
from engineroom.servers.instance import Instance, sweep
from engineroom.servers.providers import PROVIDERS, Provider, on_path, unpack
from engineroom.servers.server import Server

__all__ = [
    "chosen",
    "failed_lately",
    "fetch",
    "refusals",
    "runnable",
    "running",
    "shared",
    "start",
    "why_not_now",
]

# Whose servers are processes that we start, so that another program can run them.
_OURS = {on_path.NAME: on_path, unpack.NAME: unpack}
# How long a failed download is taken for a fact, so that not every lab of a book waits for the same closed registry.
FAILURE_HOLDS_S = 3600


def start(
    version: str,
    *,
    options: Mapping[str, Setting] | None = None,
    provider: str | None = None,
    shared: bool = False,
    debug: bool = False,
    confined: bool = False,
    under: local.Under | None = None,
) -> Server:
    """Start a MySQL server and wait until it answers.

    `provider` names one provider; so does ENGINEROOM_PROVIDER for a whole session. By default the first that can serve is
    taken. `version` is a series ("9.7") or a release ("5.7.22"); `options` are the server's own (`join_buffer_size=65536`).
    A private server belongs to this process: it ends with the `with` block, and with the process however that dies.
    A shared one is the same for all who ask for the same version and options, and runs until
    `engineroom server stop`. A `debug` build is slow, and knows what a release build has left out. A `confined` one runs
    foreign SQL: as a process of ours it can write no file outside its own folder, where the kernel has Landlock. `under` another program,
    such as valgrind, runs a private server that no container and no DSN provides.
    """
    request = resolve(version, options, shared=shared, debug=debug, confined=confined)
    if under is not None:
        assert not shared
        for _ in sweep():
            pass
        ours = _OURS[_chosen(request, provider, among=_OURS)]
        return local.start(ours.install(request), request, under=under)
    if not shared:
        for _ in sweep():
            pass
        return _choose(request, provider).start(request)
    with local.locked(paths.cache() / "shared.lock", what="the start of a shared server"):
        for server in running():
            if server.shared and _serves(server, request, provider) and server.alive():
                return server
        return _choose(request, provider).start(request)


def fetch(request: Request) -> str:
    """Do now what the first start would do; the name of the provider that was chosen. A failure is kept for `why_not_now`."""
    provider = _choose(request, None)
    kept = _failure(request)
    try:
        provider.fetch(request)
    except EngineRoomError as error:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps({"problem": error.problem, "at": time.time()}))
        raise
    kept.unlink(missing_ok=True)
    return provider.NAME


def why_not_now(version: str) -> str | None:
    """Why no server of this version can be had here now, or None when one is ready; what is lacking is fetched.

    A fetch that failed within the last hour is not tried again: `engineroom server fetch` does that.
    """
    if not runnable(version):
        return f"this machine has no MySQL {version}"
    failed = _held_failure(version)
    if failed is not None:
        age_min = (time.time() - failed["at"]) / 60
        return f"MySQL {version} could not be made ready {age_min:.0f} minutes ago: {failed['problem']}"
    try:
        fetch(resolve(version))
    except EngineRoomError as error:
        return f"MySQL {version} cannot be made ready: {error.problem}"
    return None


def failed_lately(version: str) -> bool:
    """Whether a fetch failed so lately that it is not tried again by itself."""
    return _held_failure(version) is not None


class _Failure(TypedDict):
    problem: str
    at: float


def _held_failure(version: str) -> _Failure | None:
    try:
        held = json.loads(_failure(resolve(version)).read_text())
        failed = forms.require(_Failure, held, file="a failure in the cache", remedy="")
    except (OSError, ValueError, EngineRoomError):
        return None
    return failed if 0 <= time.time() - failed["at"] < FAILURE_HOLDS_S else None


def _failure(request: Request) -> Path:
    """Where the last failure to make this version ready is kept."""
    return paths.cache() / "failed" / f"{request.name}.json"


def runnable(version: str) -> list[str]:
    """The providers that can serve this version here and may (ENGINEROOM_PROVIDER), in the order of preference."""
    chosen = os.environ.get("ENGINEROOM_PROVIDER")
    reasons = refusals(resolve(version))
    return [name for name, reason in reasons.items() if reason is None and chosen in (None, name)]


def refusals(request: Request) -> dict[str, str | None]:
    """Each provider's reason not to serve the request, `None` for those that can."""
    return {name: provider.refusal(request) for name, provider in PROVIDERS.items()}


def running() -> list[Server]:
    """The servers that this user's book runs now, in any process."""
    return [Server.attach(instance) for instance in sweep() if _is_ready(instance)]


def shared(version: str | None = None) -> list[Server]:
    """The shared servers that run: all, those of a series or a release, or the one with the port behind it, 9.7:3307."""
    wanted, _, port = (version or "").partition(":")
    request = resolve(wanted) if wanted else None
    return [
        server
        for server in running()
        if server.shared
        and (request is None or request.accepts(server.version))
        and port in ("", str(server.port))
    ]


def chosen(version: str | None = None) -> Server | None:
    """The shared server that runs, None where there is none. version: as of `shared`; one of several has to be named by its port."""
    found = shared(version)
    if not found and ":" in (version or ""):
        raise EngineRoomError(
            f"no shared server {version} runs", remedy="`engineroom server status` lists those that do"
        )
    if len(found) > 1:
        settings = [{f"{name}={value}" for name, value in server.settings.items()} for server in found]
        alike = set.intersection(*settings)
        listed = "".join(
            f"\n  {server.version}:{server.port}  {', '.join(sorted(own - alike))}".rstrip()
            for server, own in zip(found, settings, strict=True)
        )
        raise EngineRoomError(
            f"several shared servers run:{listed}",
            remedy=f"name one by its port: {found[0].version}:{found[0].port} in place of {version or 'no version'}",
        )
    return found[0] if found else None


def _is_ready(instance: Instance) -> bool:
    return "address" in instance.facts()


def _serves(server: Server, request: Request, provider: str | None) -> bool:
    return (
        request.accepts(server.version)
        and request.debug == server.is_debug
        and {name: str(value) for name, value in server.settings.items()}
        == {name: str(value) for name, value in request.settings().items()}
        and provider in (None, server.provider)
    )


def _choose(request: Request, provider: str | None) -> Provider:
    return PROVIDERS[_chosen(request, provider, among=PROVIDERS)]


def _chosen(request: Request, provider: str | None, *, among: Collection[str]) -> str:
    """The name of the provider that was asked for, or of the first one `among` these that can serve."""
    provider = provider or os.environ.get("ENGINEROOM_PROVIDER")
    if provider is not None:
        if provider not in PROVIDERS:
            raise EngineRoomError(
                f"no provider is called {provider!r}", remedy=f"choose one of: {', '.join(PROVIDERS)}"
            )
        reason = PROVIDERS[provider].refusal(request)
        if reason is not None:
            raise EngineRoomError(
                f"{provider} cannot serve {request.entry.product} {request.name} here: {reason}",
                remedy="`engineroom doctor` says what serves here and what to add",
            )
        if provider not in among:
            raise EngineRoomError(
                f"a server by {provider} is no process of ours, and no other program can run it",
                remedy=f"let the book choose, or choose one of: {', '.join(among)}",
            )
        return provider
    reasons = {}
    for name in among:
        reason = PROVIDERS[name].refusal(request)
        if reason is None:
            return name
        reasons[name] = reason
    listed = "".join(f"\n  {name}: {reason}" for name, reason in reasons.items())
    raise EngineRoomError(
        f"nothing here can run {request.entry.product} {request.name}:{listed}",
        remedy="`engineroom doctor` names the one command that adds it",
    )
