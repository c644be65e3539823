"""Spell mail addresses as patterns.

The domain's labels keep the limit of the domain name system. Of the address literals only those of a registered kind
are legal: IPv4 and IPv6. The limits that no short pattern can say stand beside them: 64 octets before the last ``@``,
254 octets in all, since a path of 256 octets has two brackets.

Source: RFC 5321, sections 4.1.2, 4.1.3 and 4.5.3.1; RFC 6531, section 3.3.
"""

from __future__ import annotations

from commitgate.automaton.formats.addresses import ipv6
from commitgate.automaton.formats.hosts import HOSTNAME, IDN_MAIL_DOMAIN

MAX_LOCAL_OCTETS = 64
MAX_ADDRESS_OCTETS = 254

_NOT_ASCII = "\u0080-\U0010ffff"
_ATOM_CHARACTERS = "A-Za-z0-9!#$%&'*+/=?^_`{|}~"
# Unlike elsewhere, zeros may lead: the rule is one to three digits.
_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_LITERAL = f"\\[(?:{_IPV4}|[Ii][Pp][Vv]6:{ipv6(_IPV4, least_elided=2)})\\]"


def _mailbox(more: str, domain: str) -> str:
    """Return the pattern of an address; ``more`` is what a class before the ``@`` may hold besides ASCII."""
    atom = f"[{_ATOM_CHARACTERS}{more}-]+"
    quoted = rf'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    return rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{domain}|{_LITERAL})"


EMAIL = _mailbox("", HOSTNAME)
IDN_EMAIL = _mailbox(_NOT_ASCII, IDN_MAIL_DOMAIN)
# Only the part before the last ``@`` may hold another one. That no counter is left behind it shows in the second
# pattern alone, so these two must meet before they meet the address: 200 states, not 17,000.
SHORT_LOCAL_PART = (f"[^]{{1,{MAX_LOCAL_OCTETS}}}@[^@]*", r'(?:[^"@]*|"(?:[^"\\]|\\[^])*")@[^"@]*')


def has_legal_length(text: str) -> bool:
    """Return whether an address of the language ``IDN_EMAIL`` keeps its limits in octets."""
    local, _, _ = text.rpartition("@")
    return len(local.encode()) <= MAX_LOCAL_OCTETS and len(text.encode()) <= MAX_ADDRESS_OCTETS


__all__ = ["EMAIL", "IDN_EMAIL", "MAX_ADDRESS_OCTETS", "MAX_LOCAL_OCTETS", "SHORT_LOCAL_PART", "has_legal_length"]
