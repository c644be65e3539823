"""Make documents to cut: a schema, a text that satisfies it, and where its parts lie. Every draw comes from a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from automaton.schemas import SCHEMAS

from commitgate.automaton import Automaton, Term, compile
from commitgate.json_value import JsonValue
from commitgate.limits import Limits

WORDS = (
    *("", "a", "Ω", "naïve", "é\u0301", "😀", "\U0001f469\u200d\U0001f680", "日本語", "מ", "a/b~c"),
    *('say "no"', "back\\slash", "tab\t", "\n\r\n", "\x00\x1f", "\x7f", "\u2028\u2029", "\ufffe\U0010ffff"),
    *("</script>", "null", "1e5", "{", "]"),
)
NUMBERS = (
    *("0", "-0", "7", "-12", "1000", "123456789012345678901234567890", "9007199254740993", "100.0", "0e0"),
    *("0.5", "-0.25", "1e5", "1E+10", "2.50e-7", "1e400", "-3.141592653589793238462643383279"),
)
SPACES = ("", "", "", " ", "\n", "\r\n", "\t", "  \n  ")
TEXT_BYTES = 400
"""Longest document that is made: cutting one at every byte takes time with the square of its length."""
ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Document:
    """Hold a text and the schema that it satisfies."""

    name: str
    schema: Mapping[str, JsonValue] | bool
    text: bytes


def document(seed: int) -> Document:
    """Return one document; every third is written by the project's own ``generate`` dialect."""
    return _walked(seed) if seed % 3 == 2 else _made(seed)


def _made(seed: int) -> Document:
    draw = Random(f"made {seed}")
    while True:
        schema, text = _Writer(draw).value(depth=draw.choice((1, 2, 2, 3, 4)), root=True)
        data = f"{draw.choice(SPACES)}{text}{draw.choice(SPACES)}".encode()
        if len(data) <= TEXT_BYTES:
            return Document(f"made {seed}", schema, data)


class _Writer:
    """Draw a schema and, along with it, a text that satisfies it, spelled in one of many ways."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw

    def value(self, depth: int, *, root: bool = False) -> tuple[dict[str, JsonValue], str]:
        kinds = ["object", "object", "array"] if depth else ["string", "number", "integer", "literal", "enum", "empty"]
        if root and self._draw.random() < 0.1:
            kinds = ["string", "number", "integer", "literal"]
        schema, text = getattr(self, f"_{self._draw.choice(kinds)}")(depth)
        if self._draw.random() < 0.15:
            other: JsonValue = {"type": "null"} if text != "null" else {"type": "boolean"}
            schema = {"anyOf": [schema, other]}
        return schema, text

    def _space(self) -> str:
        return self._draw.choice(SPACES)

    def _object(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        names = self._draw.sample(WORDS, self._draw.randint(1, 4))
        members: list[str] = []
        properties: dict[str, JsonValue] = {}
        for name in names:
            schema, text = self.value(depth - 1 if self._draw.random() < 0.6 else 0)
            properties[name] = schema
            members.append(f"{self.quoted(name)}{self._space()}:{self._space()}{text}{self._space()}")
        self._draw.shuffle(members)
        required = [name for name in names if self._draw.random() < 0.7]
        schema: dict[str, JsonValue] = {"type": "object", "properties": properties, "required": list(required)}
        if self._draw.random() < 0.6:
            schema["additionalProperties"] = False
        return schema, "{" + self._space() + ("," + self._space()).join(members) + "}"

    def _array(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        parts = [self.value(depth - 1 if self._draw.random() < 0.6 else 0) for _ in range(self._draw.randint(1, 3))]
        schema: dict[str, JsonValue] = {"type": "array", "prefixItems": [part[0] for part in parts], "items": False}
        return schema, "[" + self._space() + f"{self._space()},".join(part[1] for part in parts) + self._space() + "]"

    def _empty(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        return self._draw.choice(
            (({"type": "array"}, f"[{self._space()}]"), ({"type": "object"}, f"{{{self._space()}}}"))
        )

    def _string(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        word = "".join(self._draw.sample(WORDS, 2))
        schema: dict[str, JsonValue] = {"type": "string"}
        if self._draw.random() < 0.4:
            schema["maxLength"] = len(word) + self._draw.randint(0, 3)
        return schema, self.quoted(word)

    def _number(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        return {"type": "number"}, self._draw.choice(NUMBERS)

    def _integer(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        return {"type": "integer"}, str(self._draw.randint(-(10 ** self._draw.randint(1, 20)), 10**6))

    def _literal(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        text = self._draw.choice(("true", "false", "null"))
        return {"type": "null" if text == "null" else "boolean"}, text

    def _enum(self, depth: int) -> tuple[dict[str, JsonValue], str]:
        words = self._draw.sample(WORDS, 3)
        return {"enum": [*words, 1, 10, None]}, self.quoted(words[0])

    def quoted(self, word: str) -> str:
        return '"' + "".join(self._character(character) for character in word) + '"'

    def _character(self, character: str) -> str:
        way = self._draw.random()
        if character in ESCAPES and way < 0.5:
            return ESCAPES[character]
        if character in '"\\' or character < " " or way < 0.25:
            return "".join(f"\\u{unit:04x}" if way < 0.15 else f"\\u{unit:04X}" for unit in units(character))
        return "\\/" if character == "/" and way < 0.6 else character


def units(character: str) -> list[int]:
    """Return the UTF-16 code units of a character."""
    data = character.encode("utf-16-be")
    return [data[at] << 8 | data[at + 1] for at in range(0, len(data), 2)]


SMALL = Limits(nesting=6)


def _walked(seed: int) -> Document:
    names = sorted(SCHEMAS)
    for attempt in range(100):
        draw = Random(f"walked {seed} {attempt}")
        name = draw.choice(names)
        text = _walk(compile(SCHEMAS[name], dialect="generate", limits=SMALL), draw)
        if text is not None and len(text) > 1:
            return Document(f"walked {seed}", SCHEMAS[name], text)
    raise AssertionError("hardly any walk stays open")


def _walk(automaton: Automaton, draw: Random) -> bytes | None:
    state: Term = automaton.start
    text = bytearray()
    for _ in range(300):
        choices = list(state.partition.representatives[1:])
        draw.shuffle(choices)
        if draw.random() < 0.3:
            choices = [*b'"}]', *choices]
        byte = next((byte for byte in choices if state.step(byte) is not state.arena.empty), None)
        if byte is None or (state.nullable and draw.random() < 0.5):
            return bytes(text) if state.nullable else None
        text.append(byte)
        state = state.step(byte)
    return None


def is_json(text: bytes) -> bool:
    """Return whether a text is one JSON value, in the eyes of a parser that is not ours."""
    try:
        json.loads(text.decode())
    except ValueError:
        return False
    return True
