"""Tell for each format which texts are of it: as a language where a pattern can say it, else with a check beside it.

One meaning serves every draft, though the earlier ones name fewer formats. Where a later draft names another source
(RFC 5322, then 5321, for mail addresses), the latest one decides; the official test suite asks the same of all drafts.

Source: JSON Schema 2020-12, Validation, section 7.3; the same section of the drafts before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce

from commitgate.automaton.formats import addresses, dates, hosts, mail, pointers, uris
from commitgate.automaton.formats.ecma_pattern import is_ecma_pattern
from commitgate.automaton.formats.stored import language_of as stored_language
from commitgate.automaton.formats.tables import TABLES
from commitgate.automaton.regex import pattern_language
from commitgate.automaton.text_language import TextLanguage, labelled, of_lengths

_HEXADECIMAL = "[0-9A-Fa-f]"
_UUID = f"{_HEXADECIMAL}{{8}}(?:-{_HEXADECIMAL}{{4}}){{3}}-{_HEXADECIMAL}{{12}}"


@dataclass(frozen=True, slots=True)
class _Format:
    """Say what a format is.

    Attributes:
        pattern: the whole text matches it; None where no pattern comes near.
        also: further patterns that the whole text matches, which meet each other first.
        most: most characters of a text.
        check: what else must hold; None where the language says it all.
        risky: a pattern of the texts for which the check may fail; None where any may.
    """

    pattern: str | None
    also: tuple[str, ...] = ()
    most: int | None = None
    check: Callable[[str], bool] | None = None
    risky: str | None = None


_FORMATS = {
    "date": _Format(dates.DATE),
    "date-time": _Format(dates.DATE_TIME),
    "duration": _Format(dates.DURATION),
    "email": _Format(mail.EMAIL, also=mail.SHORT_LOCAL_PART, most=mail.MAX_ADDRESS_OCTETS),
    "hostname": _Format(
        hosts.HOSTNAME, most=hosts.MAX_NAME_LENGTH, check=hosts.is_hostname, risky=hosts.A_LABEL_SOMEWHERE
    ),
    "idn-email": _Format(
        mail.IDN_EMAIL,
        also=mail.SHORT_LOCAL_PART,
        most=mail.MAX_ADDRESS_OCTETS,
        check=mail.has_legal_length,
        risky=hosts.MORE_THAN_ASCII,
    ),
    "idn-hostname": _Format(
        hosts.IDN_HOSTNAME,
        most=hosts.MAX_NAME_LENGTH,
        check=hosts.is_idn_hostname,
        risky=f"{hosts.A_LABEL_SOMEWHERE}|{hosts.MORE_THAN_ASCII}",
    ),
    "ipv4": _Format(addresses.IPV4),
    "ipv6": _Format(addresses.IPV6),
    "iri": _Format(uris.IRI),
    "iri-reference": _Format(uris.IRI_REFERENCE),
    "json-pointer": _Format(pointers.JSON_POINTER),
    "regex": _Format(None, check=is_ecma_pattern),
    "relative-json-pointer": _Format(pointers.RELATIVE_JSON_POINTER),
    "time": _Format(dates.TIME),
    "uri": _Format(uris.URI),
    "uri-reference": _Format(uris.URI_REFERENCE),
    "uri-template": _Format(uris.URI_TEMPLATE),
    "uuid": _Format(_UUID),
}

FORMATS = frozenset(_FORMATS)
"""The formats that are known. Any other name is an annotation."""


def format_language(name: str) -> TextLanguage | None:
    """Return a language that holds every text of the format; the format itself where ``format_is_exact`` says so.

    Args:
        name: one of ``FORMATS``.

    Returns:
        None where nothing less than every text would do (``regex``).

    Raises:
        KeyError: the format is not known.
    """
    return _language(name)


def format_sublanguage(name: str) -> TextLanguage | None:
    """Return a language that holds texts of the format alone: all of them where ``format_is_exact`` says so.

    It serves where a text is yet to be written: what is written by it needs no check. It leaves out host names with an
    A-label, internationalised names and addresses that are not ASCII, and says None for ``regex``.

    Raises:
        KeyError: the format is not known.
    """
    return _sublanguage(name)


def format_is_exact(name: str) -> bool:
    """Return whether ``format_language`` holds the texts of the format and no others. Raises: KeyError."""
    return _FORMATS[name].check is None


def format_matches(name: str, text: str) -> bool:
    """Return whether the text is of the format.

    Raises:
        KeyError: the format is not known.
    """
    language = _language(name)
    check = _FORMATS[name].check
    return (language is None or language.contains(text)) and (check is None or check(text))


@cache
def _language(name: str) -> TextLanguage | None:
    if _FORMATS[name].pattern is None:
        return None
    return labelled(stored_language(TABLES[name]), f"texts of the format {name}")


def made_language(name: str) -> TextLanguage:
    """Return the language that the patterns of a format say; the table of the format was written from it.

    Raises:
        KeyError: the format is not known.
    """
    known = _FORMATS[name]
    assert known.pattern is not None
    found = _whole(known.pattern)
    if known.also:
        found = _both(found, reduce(_both, map(_whole, known.also)))
    return found if known.most is None else _both(found, of_lengths(0, known.most))


@cache
def _sublanguage(name: str) -> TextLanguage | None:
    known = _FORMATS[name]
    found = _language(name)
    if found is None or known.check is None or known.risky is None:
        return None if known.check else found
    (rest,) = found.without(_whole(known.risky))
    return rest


def _whole(pattern: str) -> TextLanguage:
    found = pattern_language(f"^(?:{pattern})$")
    assert found is not None
    return found


def _both(one: TextLanguage, other: TextLanguage) -> TextLanguage:
    found = one.meet(other)
    assert found is not None
    return found


__all__ = ["FORMATS", "format_is_exact", "format_language", "format_matches", "format_sublanguage", "made_language"]
