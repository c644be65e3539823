"""Build the docs as a site, or serve it: ``python docs/site/build.py [--out FOLDER] [--serve]``.

Nothing is fetched. The build fails where a link between pages or to a place in one leads nowhere.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from navigation import as_toml, navigation
from staging import CODE, ROOT, SETTINGS, stage


def lay_ready(out: Path) -> Path:
    """Write pages and settings into a folder, and return the file of settings."""
    out.mkdir(parents=True, exist_ok=True)
    stage(out / "site-pages")
    settings = (SETTINGS / "zensical.toml").read_text(encoding="utf-8")
    for empty, filled in (
        ("nav = []", as_toml(navigation())),
        ("paths = []", json.dumps([str(folder) for folder in CODE])),
    ):
        assert settings.count(f"\n{empty}\n") == 1, empty
        settings = settings.replace(empty, f"{empty.removesuffix('[]')}{filled}")
    path = out / "zensical.toml"
    path.write_text(settings, encoding="utf-8")
    return path


def main() -> None:
    """Lay the pages ready and go on as zensical."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build", help="the folder that `site` is written into")
    parser.add_argument("--serve", action="store_true", help="serve on port 8000 of this machine, until Ctrl-C")
    options = parser.parse_args()
    out = options.out.resolve()
    settings = lay_ready(out)
    shutil.rmtree(out / "site", ignore_errors=True)
    task = ["serve"] if options.serve else ["build", "--clean", "--strict"]
    command = [sys.executable, "-m", "zensical", *task, "--config-file", str(settings)]
    sys.stdout.flush()
    # In place of this program: whoever ends it ends the server.
    os.execve(sys.executable, command, os.environ | {"NO_COLOR": "1"})


if __name__ == "__main__":
    main()
