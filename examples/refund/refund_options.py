"""Read the words of a command; where they are wrong, one line says so."""

from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Collection
from pathlib import Path


def options(about: str | None, mails: Collection[str] = ()) -> Namespace:
    """Return the folder that was asked for, and one of some mails where there are any."""
    parser = ArgumentParser(usage=SUPPRESS, description=about, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", nargs=None if mails else "?", default=Path())
    if mails:
        parser.add_argument("mail", choices=mails)
    chosen = parser.parse_args()
    if not chosen.folder.is_dir():
        parser.error(f"there is no folder {chosen.folder}")
    return chosen
