"""Know the key that opens a server, and show it to nobody else."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TypeAlias

from commitgate.argument import wrong_kind
from commitgate.backends.dialect import KeyHeader, ServerFacts
from commitgate.cancellation import is_cancellation, is_interrupt, must_go_on
from commitgate.errors import MisuseError

KeySource: TypeAlias = str | Callable[[], Awaitable[str]]
"""A key, or an async function that gives one."""

_VISIBLE = re.compile(r"[\x21-\x7e]+")


class KeyUnavailableError(Exception):
    """Raised where a key that is asked for anew each time cannot be had; it ends the attempt as a fault of ``auth``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """Hold a key, or how to ask for one.

    Attributes:
        source: the key, or an async function that gives one, asked before each request; None where there is none.
        header: where it goes.
    """

    source: KeySource | None = field(repr=False)
    header: KeyHeader

    @staticmethod
    def of(given: KeySource | None, facts: ServerFacts, *, environment: Mapping[str, str]) -> ApiKey:
        """Return the key that was given, else the first one that the environment holds.

        Args:
            given: by the caller; None where it gave none.
            facts: say where keys stand and go.
            environment: the process's variables.

        Raises:
            MisuseError: it is no key, or there is none and the server needs one.
        """
        if given is not None:
            if isinstance(given, str):
                return ApiKey(source=_checked(given, "api_key"), header=facts.key_header)
            if not callable(given):
                raise wrong_kind("api_key", "a str or an async function that gives one", given)
            return ApiKey(source=given, header=facts.key_header)
        for variable in facts.key_variables:
            if environment.get(variable):
                return ApiKey(source=_checked(environment[variable], variable), header=facts.key_header)
        if facts.needs_key:
            variables = " or ".join(facts.key_variables)
            raise MisuseError(f"{facts.title} needs a key: give api_key, or set the environment variable {variables}")
        return ApiKey(source=None, header=facts.key_header)

    @property
    def field_name(self) -> str:
        """Return the name of the header field that it goes into, in lower case."""
        return "authorization" if self.header == "bearer" else self.header

    async def fields(self) -> dict[str, str]:
        """Return the header field of one request; empty where there is no key.

        Raises:
            KeyUnavailableError: the function that gives it raised, or gave what is no key.
        """
        if self.source is None:
            return {}
        key = self.source if isinstance(self.source, str) else await self._asked(self.source)
        return {self.field_name: f"Bearer {key}" if self.header == "bearer" else key}

    async def _asked(self, source: Callable[[], Awaitable[str]]) -> str:
        try:
            asked: object = source()
            found: object = await asked if isawaitable(asked) else asked
            return _checked(found, "what api_key() gives")
        except BaseException as error:
            if must_go_on(error) or is_interrupt(error):
                raise
            # What it says may hold the key, so it is left out of the chain and of the words.
            if isinstance(error, MisuseError):
                raise KeyUnavailableError(str(error)) from None
            kind = "a cancellation" if is_cancellation(error) else type(error).__name__
            raise KeyUnavailableError(f"the function that gives the key raised {kind}") from None


def _checked(key: object, named: str) -> str:
    if not isinstance(key, str):
        raise wrong_kind(named, "a str", key)
    if not key:
        raise MisuseError(f"{named} is empty; leave it out where the server needs no key")
    if not _VISIBLE.fullmatch(key):
        raise MisuseError(f"{named} must be visible ASCII characters alone; it holds white space or something else")
    return key


__all__ = ["ApiKey", "KeySource", "KeyUnavailableError"]
