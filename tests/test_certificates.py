"""Clients of registries trust what the system trusts, and a reader's own choice stays."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from engineroom import certificates


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    file = tmp_path / "ca-bundle.crt"
    file.touch()
    monkeypatch.setattr(certificates, "PLACES", ("/nowhere/at/all", str(file)))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    nothing = ssl.get_default_verify_paths()._replace(cafile=None)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nothing)
    return str(file)


def test_a_client_without_a_choice_gets_the_systems_certificates(system: str):
    assert certificates.variables({}) == {"REQUESTS_CA_BUNDLE": system, "NODE_EXTRA_CA_CERTS": system}


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"])
def test_a_readers_own_choice_for_python_stays(system: str, name: str):
    assert certificates.variables({name: "/mine"}) == {"NODE_EXTRA_CA_CERTS": system}


def test_a_readers_own_choice_for_node_stays(system: str):
    assert certificates.variables({"NODE_EXTRA_CA_CERTS": "/mine"}) == {"REQUESTS_CA_BUNDLE": system}


def test_the_file_that_openssl_is_told_goes_first(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mine = tmp_path / "mine.pem"
    mine.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(mine))
    assert certificates.bundle() == str(mine)
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    assert certificates.bundle() == system


def test_a_system_without_such_a_file_changes_nothing(monkeypatch: pytest.MonkeyPatch, system: str):  # noqa: ARG001
    monkeypatch.setattr(certificates, "PLACES", ())
    assert certificates.variables({}) == {}
