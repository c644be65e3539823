"""JSON Schemas that are small to write and meant to be dear to read."""

from __future__ import annotations

from collections.abc import Callable

from hostile.bomb import Bomb, too_large

from commitgate.json_value import JsonObject, JsonValue

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


def chain(levels: int, link: Callable[[JsonObject], JsonObject], **beside: JsonValue) -> JsonObject:
    """Return definitions each of which is made of a reference to the next; the last is ``null``."""
    definitions: JsonObject = {f"d{n}": link({"$ref": f"#/$defs/d{n + 1}"}) for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {"type": "null"}}, **beside}


def ring(levels: int, link: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """Return definitions each of which is made of a reference to the next, the last of one to the first."""
    definitions: JsonObject = {f"d{n}": link({"$ref": f"#/$defs/d{(n + 1) % levels}"}) for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def nested(levels: int, wrap: Callable[[JsonValue], JsonValue], leaf: JsonValue) -> JsonObject:
    """Return a schema that is wrapped many times."""
    schema = leaf
    for _ in range(levels):
        schema = wrap(schema)
    assert isinstance(schema, dict)
    return schema


def keys(count: int, schema: JsonValue, prefix: str = "p") -> JsonObject:
    """Return as many properties, all alike."""
    return {f"{prefix}{n}": schema for n in range(count)}


def _looks_ahead(number: int) -> str:
    """Return a pattern that takes much work even to be made ready: its look-aheads have automata of their own."""
    return "|".join(f"a{number}(?=[ab]*a[ab]{{{count}}}c{number})" for count in range(5, 11))


def text_bytes(letters: str) -> bytes:
    return f'"{letters}"'.encode()


BRACKETS = b"[" * 60
OPEN_OBJECT = b'{"a": ' * 60

REFERENCES = (
    Bomb(
        name="arrays doubled by $ref 2^30",
        make=lambda: chain(30, lambda ref: {"prefixItems": [ref, ref], "minItems": 2}),
        texts=(b"[" * 30 + b"null", BRACKETS),
    ),
    Bomb(
        name="objects doubled by $ref 2^30",
        make=lambda: chain(30, lambda ref: {"properties": {"a": ref, "b": ref}, "required": ["a", "b"]}),
        texts=(b'{"a": ' * 30,),
    ),
    Bomb(
        name="allOf doubled by $ref 2^25",
        make=lambda: chain(25, lambda ref: {"allOf": [ref, ref]}),
        ends=too_large("reference_ways"),
        texts=(b"null",),
    ),
    Bomb(
        name="anyOf doubled by $ref 2^25",
        make=lambda: chain(25, lambda ref: {"anyOf": [ref, ref]}),
        ends=too_large("reference_ways"),
        texts=(b"null",),
    ),
    Bomb(
        name="oneOf doubled by $ref 2^25",
        make=lambda: chain(25, lambda ref: {"oneOf": [ref, {"allOf": [ref, {"type": "string"}]}]}),
        ends=too_large("reference_ways"),
        texts=(b"null",),
    ),
    Bomb(
        name="not doubled by $ref 2^12",
        make=lambda: chain(12, lambda ref: {"not": {"anyOf": [ref, {"not": ref}]}}),
        ends="UnsatisfiableError",
    ),
    Bomb(
        name="unevaluatedProperties over allOf doubled by $ref",
        make=lambda: chain(25, lambda ref: {"allOf": [ref, ref]}, unevaluatedProperties=False),
        ends=too_large("reference_ways"),
    ),
    Bomb(name="chain of 3,000 $ref", make=lambda: chain(3_000, lambda ref: ref), texts=(b"null",)),
    Bomb(
        name="chain of 3,000 $ref through items",
        make=lambda: chain(3_000, lambda ref: {"type": "array", "items": ref}),
        texts=(BRACKETS, b"[" + b"[]," * 600 + b"[]]"),
    ),
    Bomb(
        name="chain of 3,000 $ref through anyOf",
        make=lambda: chain(3_000, lambda ref: {"anyOf": [ref, {"type": "string"}]}),
        ends=too_large("reference_depth"),
    ),
    Bomb(
        name="chain of 3,000 $ref through not",
        make=lambda: chain(3_000, lambda ref: {"not": ref}),
        ends=too_large("reference_depth"),
    ),
    Bomb(name="ring of 3,000 $ref", make=lambda: ring(3_000, lambda ref: ref), ends="SchemaError"),
    Bomb(name="ring through anyOf", make=lambda: ring(3, lambda ref: {"anyOf": [ref, ref]}), ends="SchemaError"),
    Bomb(name="ring through not", make=lambda: ring(3, lambda ref: {"not": ref}), ends="SchemaError"),
    Bomb(
        name="ring through if and dependentSchemas",
        make=lambda: ring(3, lambda ref: {"if": ref, "then": {"dependentSchemas": {"a": ref}}}),
        ends="SchemaError",
    ),
    Bomb(
        name="ring of 3,000 $ref through items",
        make=lambda: ring(3_000, lambda ref: {"items": ref, "contains": ref, "minContains": 0}),
        texts=(BRACKETS, b"[" + b"[]," * 600 + b"[]]"),
    ),
    Bomb(
        name="ring that requires itself",
        make=lambda: ring(500, lambda ref: {"type": "object", "properties": {"a": ref}, "required": ["a"]}),
        ends="UnsatisfiableError",
    ),
    Bomb(
        name="names judged by names",
        make=lambda: ring(500, lambda ref: {"propertyNames": ref}),
        ends=too_large("reference_depth"),
    ),
    Bomb(
        name="$dynamicRef to itself",
        make=lambda: {"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}]},
        ends="SchemaError",
    ),
    Bomb(
        name="1,000 $dynamicAnchor of one name",
        make=lambda: {
            "$defs": {
                f"r{n}": {"$id": f"https://example.com/{n}", "$dynamicAnchor": "a", "items": {"$dynamicRef": "#a"}}
                for n in range(1_000)
            },
            "anyOf": [{"$ref": f"https://example.com/{n}"} for n in range(1_000)],
        },
        texts=(BRACKETS,),
    ),
    Bomb(
        name="$recursiveRef under itself",
        make=lambda: {
            "$schema": DRAFT_2019,
            "$recursiveAnchor": True,
            "anyOf": [{"items": {"$recursiveRef": "#"}}, {"properties": {"a": {"$recursiveRef": "#"}}}],
            "additionalProperties": {"$recursiveRef": "#"},
        },
        texts=(BRACKETS, OPEN_OBJECT),
    ),
    Bomb(
        name="id of draft 4 that moves the base 60 times",
        make=lambda: {
            "$schema": DRAFT_4,
            **nested(
                60,
                lambda inner: {"id": "folder/", "definitions": {"a": inner, "b": {"id": "#b", "type": "null"}}},
                {"id": "last", "type": "null"},
            ),
            "anyOf": [{"$ref": f"{'folder/' * n}#b"} for n in range(1, 60)],
        },
        texts=(b"null",),
    ),
    Bomb(
        name="$ref to the network",
        make=lambda: {"$ref": "http://127.0.0.1:9/schema.json"},
        ends="UnsupportedError",
    ),
    Bomb(name="$ref to a file", make=lambda: {"items": {"$ref": "file:///etc/passwd"}}, ends="UnsupportedError"),
    Bomb(
        name="$ref of 500,000 steps",
        make=lambda: {"$ref": "#" + "/$defs/a" * 62_500, "$defs": {"a": True}},
        ends="SchemaError",
    ),
    Bomb(
        name="900 $ref of 1 KB to one place",
        make=lambda: {"anyOf": [{"$ref": "#/$defs/" + "a" * 1_000}] * 900, "$defs": {"a" * 1_000: {"type": "null"}}},
        texts=(b"null",),
    ),
)

SIZES = (
    Bomb(
        name="enum of 100,000 texts",
        make=lambda: {"enum": [f"v{n:05}" for n in range(100_000)]},
        texts=(b'"v99999"',),
    ),
    Bomb(
        name="enum of 100,000 numbers",
        make=lambda: {"enum": list(range(100_000))},
        texts=(b"99999",),
    ),
    Bomb(name="enum of 100,001 numbers", make=lambda: {"enum": list(range(100_001))}, ends=too_large("enum_values")),
    Bomb(
        name="enum of 20,000 arrays",
        make=lambda: {"enum": [[n, {"a": n}] for n in range(20_000)]},
        texts=(b'[19999, {"a": 19999}]',),
    ),
    Bomb(
        name="enum of 100 long texts alike",
        make=lambda: {"enum": ["a" * 9_990 + f"{n:03}" for n in range(100)]},
        texts=(text_bytes("a" * 9_990 + "099"),),
    ),
    Bomb(
        name="anyOf of 50,000 const",
        make=lambda: {"anyOf": [{"const": n} for n in range(50_000)]},
        ends=too_large("nodes"),
    ),
    Bomb(
        name="anyOf of 11,000 const",
        make=lambda: {"anyOf": [{"const": n} for n in range(11_000)]},
        texts=(b"10999",),
    ),
    Bomb(
        name="5,900 properties of arrays of texts",
        make=lambda: {"properties": {f"p{n}": {"items": {"maxLength": n}} for n in range(5_900)}},
        texts=(b"{" + b", ".join(b'"p%d": ["a"]' % n for n in reversed(range(200))),),
    ),
    Bomb(
        name="9,000 patternProperties",
        make=lambda: {"patternProperties": {f"a{n}": True for n in range(9_000)}},
        texts=(b'{"a999a1a2": 5, "a1": 1',),
    ),
    Bomb(
        name="9,000 patterns",
        make=lambda: {"allOf": [{"pattern": f"a{n}"} for n in range(9_000)]},
        texts=(text_bytes("".join(f"a{n}" for n in range(300))),),
    ),
    Bomb(
        name="9,000 patterns, none of them to be found",
        make=lambda: {"type": "string", "not": {"anyOf": [{"pattern": f"a{n}"} for n in range(9_000)]}},
        texts=(text_bytes("b1" * 600),),
    ),
    Bomb(
        name="90 patterns of 10,000 letters",
        make=lambda: {"properties": {f"p{n}": {"pattern": f"^{n}" + "[ab]c" * 1_990 + "$"} for n in range(90)}},
        ends=too_large("pattern_characters"),
    ),
    Bomb(
        name="10 patterns of 10,000 letters",
        make=lambda: {"properties": {f"p{n}": {"pattern": f"^{n}" + "[ab]c" * 1_990 + "$"} for n in range(10)}},
        texts=(b'{"p9": "9' + b"ac" * 990 + b'"}',),
    ),
    Bomb(
        name="1,000 keys by patterns of 99 letters",
        make=lambda: {"patternProperties": {f"^{n:03}" + "[ab]c" * 19 + "$": True for n in range(1_000)}},
        texts=(b'{"005' + b"ac" * 19 + b'": 1}',),
    ),
    Bomb(
        name="20 patterns of look-aheads that explode",
        make=lambda: {"allOf": [{"pattern": _looks_ahead(n)} for n in range(20)]},
        texts=(text_bytes("ab" * 500),),
    ),
    Bomb(
        name="10 enum of 10,000 texts that meet",
        make=lambda: {"allOf": [{"enum": [f"v{n}" for n in range(m, 10_000 + m)]} for m in range(9)]},
        texts=(b'"v9999"',),
    ),
    Bomb(
        name="2,000 objects that forbid each other",
        make=lambda: {"not": {"anyOf": [{"required": [f"a{n}", f"b{n}"]} for n in range(2_000)]}, "type": "object"},
        texts=(b'{"a1": 1, "b2": 1, "b1": 1}',),
    ),
    Bomb(
        name="6,000 anyOf of two in an allOf",
        make=lambda: {
            "allOf": [{"anyOf": [{"minimum": n}, {"maxLength": n}]} for n in range(6_000)],
        },
        ends=too_large("nodes"),
    ),
    Bomb(
        name="10,000 properties",
        make=lambda: {"properties": keys(10_000, {"type": "null"}), "required": list(keys(5_000, None))},
        texts=(b"{" + b", ".join(b'"p%d": null' % n for n in reversed(range(200))),),
    ),
    Bomb(name="10,001 properties", make=lambda: {"properties": keys(10_001, True)}, ends=too_large("properties")),
    Bomb(
        name="10,001 required names",
        make=lambda: {"type": "object", "required": list(keys(10_001, None))},
        ends=too_large("properties"),
    ),
    Bomb(
        name="10,000 required names",
        make=lambda: {"type": "object", "required": list(keys(10_000, None))},
        texts=(b"{" + b", ".join(b'"p%d": null' % n for n in reversed(range(200))),),
    ),
    Bomb(
        name="3,000 keys that need each other",
        make=lambda: {
            "type": "object",
            "dependentRequired": {f"p{n}": [f"p{(n + 1) % 3_000}", "q"] for n in range(3_000)},
            "minProperties": 1,
        },
        texts=(b'{"p5": 1, "p4": 1, "p3": 1',),
    ),
    Bomb(
        name="4,000 keys in a chain of needs, counted",
        make=lambda: {
            "type": "object",
            "dependentRequired": {f"p{n}": [f"p{n + 1}"] for n in range(4_000)},
            "minProperties": 3_000,
            "maxProperties": 3_500,
        },
        texts=(b'{"p5": 1, "p6": 1, "p7": 1', b'{"p3999": 1, "p3998": 1'),
    ),
    Bomb(
        name="200 keys in a chain of needs, counted",
        make=lambda: {
            "type": "object",
            "dependentRequired": {f"p{n}": [f"p{n + 1}"] for n in range(200)},
            "minProperties": 100,
            "maxProperties": 150,
        },
        texts=(b'{"p5": 1, "p6": 1, "p7": 1', b'{"p199": 1, "p198": 1'),
    ),
    Bomb(
        name="schema nested 100,000 deep",
        make=lambda: nested(100_000, lambda inner: {"items": inner}, True),
        ends=too_large("schema_nesting"),
    ),
    Bomb(
        name="const nested 100,000 deep",
        make=lambda: nested(100_000, lambda inner: {"const": inner}, None),
        ends=too_large("schema_nesting"),
    ),
    Bomb(
        name="const of 120,000 U+0000",
        make=lambda: {"const": "\0" * 120_000},
        texts=(b'"' + b"\\u0000" * 3_000,),
    ),
    Bomb(
        name="const of 1 MB",
        make=lambda: {"const": [["a" * 1_000, {"k": n}] for n in range(1_000)]},
        texts=(b'[["' + b"a" * 1_000,),
    ),
    Bomb(name="description of 2 MB", make=lambda: {"description": "a" * 2_000_000}, ends=too_large("schema_bytes")),
    Bomb(
        name="5,000 alternatives of objects",
        make=lambda: {
            "anyOf": [{"properties": {f"k{n}": {"type": "null"}}, "required": [f"k{n}"]} for n in range(5_000)]
        },
        texts=(b'{"k4999": null, "k1": 1, "k2": null}',),
    ),
    Bomb(
        name="prefixItems of 10,000",
        make=lambda: {"prefixItems": [{"const": n} for n in range(10_000)], "minItems": 10_000},
        texts=(b"[" + b", ".join(b"%d" % n for n in range(400)),),
    ),
)

KEYWORDS = (
    Bomb(
        name="tower of 60 allOf",
        make=lambda: nested(60, lambda inner: {"allOf": [inner, {"minimum": 1}]}, {"type": "integer"}),
        texts=(b"12345",),
    ),
    Bomb(
        name="product of 30 anyOf",
        make=lambda: {
            "type": "object",
            "allOf": [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(30)],
        },
        texts=(b'{"a0": 1, "b1": 2, "a2": 3, "b4": 1',),
    ),
    Bomb(
        name="product of 15 oneOf",
        make=lambda: {
            "allOf": [
                {"oneOf": [{"properties": {f"k{n}": {"const": m}}, "required": [f"k{n}"]} for m in range(6)]}
                for n in range(15)
            ]
        },
        texts=(b'{"k0": 1, "k1": 2, "k2": 3}',),
    ),
    Bomb(
        name="tower of 60 oneOf and not",
        make=lambda: nested(60, lambda inner: {"oneOf": [inner, {"not": {"type": "string"}}]}, {"type": "null"}),
        texts=(b"null",),
    ),
    Bomb(
        name="tower of 30 oneOf and not",
        make=lambda: nested(30, lambda inner: {"oneOf": [inner, {"not": {"minLength": 3}}]}, {"maxLength": 9}),
        texts=(b'"aaaa"',),
    ),
    Bomb(
        name="not nested 120 deep",
        make=lambda: nested(120, lambda inner: {"not": inner}, {"type": "null"}),
        ends=too_large("reference_depth"),
    ),
    Bomb(
        name="not nested 60 deep",
        make=lambda: nested(60, lambda inner: {"not": {"properties": {"a": inner}}}, {"type": "null"}),
        ends=too_large("schema_nesting"),
    ),
    Bomb(
        name="oneOf of 1,000 multipleOf",
        make=lambda: {"oneOf": [{"type": "integer", "multipleOf": n} for n in range(1, 1_001)]},
        texts=(b"123456789",),
    ),
    Bomb(
        name="if nested in else 100 deep",
        make=lambda: {
            "type": "object",
            **nested(
                40,
                lambda inner: {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": inner},
                {"minProperties": 1},
            ),
        },
        texts=(b'{"c": 1, "b": 2}',),
    ),
    Bomb(
        name="300 if",
        make=lambda: {
            "type": "object",
            "allOf": [
                {"if": {"properties": {"k": {"const": n}}, "required": ["k"]}, "then": {"required": [f"r{n}"]}}
                for n in range(300)
            ],
        },
        texts=(b'{"k": 5, "r5": 1}',),
    ),
    Bomb(
        name="20 contains that are counted",
        make=lambda: {
            "type": "array",
            "allOf": [{"contains": {"const": n}, "minContains": 3, "maxContains": 5} for n in range(20)],
        },
        texts=(b"[" + b"1, 2, 3, 4, " * 50 + b"1]",),
    ),
    Bomb(
        name="contains of contains 40 deep",
        make=lambda: nested(
            40, lambda inner: {"contains": inner, "minContains": 2, "maxContains": 9}, {"type": "null"}
        ),
        texts=(BRACKETS, b"[" + b"[]," * 600 + b"[]]"),
    ),
    Bomb(
        name="1,000 patternProperties",
        make=lambda: {"patternProperties": {f"a{n}": {"minimum": n} for n in range(1_000)}},
        texts=(b'{"a999a1a2": 5, "a1": 1',),
    ),
    Bomb(
        name="patternProperties that overlap",
        make=lambda: {"patternProperties": {f"[a-z]{{{n}}}.*{chr(97 + n)}": {"minimum": n} for n in range(20)}},
        texts=(b'{"abcdefghijklmnop": 5, "a1": 1}',),
    ),
    Bomb(
        name="propertyNames of 50 patterns",
        make=lambda: {"propertyNames": {"allOf": [{"pattern": f"(a|b)*a(a|b){{{n}}}c"} for n in range(50)]}},
        texts=(b'{"' + b"ab" * 400 + b'": 1}',),
    ),
    Bomb(
        name="unevaluatedProperties over 500 anyOf",
        make=lambda: {
            "anyOf": [{"properties": {f"a{n}": True}} for n in range(500)],
            "unevaluatedProperties": False,
        },
        texts=(b'{"a3": 1, "a4": 1}',),
    ),
    Bomb(
        name="unevaluatedItems over 300 contains",
        make=lambda: {
            "anyOf": [{"contains": {"const": n}} for n in range(300)],
            "unevaluatedItems": False,
        },
        texts=(b"[3, 4, 3, 4]",),
    ),
    Bomb(
        name="dependentSchemas in a ring",
        make=lambda: {
            "type": "object",
            "dependentSchemas": {f"k{n}": {"required": [f"k{(n + 1) % 200}"]} for n in range(200)},
        },
        texts=(b'{"k1": 1, "k2": 1}',),
    ),
    Bomb(
        name="complements that need each other",
        make=lambda: {
            "$defs": {
                "a": {"properties": {"x": {"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}}},
                "b": {
                    "properties": {
                        "x": {"not": {"$ref": "#/$defs/a"}},
                        "y": {"oneOf": [{"$ref": "#/$defs/a"}, {"not": {"$ref": "#/$defs/b"}}]},
                    }
                },
            },
            "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        },
        texts=(b'{"x": ' * 40,),
    ),
    Bomb(
        name="uniqueItems over an enum of 10,000",
        make=lambda: {"uniqueItems": True, "items": {"enum": list(range(10_000))}, "minItems": 100},
        texts=(b"[" + b", ".join(b"%d" % n for n in range(300)),),
    ),
    Bomb(
        name="uniqueItems over 64 values",
        make=lambda: {"uniqueItems": True, "items": {"enum": list(range(64))}, "minItems": 64},
        texts=(b"[" + b", ".join(b"%d" % n for n in range(40)),),
    ),
    Bomb(
        name="every bound 10^12",
        make=lambda: {
            "minItems": 10**12,
            "minLength": 10**12,
            "minProperties": 10**12,
            "contains": {"const": 1},
            "minContains": 10**11,
        },
        texts=(b"[1, 1, 1", b'"' + b"a" * 2_000, b'{"a": 1, "b": 2'),
    ),
)

NUMBERS = (
    Bomb(name="multipleOf 1e-300", make=lambda: {"type": "number", "multipleOf": 1e-300}, texts=(b"0." + b"7" * 900,)),
    Bomb(
        name="multipleOf 10^300 + 7",
        make=lambda: {"type": "integer", "multipleOf": 10**300 + 7},
        texts=(b"7" * 900,),
    ),
    Bomb(
        name="60 multipleOf of primes",
        make=lambda: {
            "type": "integer",
            "allOf": [{"multipleOf": n} for n in range(2, 282) if all(n % m for m in range(2, n))],
        },
        texts=(b"7" * 900,),
    ),
    Bomb(
        name="bounds of 400 digits",
        make=lambda: {"type": "number", "minimum": 10**399, "exclusiveMaximum": 10**399 + 10**398 + 1},
        texts=(b"1" + b"0" * 398,),
    ),
    Bomb(
        name="100 bounds that overlap",
        make=lambda: {
            "oneOf": [{"type": "number", "minimum": n / 7, "maximum": n + 1_000.000_000_1} for n in range(100)]
        },
        texts=(b"0." + b"3" * 900,),
    ),
    Bomb(name="bound of 400,000 digits", make=lambda: {"minimum": 10**400_000}, ends="SchemaError"),
)

PATTERNS = (
    Bomb(
        name="schema pattern (a{1000}){1000}",
        make=lambda: {"pattern": "^(a{1000}){1000}$"},
        texts=(text_bytes("a" * 5_000),),
    ),
    Bomb(name="schema pattern (a|a)*b", make=lambda: {"pattern": "^(a|a)*b$"}, texts=(text_bytes("a" * 5_000),)),
    Bomb(name="schema pattern ((a*)*)*b", make=lambda: {"pattern": "^((a*)*)*b$"}, texts=(text_bytes("a" * 5_000),)),
    Bomb(
        name="schema pattern (a?){1000}a{1000}",
        make=lambda: {"pattern": "^(a?){1000}a{1000}$"},
        texts=(text_bytes("a" * 2_000),),
    ),
    Bomb(
        name="schema pattern (.*a){50}.{500}",
        make=lambda: {"pattern": "^(.*a){50}.{500}$"},
        texts=(text_bytes("ab" * 1_000),),
    ),
    Bomb(
        name="schema pattern ((a{0,100}){0,100}){0,100}",
        make=lambda: {"pattern": "^((a{0,100}){0,100}){0,100}$"},
        ends="UnsupportedError",
    ),
    Bomb(
        name="schema pattern (a|b)*a(a|b){1000}",
        make=lambda: {"pattern": "^(a|b)*a(a|b){1000}$"},
        texts=(text_bytes("ab" * 1_000),),
    ),
    Bomb(
        name="schema pattern of 30,000 brackets",
        make=lambda: {"pattern": "(" * 30_000 + "a" + ")" * 30_000},
        ends=too_large("pattern_characters"),
    ),
    Bomb(
        name="schema pattern of 4,000 brackets",
        make=lambda: {"pattern": "(" * 4_000 + "a" + ")" * 4_000},
        ends="UnsupportedError",
    ),
    Bomb(
        name="schema pattern of 800 \\p{L}",
        make=lambda: {"pattern": "^(" + "|".join(["\\p{L}+\\p{N}"] * 800) + ")$"},
        texts=(text_bytes("aé" * 500),),
    ),
    Bomb(
        name="schema pattern of 100 look-aheads",
        make=lambda: {"pattern": "^" + "".join(f"(?=.*{chr(97 + n % 26)}{n})" for n in range(100)) + ".*$"},
        texts=(text_bytes("a0b1c2" * 100),),
    ),
    Bomb(
        name="1,000 patterns that explode",
        make=lambda: {"properties": {f"p{n}": {"pattern": f"^(a|b)*a(a|b){{20}}c{n}$"} for n in range(1_000)}},
        texts=(b'{"p999": "' + b"ab" * 200,),
    ),
    Bomb(
        name="30 patterns that meet",
        make=lambda: {"allOf": [{"pattern": f"a.{{{n}}}b"} for n in range(1, 30)]},
        texts=(text_bytes("ab" * 500),),
    ),
    Bomb(
        name="every format at once",
        make=lambda: {
            "type": "string",
            "anyOf": [{"format": name} for name in FORMAT_NAMES],
            "not": {"anyOf": [{"format": name} for name in FORMAT_NAMES[::2]]},
        },
        texts=(text_bytes("2026-01-01T00:00:00Z" * 20), text_bytes("a.b@" * 300)),
    ),
    Bomb(
        name="2,000 formats",
        make=lambda: {"properties": {f"p{n}": {"format": FORMAT_NAMES[n % len(FORMAT_NAMES)]} for n in range(2_000)}},
        texts=(b'{"p999": "' + b"a." * 500,),
    ),
)

FORMAT_NAMES = (
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
)

SCHEMA_BOMBS = (*REFERENCES, *SIZES, *KEYWORDS, *NUMBERS, *PATTERNS)

__all__ = ["SCHEMA_BOMBS"]
