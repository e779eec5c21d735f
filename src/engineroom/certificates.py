"""The certificates that this system trusts, for clients of package registries that bring a list of their own.

A network whose proxy signs anew is known to the system and not to such a client, which then refuses every registry.
"""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["bundle", "trusted", "variables"]

# Debian and its kin, Fedora and its kin, openSUSE, macOS and Alpine.
PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def bundle() -> str | None:
    """The file of all certificates that the system trusts: what `SSL_CERT_FILE` names, OpenSSL's own, or the distribution's."""
    named = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    return next((place for place in (named, *PLACES) if place and Path(place).is_file()), None)


def variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What to add to `environment` so that Python's requests, pip and Node trust what the system trusts; a reader's own choice stays."""
    file = bundle()
    if file is None:
        return {}
    chosen = {}
    if not any(environment.get(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")):
        chosen["REQUESTS_CA_BUNDLE"] = file  # pip reads it, too
    if not environment.get("NODE_EXTRA_CA_CERTS"):
        chosen["NODE_EXTRA_CA_CERTS"] = file
    return chosen


@contextlib.contextmanager
def trusted() -> Iterator[None]:
    """A client inside this process finds the variables for the time of the block."""
    added = variables()
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
