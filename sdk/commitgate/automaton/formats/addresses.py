"""Spell network addresses as patterns.

Source: RFC 3986, section 3.2.2 (dec-octet, IPv6address; the forms of RFC 4291, section 2.2, without a zone).
"""

from __future__ import annotations

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_GROUP = "[0-9A-Fa-f]{1,4}"
_GROUPS = 8

IPV4 = rf"(?:{_OCTET}(?:\.{_OCTET}){{3}})"


def _groups(count: int) -> str:
    return f"{_GROUP}(?::{_GROUP}){{{count - 1}}}" if count > 1 else _GROUP * count


def _up_to(most: int) -> str:
    """Return the pattern of 0 to ``most`` groups with colons between."""
    return f"(?:{_GROUP}(?::{_GROUP}){{0,{most - 1}}})?" if most else ""


def ipv6(ipv4: str, least_elided: int) -> str:
    """Return the pattern of an IPv6 address.

    Args:
        ipv4: the pattern of an IPv4 address in place of the last two groups.
        least_elided: how many groups ``::`` stands for at least: 1 by RFC 3986, 2 by RFC 5321.
    """
    forms = [_groups(_GROUPS), f"{_groups(_GROUPS - 2)}:{ipv4}"]
    most = _GROUPS - least_elided
    for before in range(most + 1):
        after = [_up_to(most - before)]
        if before <= most - 2:
            after.append((f"(?:{_GROUP}:){{0,{most - before - 2}}}" if before < most - 2 else "") + ipv4)
        forms.append(f"{_groups(before)}::(?:{'|'.join(after)})")
    return f"(?:{'|'.join(forms)})"


IPV6 = ipv6(IPV4, least_elided=1)


__all__ = ["IPV4", "IPV6", "ipv6"]
