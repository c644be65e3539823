"""Spell URIs, IRIs and URI templates as patterns.

An IRI is a URI with more characters at four places, so one grammar makes both. Schemes' own rules (a host for http,
say) are not part of it, nor are the bidi recommendations for IRIs.

Source: RFC 3986, appendix A; RFC 3987, section 2.2; RFC 6570, sections 2.1 to 2.4, with the
apostrophe that its errata add to the literals.
"""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.automaton.formats.addresses import IPV6

_UNRESERVED = "A-Za-z0-9._~"
_SUB_DELIMITERS = "!$&'()*+,;="
_ENCODED = "%[0-9A-Fa-f]{2}"
_LAST_PLANES = tuple((plane << 16, (plane << 16) + 0xFFFD) for plane in range(1, 14))


def _class_of(ranges: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


UCS_CHARACTERS = _class_of(
    ((0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF), *_LAST_PLANES, (0xE1000, 0xEFFFD)),
)
PRIVATE_CHARACTERS = _class_of(((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)))


def _one_of(characters: str) -> str:
    """Return the pattern of one of these or of an encoded octet; the hyphen of every such class stands last."""
    return f"(?:[{characters}-]|{_ENCODED})"


@dataclass(frozen=True, slots=True)
class _Grammar:
    """Make the productions of RFC 3986.

    Attributes:
        more: what a class may hold besides ASCII, everywhere.
        more_in_query: what it may hold besides that, in the query.
    """

    more: str = ""
    more_in_query: str = ""

    @property
    def plain(self) -> str:
        return _UNRESERVED + _SUB_DELIMITERS + self.more

    @property
    def segments(self) -> str:
        return f"(?:/{_one_of(self.plain + ':@')}*)*"

    @property
    def authority(self) -> str:
        future = f"[Vv][0-9A-Fa-f]+\\.[{_UNRESERVED}{_SUB_DELIMITERS}:-]+"
        literal = f"\\[(?:{IPV6}|{future})\\]"
        return f"(?:{_one_of(self.plain + ':')}*@)?(?:{literal}|{_one_of(self.plain)}*)(?::[0-9]*)?"

    def tail(self, first_segment: str) -> str:
        """Return the part after the scheme; ``first_segment`` is how a path without authority or slash begins."""
        character = _one_of(self.plain + ":@")
        rooted = f"/(?:{character}+{self.segments})?"
        path = f"(?://{self.authority}{self.segments}|{rooted}|{first_segment}+{self.segments})?"
        query = f"(?:\\?{_one_of(self.plain + ':@/?' + self.more_in_query)}*)?"
        return f"{path}{query}(?:#{_one_of(self.plain + ':@/?')}*)?"

    @property
    def absolute(self) -> str:
        return "[A-Za-z][A-Za-z0-9+.-]*:" + self.tail(_one_of(self.plain + ":@"))

    @property
    def reference(self) -> str:
        # A first segment with a colon would read as a scheme: it may hold one only behind a scheme.
        return f"(?:{self.absolute}|{self._relative})"

    @property
    def _relative(self) -> str:
        return self.tail(_one_of(self.plain + "@"))


URI = _Grammar().absolute
URI_REFERENCE = _Grammar().reference
IRI = _Grammar(UCS_CHARACTERS, PRIVATE_CHARACTERS).absolute
IRI_REFERENCE = _Grammar(UCS_CHARACTERS, PRIVATE_CHARACTERS).reference

_LITERAL = f"(?:[!#$&'()*+,./0-9:;=?@A-Z\\[\\]_a-z~{UCS_CHARACTERS}{PRIVATE_CHARACTERS}-]|{_ENCODED})"
_NAME_CHARACTER = f"(?:[A-Za-z0-9_]|{_ENCODED})"
_NAME = f"{_NAME_CHARACTER}(?:\\.?{_NAME_CHARACTER})*"
_VARIABLE = f"{_NAME}(?::[1-9][0-9]{{0,3}}|\\*)?"
_EXPRESSION = f"\\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\\}}"

URI_TEMPLATE = f"(?:{_LITERAL}|{_EXPRESSION})*"


__all__ = ["IRI", "IRI_REFERENCE", "UCS_CHARACTERS", "URI", "URI_REFERENCE", "URI_TEMPLATE"]
