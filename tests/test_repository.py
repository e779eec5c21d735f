"""The files around the code: licenses, citation, environments, and nothing in them that should not be there."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import engineroom
from engineroom import chapters, paths

ROOT = paths.root()


def tracked() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name]


def locked() -> dict[str, set[str]]:
    """Package -> versions in the lock of the tests; a package with markers has several."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements/test.txt").read_text(), re.MULTILINE
    ):
        versions.setdefault(name.lower(), set()).add(version)
    return versions


def environment(file: str = "environment.yml") -> dict[str, str]:
    """Package -> its pin in a file of conda's, "" where it has none; the pip section included."""
    listed = yaml.safe_load((ROOT / file).read_text())["dependencies"]
    from_pip = next(entry["pip"] for entry in listed if isinstance(entry, dict))
    entries = [entry for entry in listed if isinstance(entry, str)] + from_pip
    split = [re.fullmatch(r"([\w-]+?)(?:==?([\w.]+)|>=.*)?", entry) for entry in entries]
    assert all(split), entries
    return {match[1]: match[2] or "" for match in split if match}


@pytest.mark.parametrize(
    "name",
    ["LICENSE", "LICENSE-content.md", "CITATION.cff", "CONTRIBUTING.md", "CHANGELOG.md", "environment.yml",
     ".binder/apt.txt", ".binder/postBuild", ".binder/start", ".binder/overrides.json",
     ".devcontainer/devcontainer.json"],
)  # fmt: skip
def test_the_file_is_there_and_not_empty(name):
    assert (ROOT / name).read_text().strip()


def test_code_is_mit_and_the_rest_cc_by():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
    assert "SPDX-License-Identifier: `CC-BY-4.0`" in (ROOT / "LICENSE-content.md").read_text()


def test_what_the_wasm_modules_contain_of_others_is_named_with_its_licenses_and_shown_in_the_book():
    notices = (ROOT / "LICENSE-wasm.txt").read_text(encoding="utf-8")
    build = (ROOT / "native/wasm/build.sh").read_text(encoding="utf-8")
    linked = {
        "libc++-19": "libc++",
        "libc++abi-19": "libc++abi",
        "libclang-rt-19": "compiler-rt",
        "wasi-libc": "wasi-libc",
    }
    installed = set(re.findall(r"[\w+-]+(?:-dev-wasm32)|wasi-libc", build))
    assert {name.removesuffix("-dev-wasm32") for name in installed} == linked.keys()
    libraries = {name for module in chapters.modules() for name in module.libraries}
    assert libraries == {"zstd"}
    for name in (
        *linked.values(),
        *libraries,
        "Meta Platforms",
        "musl",
        "LLVM-exception",
        "Permission is hereby granted",
        "SunPro",
        "Arm Limited",
    ):
        assert name in notices, name
    assert "literalinclude} /LICENSE-wasm.txt" in (ROOT / "book/how_to_cite.md").read_text(encoding="utf-8")
    assert "(LICENSE-wasm.txt)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_citation_is_in_the_citation_file_format():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    assert all(set(author) == {"name"} for author in citation["authors"])
    assert citation["license"] == ["MIT", "CC-BY-4.0"]
    assert str(citation["version"]) == engineroom.__version__


def test_the_package_has_one_version():
    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == engineroom.__version__
    )


def test_the_changelog_begins_with_what_is_not_released():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:])


def test_every_pin_of_the_environment_is_in_the_lock():
    renamed = {"matplotlib-base": "matplotlib"}
    wrong = {
        name: (pin, locked().get(renamed.get(name, name)))
        for name, pin in environment().items()
        if pin and pin not in locked().get(renamed.get(name, name), set())
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("file", "extras"),
    [
        ("environment.yml", ("book", "lab", "build", "class")),
        (".binder/environment.yml", ("lab", "build", "class")),
    ],
)
def test_the_environment_has_all_that_is_done_in_it(file, extras):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [
        *project["dependencies"],
        *(each for extra in extras for each in project["optional-dependencies"][extra]),
    ]
    names = {re.split(r"[=<>!\[; ]", requirement)[0].lower() for requirement in needed}
    here = {"matplotlib" if name == "matplotlib-base" else name for name in environment(file)}
    assert names - here == set()
    assert {
        "python",
        "c-compiler",
        "cxx-compiler",
        "cmake",
        "ninja",
        "make",
        "mysql-server",
        "jupytext",
    } <= here


def test_binder_has_the_versions_of_the_environment():
    assert environment(".binder/environment.yml").items() <= environment().items()


def test_binder_runs_scripts_that_can_be_run():
    for name in ("postBuild", "start"):
        script = ROOT / ".binder" / name
        assert script.stat().st_mode & 0o111
        subprocess.run(["sh", "-n", str(script)], check=True)
    assert (ROOT / ".binder" / "start").read_text().rstrip().endswith('exec "$@"')


def test_text_notebooks_open_as_notebooks():
    overrides = json.loads((ROOT / ".binder" / "overrides.json").read_text())
    viewers = overrides["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]
    assert viewers["markdown"] == "Jupytext Notebook"


def test_the_development_container_is_described():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == "make book"
    image = container["image"]
    assert "/" not in image, "an official image, named without a host"
    python = re.fullmatch(r"python:3\.(\d+)-\w+", image)
    assert python
    assert 11 <= int(python[1]) <= 13


@pytest.mark.parametrize(
    ("schema", "files"),
    [("github-workflows", ".github/workflows/*.yml"), ("citation-file-format", "CITATION.cff")],
)
def test_a_file_for_a_host_is_valid_by_its_schema(schema: str, files: str):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, *sorted(ROOT.glob(files))], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheels_are_made_by_settings_that_cibuildwheels_schema_allows():
    import cibuildwheel
    import jsonschema

    schema = (Path(cibuildwheel.__file__).parent / "resources/cibuildwheel.schema.json").read_text()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    jsonschema.validate(settings, json.loads(schema))
    assert f"cibuildwheel=={cibuildwheel.__version__} " in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(("tag", "is_released"), [(f"v{engineroom.__version__}", True), ("v0.0.9", False)])
def test_a_release_has_checksums_and_what_changed_and_is_of_the_packages_version(tag, is_released, tmp_path):
    """The commands of the workflow's last job, with a `gh` that shows what it is given."""
    job = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["release"]
    (tmp_path / "gh").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "gh").chmod(0o755)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    (tmp_path / "dist").mkdir()
    made = [f"engineroom-{engineroom.__version__}-cp311-cp311-linux_x86_64.whl", "engine-room-site.zip"]
    for name in made:
        (tmp_path / "dist" / name).write_text(name)
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(f"({step['run']})" for step in job["steps"] if "run" in step)],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_REF_NAME": tag},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == is_released, done.stderr
    if is_released:
        assert [f"dist/{name}" for name in ("SHA256SUMS", *sorted(made))] == done.stdout.split()[-3:]
        sums = (tmp_path / "dist/SHA256SUMS").read_text()
        assert sorted(line.split()[1] for line in sums.splitlines()) == sorted(made)
        notes = (tmp_path / "notes.md").read_text()
        assert "### The book" in notes
        assert "\n## " not in notes


def test_every_address_that_a_page_had_leads_to_a_page():
    page = r"(?:file|root): (\S+)$"
    pages = set(re.findall(page, (ROOT / "_toc.yml").read_text(), re.MULTILINE))
    changes = subprocess.run(
        ["git", "log", "-p", "--format=", "--", "_toc.yml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    moved = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["redirects"]
    assert set(re.findall(f"^[-+].*{page}", changes, re.MULTILINE)) - pages - moved.keys() == set()
    to = {posixpath.normpath(posixpath.join(posixpath.dirname(old), new)) for old, new in moved.items()}
    assert to <= {f"{each}.html" for each in pages}


def test_no_notebook_has_outputs_and_none_is_generated():
    files = tracked()
    assert not [file for file in files if file.suffix == ".ipynb"]


@pytest.mark.parametrize("lab", sorted((ROOT / "notebooks").glob("*.md")), ids=lambda lab: lab.stem)
def test_a_lab_starts_a_server_only_where_one_can_be_had_now(lab: Path):
    """`runnable` says that a server may be fetched; a registry that refuses must cost that server alone, not the book."""
    text = lab.read_text(encoding="utf-8")
    assert "if servers.runnable" not in text
    cells = re.findall(r"^```\{code-cell\}.*?^```$", text, re.MULTILINE | re.DOTALL)
    for cell in cells:
        if "servers.start(" in cell or re.search(r"(?<![\w.])compare\(", cell):
            # The second asks the first, and shows a recording where there is none.
            assert re.search(r"\b(?:why_recorded|live_or_kept)\(", cell), cell
        for name in re.findall(r"\b(why_recorded|live_or_kept)\(", cell):
            assert re.search(rf"^from engineroom\.measuring\.choice import .*{name}", text, re.MULTILINE)


# Spelt so that this file does not find itself.
UNWANTED = {
    "a path of this machine": re.compile(
        rf"{re.escape(str(ROOT))}\b|(?<![\w.$}}])/wo" + "rk/(?:main|shared)"
    ),
    "a folder beside the repository": re.compile(r"\.\./sh" + "ared"),
    "a registry's host": re.compile(
        r"\b(?:files\.)?(?:pypi\.org|"
        + r"pythonhosted\.org|registry\.npmjs|repo1?\.maven|deb\.debian\.org|ghcr\.io|"
        r"docker\.io|quay\.io|mcr\.microsoft|conda\.anaconda\.org)"
    ),
    "a leftover of a merge": re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE),
}


@pytest.mark.parametrize("what", UNWANTED)
def test_no_tracked_file_names(what):
    found = []
    for file in tracked():
        if file.is_symlink() or not file.is_file():
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if file != Path(__file__).resolve() and (hit := UNWANTED[what].search(text)):
            found.append(f"{file.relative_to(ROOT)}: {hit[0]}")
    assert found == []


def test_every_file_is_small_enough_for_a_clone():
    large = {str(file.relative_to(ROOT)): file.stat().st_size for file in tracked() if file.is_file()}
    assert {name: size for name, size in large.items() if size > 3_000_000} == {}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_a_command_of_make_that_is_named_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", (ROOT / name).read_text(), re.MULTILINE))
    assert named
    assert named - targets == set()


@pytest.mark.parametrize("target", ["book", "test", "quick", "bench", "class", "record", "lab"])
def test_make_installs_the_package_before_it_runs_it(target: str, tmp_path: Path):
    """In a fresh clone, where no stamp is; nothing is run."""
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", f"STAMPS={tmp_path}/stamps", target],
        cwd=paths.root(),
        capture_output=True,
        text=True,
        check=True,
    )
    installed = done.stdout.index("--no-deps -e .")
    runs = re.search(
        r"^(?:exec )?(?:python -m engineroom\.(?!environment)|engineroom )", done.stdout, re.MULTILINE
    )
    assert runs is not None
    assert installed < runs.start()


# Subjects of older commits are longer and stay as they are, and so does that of one commit that recordings name.
SHORT_SINCE = "be0d9f05bc32c2eb321bf512d8d95f1620f576ca"
RECORDED = "9fb368a4bc2569e74d848fcb05daeb44733b0650"
MOST_LETTERS_OF_A_SUBJECT = 72


def test_the_subject_of_a_new_commit_is_short():
    listing = subprocess.run(
        ["git", "log", "--no-merges", "--format=%H %s", f"{SHORT_SINCE}..HEAD"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listing.returncode:
        pytest.skip("this clone's history begins later")
    subjects = dict(line.split(" ", 1) for line in listing.stdout.splitlines())
    subjects.pop(RECORDED, None)
    long = [subject for subject in subjects.values() if len(subject) > MOST_LETTERS_OF_A_SUBJECT]
    assert long == []
