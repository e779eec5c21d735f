"""`make book`, `make read`, `make serve` and `make lab`."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import yaml

import engineroom
from engineroom import children, files, paths
from engineroom.errors import EngineRoomError
from engineroom.progress import bar

__all__ = ["build", "complaints", "lab", "serve"]

_STEP = re.compile(r"^(?P<phase>[a-z ]+)\.\.\. \[ *(?P<percent>\d+)%\] *(?P<document>\S*)")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def build(*, is_executed: bool = True) -> Path:
    """Build the book into `_build/html`, labs executed unless told otherwise; return the front page.

    A warning or a raising cell is an error: EngineRoomError with what Sphinx said. To be read only, the book has no outputs of labs and,
    where no kernel is compiled, not the few numbers that one computes: warnings would say no more than that.
    """
    root = paths.root()
    start = time.monotonic()
    # -P: the folders of the book are no packages.
    command = [sys.executable, "-P", "-m", "engineroom.making.pages", "_build"]
    command += ["-W"] if is_executed else []
    said: list[str] = []
    made = (
        "Pages and labs: usually 6 minutes, later only what changed"
        if is_executed
        else "Pages, from recordings: usually 2 minutes"
    )
    print(made, flush=True)
    with (
        children.variable("ENGINEROOM_TO_READ", str(int(not is_executed))),
        children.started(command, cwd=root, is_read=True) as sphinx,
        bar(total=100, bar_format="{desc} |{bar}| {elapsed}") as progress,
    ):
        assert sphinx.stdout is not None
        for line in sphinx.stdout:
            said.append(line)
            step = _STEP.match(_ESCAPES.sub("", line))
            if step:
                progress.set_description_str(f"{step['phase']}: {step['document']}"[:60])
                progress.n = int(step["percent"])
                progress.refresh()
    page = root / "_build" / "html" / "book" / "index.html"
    if sphinx.returncode or not page.exists():
        # Sphinx warns of a page when it reads it, and would take what it has read as good the next time.
        (root / "_build" / ".doctrees" / "environment.pickle").unlink(missing_ok=True)
        raise EngineRoomError(
            f"the book did not build (exit code {sphinx.returncode}):\n{complaints(said)}",
            remedy="mend what the lines above name and run make book again",
        )
    _notebooks_to_download(root / "_build" / "html" / "_sources" / "notebooks")
    without = "" if is_executed else ' without what kernels and labs compute, which has "…" in its place,'
    print(f"The book is built{without} in {time.monotonic() - start:.0f} s. Open {page}")
    return page


def _notebooks_to_download(folder: Path) -> None:
    """Labs and exercises as a page's readers download them: their first cell installs what they need, of a published book from its release."""
    from engineroom.teach import handouts, practice

    for master in sorted(paths.root().glob("notebooks/exercises/*.md")):
        practice.write(master, folder / "exercises" / f"{master.stem}.ipynb")
    settings = yaml.safe_load((paths.root() / "_config.yml").read_text(encoding="utf-8"))
    url = settings.get("repository", {}).get("url", "")
    is_released = url.startswith("https://github.com/") and "/OWNER/" not in url
    wheels = f"{url}/releases/expanded_assets/v{engineroom.__version__}" if is_released else ""
    for notebook in folder.rglob("*.ipynb"):
        handouts.say_what_to_install(notebook, handouts.install_cell(wheels=wheels))


def complaints(said: list[str]) -> str:
    """The end of what Sphinx said, then what it complained about: the last lines are those that are read."""
    lines = [_ESCAPES.sub("", line).rstrip() for line in said]
    named = [line for line in lines if re.search(r"WARNING|ERROR|Error|Exception|CRITICAL", line)]
    return "\n".join([*lines[-40:], "", *named, *_on_stderr()])


def _on_stderr() -> list[str]:
    """What cells wrote to stderr. Sphinx says only that they did."""
    lines = []
    for path in sorted(paths.root().glob("_build/.jupyter_cache/executed/*/base.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            begins = "".join(cell["source"]).partition("\n")[0]
            for output in cell.get("outputs", []):
                if output.get("name") == "stderr":
                    lines += [f"stderr of the cell that begins with {begins!r}:", "".join(output["text"])]
    return lines


def serve(port: int = 8000) -> None:
    """Serve `_build/html` on 127.0.0.1 until Ctrl-C; take the next free port when `port` is taken."""
    handler = functools.partial(_Quiet, directory=str(paths.root() / "_build" / "html"))
    for candidate in range(port, port + 20):
        with contextlib.suppress(OSError):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
            break
    else:
        raise EngineRoomError(
            f"ports {port} to {port + 19} are taken",
            remedy="stop what listens there, or open _build/html/book/index.html",
        )
    print(f"http://127.0.0.1:{candidate}/book/index.html  (Ctrl-C stops)", flush=True)
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def lab() -> None:
    """Open JupyterLab on loopback with text notebooks shown as notebooks, by the same settings as Binder."""
    root = paths.root()
    settings = Path(sys.prefix) / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / ".binder" / "overrides.json", settings / "overrides.json")
    command = [sys.executable, "-m", "jupyter", "lab", "--ip=127.0.0.1", "--ServerApp.root_dir=."]
    if os.geteuid() == 0:  # as in most containers; Jupyter refuses root unless told
        command.append("--allow-root")
    with contextlib.suppress(KeyboardInterrupt):
        done = subprocess.run([*command, "--LabApp.default_url=/lab/tree/notebooks"], cwd=root, check=False)
        if done.returncode:
            raise EngineRoomError(
                f"JupyterLab ended with exit code {done.returncode}",
                remedy="read what it said above; `make lab` starts it again",
            )


@click.command()
@click.argument("what", type=click.Choice(["build", "read", "serve", "lab"]))
def _main(what: str) -> None:
    try:
        if what in ("build", "read"):
            build(is_executed=what == "build")
        elif what == "serve":
            serve()
        else:
            lab()
    except EngineRoomError as error:
        click.echo(files.visible(f"engineroom: {error}"), err=True)
        sys.exit(1)


if __name__ == "__main__":
    with children.ending_with_us():
        _main()
