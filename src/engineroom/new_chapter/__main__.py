"""`make chapter WORD=...`."""

from __future__ import annotations

import argparse
import sys

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.new_chapter import new_chapter


def main(arguments: list[str] | None = None) -> int:
    """Write the rooms and say what is where and what comes next; 1 and a message when nothing was written."""
    parser = argparse.ArgumentParser(prog="make chapter", description="Write the empty rooms of a chapter.")
    parser.add_argument("word", help="the chapter's name in every room, such as group_commit")
    parser.add_argument("--title", default="", help="of a chapter that is not declared yet")
    parser.add_argument(
        "--question", default="", help="what a DBA asks, of a chapter that is not declared yet"
    )
    given = parser.parse_args(arguments)
    try:
        made, changed = new_chapter(paths.root(), given.word, title=given.title, question=given.question)
    except EngineRoomError as error:
        print(f"make chapter: {error}", file=sys.stderr)
        return 1
    print("\n".join([f"wrote {name}" for name in made] + [f"changed {name}" for name in changed]))
    print(
        f"{given.word} is begun: its page is in the contents and says so. `make book` builds it. When it is written, set its state "
        "to written in src/engineroom/chapters.toml and give it its place on the reading paths."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
