"""Read the words of the command; where they are wrong, one line says so."""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from repair import MAIL


def asked_mail(about: str | None) -> str:
    """Return the text of the e-mail that was asked for; the example's own where none was."""
    parser = ArgumentParser(usage=SUPPRESS, description=about, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="an e-mail, in UTF-8")
    file = parser.parse_args().file
    try:
        return MAIL if file is None else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        parser.error(str(error))
