"""Know where a server is found: one base URL, however its caller wrote it.

Source: RFC 3986, section 3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from commitgate.argument import check_text
from commitgate.errors import MisuseError
from commitgate.harmless import harmless

_VERSION = re.compile(r"v[0-9]+[a-z0-9.]*")
_UNSEEN = re.compile(r"[\x00-\x20\x7f]")
_HOST = re.compile(r"[\w.~:%\[\]-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseUrl:
    """Hold one base URL.

    Attributes:
        origin: scheme, host and port, as ``https://host:8443``.
        path: path without a slash at its end; empty for the root.
        query: goes with every request; empty where there is none.
    """

    origin: str
    path: str = ""
    query: str = field(default="", repr=False)

    @staticmethod
    def of(text: str, *, segment: str | None, named: str = "base_url") -> BaseUrl:
        """Read a base URL.

        Args:
            text: as the caller wrote it.
            segment: the part of the path that may be left out, as ``v1``. It is put in where no part of the path says a
                version, as ``v1beta`` and ``v4`` do, and no query says ``api-version``.
            named: what to call it in messages: the argument or the variable that it came from.

        Raises:
            MisuseError: it is none, or holds a user, a password or a fragment. The message shows none of these.
        """
        check_text(named, text)
        text = text.strip()
        # Besides what ends a line, what would be shown as something else than it is.
        if _UNSEEN.search(text) or harmless(text) != text:
            raise MisuseError(f"{named} must be one URL, found white space or a control character in it")
        parts = _parts(text, named)
        if "\\" in parts.path or not {".", ".."}.isdisjoint(parts.path.split("/")):
            raise MisuseError(f"{named} must name its path as it is, without backslashes and steps up")
        path = "/" + "/".join(part for part in parts.path.split("/") if part)
        path = path.rstrip("/")
        has_version = any(map(_VERSION.fullmatch, path.split("/"))) or "api-version" in parts.query
        if segment and not has_version:
            path = f"{path}/{segment}"
        return BaseUrl(origin=_origin(parts, named), path=path, query=parts.query)

    @property
    def shown(self) -> str:
        """Return it as it may be shown: without its query."""
        return self.origin + self.path

    def url(self, path: str) -> str:
        """Return the URL of a request.

        Args:
            path: path below the base URL, with a query where there is one, beginning with ``/``; one that begins with
                ``//`` is taken from the root of the server.

        Raises:
            MisuseError: the base URL ends with that path already.
        """
        below, _, query = path.partition("?")
        queries = "&".join(part for part in (self.query, query) if part)
        if below.startswith("//"):
            found = self.origin + below[1:]
        else:
            found = self.shown + below
            if len(below) > 1 and f"{self.path}/".endswith(f"{below}/"):
                raise MisuseError(f"base_url must not hold the path of a request; leave out {below} of {self.shown}")
        return f"{found}?{queries}" if queries else found


def _parts(text: str, named: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        # What the parser says quotes the text, user and password included.
        raise MisuseError(f"{named} must be a URL as http://host:8000/v1, found one that cannot be read") from None
    if parts.username is not None or parts.password is not None:
        raise MisuseError(f"{named} must not hold a user or a password; give api_key, and leave them out of the URL")
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.netloc else parts.path
    if parts.scheme not in ("http", "https"):
        wanted = "must begin with http:// or https://"
        raise MisuseError(f"{named} {wanted}, found {text.partition('?')[0].rpartition('@')[2][:_MOST_SHOWN]!r}")
    if not parts.hostname or not _HOST.fullmatch(parts.netloc):
        raise MisuseError(f"{named} must name a host, found {shown[:_MOST_SHOWN]!r}")
    if port == 0:
        raise MisuseError(f"{named} must name a port that can be reached, found {shown[:_MOST_SHOWN]!r}")
    if parts.fragment:
        raise MisuseError(f"{named} must not hold a fragment, found one behind {shown[:_MOST_SHOWN]!r}")
    return parts


_MOST_SHOWN = 200


def _origin(parts: SplitResult, named: str) -> str:
    host = parts.hostname or ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            raise MisuseError(f"{named} must name a host that DNS can, found {parts.netloc[:_MOST_SHOWN]!r}") from None
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{host}{port}"


__all__ = ["BaseUrl"]
