"""Read the words of the command; where they are wrong, one line says so."""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter


def asked_port(about: str | None) -> int:
    """Return the port that was asked for."""
    parser = ArgumentParser(usage=SUPPRESS, description=about, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("port", nargs="?", type=int, metavar="PORT", default=8000, help="0 takes a free one")
    port = parser.parse_args().port
    if not 0 <= port <= 65_535:
        parser.error(f"PORT must be from 0 to 65535, found {port}")
    return port
