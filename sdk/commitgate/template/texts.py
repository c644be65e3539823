"""Let texts of a schema be a parameter: the values of an ``enum``, or one ``const``.

The texts may come from a database or a user, and a person and a model read them. So they have bounds, and hold no
character that orders a terminal about, breaks a line or hides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, cast
from unicodedata import category, normalize

from commitgate.argument import check_int, check_kind, wrong_kind
from commitgate.errors import ContractError, LimitExceededError, MisuseError, ParameterError
from commitgate.gate.hidden_characters import hidden_characters
from commitgate.json_value import JsonObject, JsonValue
from commitgate.limits import Limits
from commitgate.template.parameter import Parameter

if TYPE_CHECKING:
    from commitgate.contract import Contract

DEFAULT_CHARACTERS = 100
"""Most code points of one text where a parameter does not say."""

_BYTES = 4
_FIRST_SAMPLE = 0x20000
_SAMPLES = 40_000
"""Characters out of which samples are made; each has four bytes in UTF-8, which is the most that any has."""

_UNSEEN = frozenset({"Cc", "Co", "Cs", "Zl", "Zp"})

_Matches: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Texts(Parameter):
    """Hold the bounds of each text.

    Attributes:
        characters: most code points of a text; it has at least one.
        pattern: a regular expression that matches each text from end to end; None takes any.
    """

    _: KW_ONLY
    characters: int = DEFAULT_CHARACTERS
    pattern: str | None = None
    _language: Contract[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Parameter.__post_init__(self)
        check_int("characters", self.characters)
        if self.characters < 1:
            raise MisuseError(f"characters of the parameter {self.name} must be >= 1")
        object.__setattr__(self, "_language", None if self.pattern is None else self._read(self.pattern))

    def _read(self, pattern: str) -> Contract[str]:
        try:
            return _language_of(pattern)
        except ContractError as error:
            # The error is of one of several kinds, each with facts of its own: it stays the same one.
            error.args = (f"the pattern of the parameter {self.name}: {error}",)
            raise

    def _matcher(self) -> _Matches | None:
        if self._language is None:
            return None
        from commitgate.automaton import compile

        # Made anew each time: what it remembers of one caller's texts must not grow with those of the next.
        automaton = compile(self._language)
        return lambda text: automaton.accepts(text.encode())

    def _check(self, text: object, which: str, matches: _Matches | None) -> str:
        if not isinstance(text, str):
            raise wrong_kind(f"{which} of the parameter {self.name}", "a str", text)
        # What is looked at below is what is put into the schema, whatever a class of the caller's says of its length.
        text = str.__str__(text)
        if not 1 <= len(text) <= self.characters:
            raise ParameterError(
                self.name, f"takes texts of 1 to {self.characters} characters; {which} has {len(text)}"
            )
        if hidden_characters(text) or any(category(each) in _UNSEEN for each in text):
            raise ParameterError(
                self.name, f"takes no characters that control, break lines, hide or are private; {which} has some"
            )
        if matches is not None and not matches(text):
            raise ParameterError(self.name, f"takes texts that its pattern matches from end to end; not so {which}")
        return text

    def widest(self, keyword: str) -> JsonObject:
        """Return the schema of all texts within its bounds."""
        del keyword
        return {"type": "string", "minLength": 1, "maxLength": self.characters}

    def _bounds(self) -> JsonObject:
        return {"name": self.name, "characters": self.characters, "pattern": self.pattern}

    def _check_bytes(self, limits: Limits, texts: int) -> None:
        found = texts * self.characters * _BYTES
        if found > limits.schema_bytes:
            raise LimitExceededError(
                f"the parameter {self.name} can take {found} bytes of text, more than Limits.schema_bytes = "
                f"{limits.schema_bytes}; lower most or characters, or raise the limit",
                limit_name="schema_bytes",
                limit=limits.schema_bytes,
                found=found,
            )


@dataclass(frozen=True, slots=True)
class Text(_Texts):
    """Stand for one text: the value of ``const``.

    Args:
        name: what ``fill`` calls it.
        characters: most code points of the text; it has at least one.
        pattern: a regular expression that matches the text from end to end, as in ``Regex``; None takes any.
    """

    @property
    def keywords(self) -> frozenset[str]:
        """Return the keyword whose value it may be."""
        return frozenset({"const"})

    def value_of(self, argument: object) -> JsonValue:
        """Return the text."""
        return self._check(argument, "the text", self._matcher())

    def samples(self) -> Sequence[JsonValue]:
        """Return the shortest and the longest text."""
        return (_sample(0, 1), _sample(0, self.characters))

    def check_size(self, limits: Limits) -> None:
        """Check that its largest value is within the limits of a schema."""
        self._check_bytes(limits, 1)

    def described(self) -> JsonObject:
        """Return it as a reviewer reads it."""
        return {"kind": "text", **self._bounds()}


@dataclass(frozen=True, slots=True)
class EnumValues(_Texts):
    """Stand for the values of an ``enum``: a list of different texts. A whole template of it is one of ``Choices``.

    Args:
        name: what ``fill`` calls it.
        most: most texts.
        least: fewest texts, >= 1.
        characters: most code points of one text; it has at least one.
        pattern: a regular expression that matches each text from end to end, as in ``Regex``; None takes any.
    """

    _: KW_ONLY
    most: int
    least: int = 1

    def __post_init__(self) -> None:
        _Texts.__post_init__(self)
        check_int("most", self.most)
        check_int("least", self.least)
        if not 1 <= self.least <= self.most:
            raise MisuseError(f"the bounds of the parameter {self.name} must be 1 <= least <= most")

    @property
    def keywords(self) -> frozenset[str]:
        """Return the keyword whose value it may be."""
        return frozenset({"enum"})

    def value_of(self, argument: object) -> JsonValue:
        """Return the list of texts."""
        if isinstance(argument, str | bytes) or not isinstance(argument, Sequence):
            raise wrong_kind(f"the parameter {self.name}", "a list of str", argument)
        given = cast("Sequence[object]", argument)
        # Taken once, and no further than needed: a sequence may say another length than it has, or change meanwhile.
        found = tuple(islice(given, self.most + 1))
        if not self.least <= len(found) <= self.most:
            count = len(found) if len(found) < self.least else max(len(found), len(given))
            raise ParameterError(self.name, f"takes {self.least} to {self.most} texts, found {count}")
        matches = self._matcher()
        texts = [self._check(text, f"number {number}", matches) for number, text in enumerate(found, 1)]
        # Texts that look alike to the last dot are one choice to whoever reads them.
        seen: dict[str, int] = {}
        for number, text in enumerate(texts, 1):
            first = seen.setdefault(normalize("NFC", text), number)
            if first != number:
                raise ParameterError(self.name, f"takes different texts; numbers {first} and {number} are the same")
        return list[JsonValue](texts)

    def samples(self) -> Sequence[JsonValue]:
        """Return as few and as many texts as it takes, as long as they may be."""
        return tuple([_sample(index, self.characters) for index in range(count)] for count in (self.least, self.most))

    def check_size(self, limits: Limits) -> None:
        """Check that its largest value is within the limits of a schema."""
        if self.most > limits.enum_values:
            raise LimitExceededError(
                f"the parameter {self.name} can take {self.most} texts, more than Limits.enum_values = "
                f"{limits.enum_values}; lower most, or raise the limit",
                limit_name="enum_values",
                limit=limits.enum_values,
                found=self.most,
                keyword="enum",
            )
        self._check_bytes(limits, self.most)

    def described(self) -> JsonObject:
        """Return it as a reviewer reads it."""
        return {"kind": "enum_values", **self._bounds(), "least": self.least, "most": self.most}


def _language_of(pattern: object) -> Contract[str]:
    from commitgate.contract import Contract
    from commitgate.languages import Regex

    check_kind("pattern", pattern, str, "a str or None")
    return Contract.of(Regex(cast("str", pattern)))


def _sample(index: int, characters: int) -> str:
    """Return a text of so many characters, another one for each index as far as there are enough."""
    text = ""
    while True:
        index, digit = divmod(index, _SAMPLES)
        text = chr(_FIRST_SAMPLE + digit) + text
        if not index:
            return text.rjust(characters, chr(_FIRST_SAMPLE))[-characters:]


__all__ = ["DEFAULT_CHARACTERS", "EnumValues", "Text"]
