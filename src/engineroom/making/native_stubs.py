"""Writes the type stubs of the native module from the module itself: `python -m engineroom.making.native_stubs`.

They are made with the module and not kept in git; mypy and editors read them.
"""

from __future__ import annotations

import enum
import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from engineroom import paths

__all__ = ["STUBS", "write"]

MODULE = "engineroom._native"
STUBS = Path("src/engineroom/_native")  # under the root of the repository


def write(target: Path) -> None:
    """Write the stubs of all submodules into the folder `target`, formatted."""
    with tempfile.TemporaryDirectory() as scratch:
        _run("pybind11_stubgen", MODULE, "--exit-code", "--output-dir", scratch)
        written = sorted(Path(scratch, *MODULE.split(".")).glob("*.pyi"))
        target.mkdir(parents=True, exist_ok=True)
        for stub in written:
            # A pointer that may be null is an argument that may be None, which pybind11 does not say.
            text = re.sub(r": (\w+) = None", r": \1 | None = None", _with_enum_values(stub))
            # Nor does it say what is in a dict or a list that C++ takes or gives as such.
            text = re.sub(
                r"(?<=[:>|] )dict(?= |:|,|\)|$)", "dict[typing.Any, typing.Any]", text, flags=re.MULTILINE
            )
            text = re.sub(r"(?<=[:>|] )list(?= |:|,|\)|$)", "list[typing.Any]", text, flags=re.MULTILINE)
            text = re.sub(
                r"collections\.abc\.Callable(?!\[)", "collections.abc.Callable[..., typing.Any]", text
            )
            (target / stub.name).write_text(text.replace("= list()\n", "= []\n"))
    config = str(paths.root() / "pyproject.toml")
    _run("ruff", "check", "--quiet", "--fix", "--config", config, str(target))
    _run("ruff", "format", "--quiet", "--config", config, str(target))


def _with_enum_values(stub: Path) -> str:
    """The stub's text with its enums as mypy wants them: members with values, and nothing that Enum has anyway."""
    name = MODULE if stub.stem == "__init__" else f"{MODULE}.{stub.stem}"
    module = importlib.import_module(name)

    def members(match: re.Match[str]) -> str:
        found = getattr(module, match["name"])
        assert issubclass(found, enum.Enum)
        values = "".join(f"    {member.name} = {member.value}\n" for member in found)
        return f'class {match["name"]}(enum.IntEnum):\n    """{found.__doc__}"""\n{values}'

    return re.sub(r"class (?P<name>\w+)\(enum\.IntEnum\):\n(?:    .*\n|\n)+", members, stub.read_text())


def _run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


if __name__ == "__main__":
    write(paths.root() / STUBS)
