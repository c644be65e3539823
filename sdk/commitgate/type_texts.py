"""Spell the texts from which pydantic makes values, where its JSON Schema says less than its validator asks.

Each pattern stands beside a format, or in its place. They are ordinary ECMA-262 patterns: every reader of the schema
understands them.

Source: RFC 3339 and ISO 8601 (as the formats of JSON Schema take them), RFC 4648 (base64), RFC 9562 (UUID),
WHATWG URL (which pydantic parses URLs by), RFC 4632 (IPv4 prefixes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from commitgate.json_value import JsonObject

_YEAR = "[0-9]*[1-9][0-9]*-"
_DAY = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"

DATE = f"^{_YEAR}"
"""Python's years begin with 1."""

DATE_TIME = f"^{_YEAR}.{{11}}:[0-5]"
"""Python's clock has no second of 60."""

TIME = "^.{5}:[0-5]"

NAIVE_TIME = f"^{_CLOCK}$"

NAIVE_DATE_TIME = f"^(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{{2}}|[1-9][0-9]{{3}})-{_DAY}T{_CLOCK}$"
"""The 29th of February is left out: a date-time without a zone has no format to meet with."""

DURATION = "^[^0-9]*(?:[0-9]{1,6}[^0-9]+)*$"
"""Python's durations end near 2.7 million years."""

LONGER_THAN_NOTHING = "[1-9]"

ASCII = r"^[\u0000-\u007f]*$"
BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
BASE64_URL = "^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?$"

_1, _2, _3 = "[A-Za-f]", "[A-HQ-Xg-nw-z0-3]", "[ABEFIJMNQRUVYZcdghklopstwx014589]"
"""The first three digits of four, where each byte is ASCII: its highest bit is 0."""


def _text_in_base64(last: str) -> str:
    return f"^(?:{_1}{_2}{_3}{last})*(?:{_1}{_2}==|{_1}{_2}{_3}=)?$"


TEXT_IN_BASE64: Mapping[str, str] = MappingProxyType(
    {"base64": _text_in_base64("[A-Za-z0-9+/]"), "base64url": _text_in_base64("[A-Za-z0-9_-]")}
)
"""Patterns of ASCII texts in base64, by format; which other bytes are UTF-8 would take far more."""

HEXADECIMAL = "^(?:[0-9A-Fa-f]{2})*$"
BYTE_SIZE = "^[0-9]{1,12}(?:B|[KMGTP]i?B)?$"
FRACTION = "^-?[0-9]{1,15}(?:/0*[1-9][0-9]{0,14})?$"

_BLANK = r"\s\u001c-\u001f\u0085"
STRIPPED = rf"^[^{_BLANK}](?:[^]*[^{_BLANK}])?$"
STRIPPED_OR_EMPTY = rf"^(?:[^{_BLANK}](?:[^]*[^{_BLANK}])?)?$"

INTEGER_KEY = "^(?:0|-?[1-9][0-9]{0,14})$"
"""One spelling for each number: two keys must not become one."""

DECIMAL_KEY = r"^(?:0|-?[1-9][0-9]{0,8}|-?(?:0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9])$"
LOWER_CASE = "^[^A-Z]*$"
UNQUOTED = "^[^']*$"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_LABEL = "[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"
_NAME = rf"(?:{_LABEL}\.)*[A-Za-z](?:[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)"
_PORT = "(?::[1-9][0-9]{0,3})?"
_AUTHORITY = f"(?:{_NAME}|{_IPV4}){_PORT}(?:[/?#]|$)"
_URI_WITHOUT_HOST = "(?:mailto|urn|tel):[A-Za-z0-9]"


def url(schemes: Iterable[str] | None) -> str:
    """Return the pattern of URLs that pydantic parses: a name or an IPv4 address as host, and no user.

    Args:
        schemes: those allowed; None allows any, and ``mailto:``, ``urn:`` and ``tel:`` without a host.
    """
    if schemes is None:
        return f"^(?:[A-Za-z][A-Za-z0-9+.-]*://{_AUTHORITY}|{_URI_WITHOUT_HOST})"
    words = sorted(scheme.replace("+", r"\+").replace(".", r"\.") for scheme in schemes)
    if words == ["file"]:
        return "^file:///[^/]"
    return f"^(?:{'|'.join(words)})://{_AUTHORITY}"


def _uuid(version: int) -> JsonObject:
    return {"type": "string", "format": "uuid", "pattern": f"^.{{14}}{version}.{{4}}[89ABab]"}


def _ipv4_network() -> str:
    """Return the pattern of IPv4 networks: no bit is set behind the prefix."""
    found = [_IPV4 + "(?:/32)?"]
    for prefix in range(32):
        whole, bits = divmod(prefix, 8)
        parts = [_OCTET] * whole
        if bits:
            parts.append(f"(?:{'|'.join(str(octet) for octet in range(0, 256, 1 << (8 - bits)))})")
        parts += ["0"] * (4 - len(parts))
        found.append("\\.".join(parts) + f"/{prefix}")
    return f"^(?:{'|'.join(found)})$"


NARROWED: Mapping[str, JsonObject] = MappingProxyType(
    {
        **{f"uuid{version}": _uuid(version) for version in range(1, 9)},
        "base64": {"type": "string", "pattern": BASE64},
        "base64url": {"type": "string", "pattern": BASE64_URL},
        "ipv4network": {"type": "string", "pattern": _ipv4_network()},
        "ipv4interface": {"type": "string", "pattern": f"^{_IPV4}(?:/(?:3[0-2]|[12]?[0-9]))?$"},
        "ipvanyaddress": {"anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}]},
    }
)
"""What stands for a format that pydantic alone knows."""

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "regex": "which texts Python's regular expressions are cannot be written as a schema",
        "zoneinfo": "which time zones there are depends on the machine",
        "file-path": "which files there are depends on the machine",
        "directory-path": "which folders there are depends on the machine",
        "ipv6network": "which IPv6 networks have no host bits set cannot be written as a schema; use str",
        "ipv6interface": "which texts are an IPv6 address with a prefix is not written out; use IPv6Address",
        "ipvanynetwork": "which IPv6 networks have no host bits set cannot be written as a schema; use IPv4Network",
        "ipvanyinterface": "which texts are an IPv6 address with a prefix is not written out; use IPv4Interface",
    }
)
"""Formats that pydantic alone knows and that no schema can narrow to what it takes, each with the reason."""

__all__ = [
    "ASCII",
    "BASE64",
    "BASE64_URL",
    "BYTE_SIZE",
    "DATE",
    "DATE_TIME",
    "DECIMAL_KEY",
    "DURATION",
    "FRACTION",
    "HEXADECIMAL",
    "INTEGER_KEY",
    "LONGER_THAN_NOTHING",
    "LOWER_CASE",
    "NAIVE_DATE_TIME",
    "NAIVE_TIME",
    "NARROWED",
    "REFUSED",
    "STRIPPED",
    "STRIPPED_OR_EMPTY",
    "TEXT_IN_BASE64",
    "TIME",
    "UNQUOTED",
    "url",
]
