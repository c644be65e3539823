"""Hold what each vendor and engine makes of each keyword: takes it, refuses it, or drops it without a word.

This table is the single place for that knowledge. The columns of engines that run on one's own machines were measured:
73 schemas, each with valid and violating values, through the real engines and the checks that the servers make before
them. Those of hosted vendors are from their documentation, the source of their SDKs, and reports of their users; they
were not called. A cell with a question mark is likely, not sure; a question mark alone is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, TypeAlias

Basis: TypeAlias = Literal["measured", "documented"]

TABLE_VERSION = "2026-11-30"
"""When the table last changed; goes into receipts. A new one with every change of a fact, a limit or a case."""


class Reaction(StrEnum):
    """Say what a vendor does with one case.

    ``refused``: an error. ``ignored``: accepted, and answers that violate it come through. ``wrong``: accepted, valid
    answers become impossible and invalid ones possible. ``narrowed``: sound, but some valid answers cannot be written.
    """

    TAKEN = "taken"
    REFUSED = "refused"
    IGNORED = "ignored"
    WRONG = "wrong"
    NARROWED = "narrowed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Name a vendor's way to take a schema.

    Attributes:
        name: short name.
        title: name for people, with the version that the facts are of.
        basis: how its column came about.
        source: where its facts come from.
    """

    name: str
    title: str
    basis: Basis
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Say what one vendor does with one case.

    Attributes:
        reaction: what it does.
        is_sure: False where it is likely only, or depends on what the server did before.
        source: where the fact comes from.
    """

    reaction: Reaction
    is_sure: bool
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorLimit:
    """Bound a measure of a whole schema; past it the vendor refuses.

    Attributes:
        vendor: the vendor's short name.
        measure: ``properties``, ``nesting``, ``enum_values``, ``optional_properties``, ``unions``,
            ``text_characters`` or ``enum_characters``.
        most: largest value that is taken.
        source: where the fact comes from.
        is_total: it bounds all schemas of a request together that the vendor is asked to enforce.
    """

    vendor: str
    measure: str
    most: int
    source: str
    is_total: bool = False


_GEMINI = "field docs of google-genai 3.6.1, and its types for the Interactions API"

VENDORS: tuple[Vendor, ...] = (
    Vendor(
        name="openai",
        title="OpenAI, strict",
        basis="documented",
        source="OpenAI's guide to structured outputs; openai-node src/lib/transform.ts",
    ),
    Vendor(
        name="anthropic",
        title="Anthropic, structured outputs",
        basis="documented",
        source="Anthropic's page on structured outputs; anthropic 2.14 lib/_parse/_transform.py",
    ),
    Vendor(name="gemini", title="Gemini, responseJsonSchema", basis="documented", source=_GEMINI),
    Vendor(
        name="gemini_openapi",
        title="Gemini, responseSchema",
        basis="documented",
        source="types.Schema of google-genai 3.6.1",
    ),
    Vendor(
        name="vllm",
        title="vLLM 0.33, backend auto",
        basis="measured",
        source="its checks before decoding, then xgrammar 0.2.8, llguidance 1.9.1 or outlines_core 0.2.14",
    ),
    Vendor(
        name="sglang",
        title="SGLang 0.5.23 with xgrammar",
        basis="measured",
        source="its checks before decoding (constrained/json_schema_validation.py), then xgrammar 0.2.7 to 0.2.9",
    ),
    Vendor(name="xgrammar", title="xgrammar 0.2.9", basis="measured", source="the engine itself"),
    Vendor(name="llguidance", title="llguidance 1.9.1", basis="measured", source="the engine itself"),
    Vendor(name="outlines", title="outlines_core 0.2.14", basis="measured", source="the engine itself"),
    Vendor(
        name="tgi",
        title="TGI with outlines_core 0.1.26",
        basis="measured",
        source="the engine itself; TGI's validation.rs",
    ),
    Vendor(
        name="llama_cpp",
        title="llama.cpp, Ollama",
        basis="measured",
        source="llama.cpp 0c1e570, its converter of schemas and its grammar engine; Ollama uses both",
    ),
)

# E taken, R refused, I ignored, W wrong, O narrowed, ? not known; "E?" likely. Columns in the order of VENDORS.
_TABLE = """
type_list                 E   E   E   R   E   E   E   E   E   R   E
enum                      E   E   E   E   E   E   E   E   E   E   E
enum_of_numbers           E   E   E   R?  E   E   E   E   E   E   E
enum_of_structures        E   R   E   R?  E   E   E   E   E   E   E
const                     E   E   ?   R   E   E   E   E   E   E   E
optional_property         R   E   E   E   E   E   E   E   E   E   E
undeclared_required       R   ?   ?   ?   W   W   W   E   W   W   W
required_alone            R   ?   ?   ?   W   W   W   E   I   I   I
closed_object             E   E   E   R   E   E   E   E   E   E   E
typed_extra_properties    R   R   E   R   E   E   E   E   O   O   E
open_object               R   R   O?  O?  O   O   O   E   O   O   O
min_properties            ?   R?  I   E?  I   E?  E?  E   I   I   I
max_properties            ?   R?  I   E?  E   E   E   E   I   I   I
pattern_properties        R   R?  ?   R   O   O   O   E   R   R   I
pattern_beside_properties R   R?  ?   R   E?  E   E   E   E   E   E
property_names            R   R?  ?   R   E   E   E   R   I   I   I
names_beside_properties   R   R?  ?   R   R   W   W   R   W   W   W
unevaluated_properties    R   R?  ?   R   E   E   E   R   E   E   E
dependent_required        R   R?  ?   R   I   R   I   R   I   I   I
dependent_schemas         R   R?  ?   R   I   R   I   R   I   I   I
min_length                E?  R   I   E?  E   E   E   E   E   E   E
max_length                E?  R   I   E?  E   E   E   E   E   E   E
anchored_pattern          E   E   I?  E?  E   E   E   E   E   E   E
unanchored_pattern        E?  E?  I?  E?  O   O   O   E   O   O   I
look_around               ?   R   I?  ?   I   I   I   R   R?  R?  I
pattern_class             E   E   I?  E?  E   E   E   E   E   E   I
word_boundary             ?   R   I?  ?   R   R   R   R   R?  R?  I
pattern_with_length       E?  R   I   ?   I   R   I   E   E   E   I
format_date_time          E   E   E?  E?  E   E   E   E   E   E   E
format_date               E   E   ?   ?   E   ?   ?   ?   ?   ?   E
format_email              E   E   ?   R?  E   E   E   E   E   R   I
format_uuid               E   E   ?   R?  E   E   E   E   E   E   E
format_uri                R?  E   ?   R?  E   E   E   E   O   R   I
format_listed             E   E   ?   R?  ?   ?   ?   ?   ?   ?   I
format_other              R?  R?  ?   R?  ?   ?   ?   ?   ?   ?   I
format_unknown            R?  R?  ?   R?  R   R   E   R   R   R   E
format_with_length        E?  R   I   ?   I   R   I   E   E   E   E
integer_bound             E   R   E   E   E   E   E   E   I   I   E
integer_exclusive_bound   E   R   ?   R   E   E   E   E   I   I   E
integer_two_bounds        E   R   ?   R   E   E   E   E   I   I   I
number_minimum            E   R   E   E   E   E   E   E   I   I   I
number_maximum            E   R   E   E   E   E   E   E   I   I   I
number_exclusive_bound    E?  R   ?   R   E?  E?  E?  E?  I?  I?  I?
multiple_of               E   R   ?   R   E?  R   E   E   I   I   I
min_items_one             E   E   E   E   E   E   E   E   E   E   E
min_items                 E   R   E   E   E   E   E   E   E   E   E
max_items                 E   R   E   E   E   E   E   E   E   E   E
max_items_alone           R   R   ?   R   O   O   O   E   E   E   E
array_without_items       R?  R?  ?   R?  ?   ?   ?   E?  E?  E?  E?
unevaluated_items         R   R?  ?   R   ?   ?   ?   ?   ?   ?   ?
content_schema            R   ?   ?   R   E   E   E   E   E   E   E
dynamic_reference         ?   ?   ?   R   ?   ?   ?   ?   ?   ?   ?
unique_items              R   R?  I   R   R   R   I   R   I   I   I
contains                  R   R?  I   R   R   R   I   R   I   I   I
prefix_items              R   ?   E   R   E   E   E   E   E   E   R
prefix_beside_items       R   ?   E?  R   E   E   E   E   O   O   W
closed_tuple              R   ?   ?   R   E   E   E   E   R   R   R
any_of                    E   E   E   E   E   E   E   E   E   E   E
root_any_of               R   E   E   E   E   E   E   E   E   R   E
any_of_beside_properties  ?   ?   ?   ?   W   W   W   E   W   W   W
one_of                    R   ?   E   R   E   E   E   E   E   E   E
one_of_overlapping        R   ?   I   R   I   I   I   R   I   I   I
all_of_one                R   E   I?  R   E   E   E   E   E   E   W
all_of_reference          R   R   I?  R   E?  E?  E?  E?  E?  E?  W
all_of_many               R   E?  I?  R   I   I   I   E   O   O   O
not                       R   R?  ?   R   I   R   I   R   I   I   I
if_then_else              R   R?  ?   R   I   R   I   R   I   I   I
reference                 E   E   E   E   E   E   E   E   E   E   E
reference_with_siblings   R   ?   R?  ?   I   I   I   E   I   I   I
described_reference       R   ?   R?  ?   E   E   E   E   E   E   E
recursive_reference       E   R   E?  R?  E   E   E   E   E   E   E
remote_reference          R   R   R?  R   I   I   I   R   R   R   R
unknown_word              R?  ?   I?  R   E   E   E   E   E   E   E
anchor_reference          ?   ?   E   R   I   I   I   E   R   R   R
false_schema              R   ?   ?   ?   R   R   R   E   R   R   R
untyped_object            R?  ?   ?   ?   E   E   E   E   E   E   E
untyped_length            R?  R   ?   ?   I   I   I   E   R   R   E
untyped_bound             R?  R   ?   ?   I   I   I   E   R   R   I
root_array                R   E   E   E   E   E   E   E   E   R   E
root_scalar               R   ?   ?   ?   E   E   E   E   E   R   E
root_reference            ?   ?   ?   ?   E   E   E   E   E   R   E
root_without_properties   E   E   E   E   E   E   E   E   E   R   E
empty_schema              R   ?   ?   ?   E   E   E   E   E   R   E
property_ordering         R?  ?   E   E   E   E   E   E   E   E   E
default                   R   ?   ?   E?  E   E   E   E   E   E   E
"""

CASES: Mapping[str, str] = MappingProxyType(
    {
        "type_list": "several types in one type",
        "enum": "an enum of strings",
        "enum_of_numbers": "an enum of other scalars than strings",
        "enum_of_structures": "arrays or objects in an enum",
        "const": "a const",
        "optional_property": "a property that is not required",
        "undeclared_required": "a required name that properties does not declare",
        "required_alone": "required without properties",
        "closed_object": "additionalProperties: false",
        "typed_extra_properties": "additionalProperties that allows something",
        "open_object": "an object without additionalProperties: false",
        "min_properties": "minProperties",
        "max_properties": "maxProperties",
        "pattern_properties": "patternProperties",
        "pattern_beside_properties": "patternProperties beside properties",
        "property_names": "propertyNames",
        "names_beside_properties": "propertyNames beside properties",
        "unevaluated_properties": "unevaluatedProperties",
        "dependent_required": "dependentRequired, or names in dependencies",
        "dependent_schemas": "dependentSchemas, or schemas in dependencies",
        "min_length": "minLength",
        "max_length": "maxLength",
        "anchored_pattern": "a pattern between ^ and $",
        "unanchored_pattern": "a pattern without ^ and $",
        "look_around": "look-ahead or look-behind in a pattern",
        "pattern_class": "\\d, \\w or \\s in a pattern",
        "word_boundary": "\\b in a pattern",
        "pattern_with_length": "a pattern beside a length",
        "format_date_time": "format date-time",
        "format_date": "format date or time",
        "format_email": "format email",
        "format_uuid": "format uuid",
        "format_uri": "format uri",
        "format_listed": "format duration, hostname, ipv4 or ipv6",
        "format_other": "another format of the standard",
        "format_unknown": "a format that no standard knows",
        "format_with_length": "a format beside a length",
        "integer_bound": "a bound on an integer",
        "integer_exclusive_bound": "an exclusive bound on an integer",
        "integer_two_bounds": "an exclusive bound beside the other one on an integer",
        "number_minimum": "a lower bound on a number",
        "number_maximum": "an upper bound on a number",
        "number_exclusive_bound": "an exclusive bound on a number",
        "multiple_of": "multipleOf",
        "min_items_one": "minItems of 0 or 1",
        "min_items": "minItems of more than 1",
        "max_items": "maxItems",
        "max_items_alone": "maxItems without items",
        "array_without_items": "an array without items",
        "unevaluated_items": "unevaluatedItems",
        "content_schema": "contentSchema",
        "dynamic_reference": "$dynamicRef or $recursiveRef",
        "unique_items": "uniqueItems",
        "contains": "contains",
        "prefix_items": "a tuple",
        "prefix_beside_items": "a tuple with further items",
        "closed_tuple": "items: false",
        "any_of": "anyOf",
        "root_any_of": "anyOf at the root",
        "any_of_beside_properties": "anyOf beside properties",
        "one_of": "oneOf whose branches a property tells apart",
        "one_of_overlapping": "oneOf whose branches may overlap",
        "all_of_one": "allOf with one branch",
        "all_of_reference": "$ref in allOf",
        "all_of_many": "allOf with several branches",
        "not": "not",
        "if_then_else": "if, then and else",
        "reference": "$ref",
        "reference_with_siblings": "keywords that constrain beside $ref",
        "described_reference": "title, description or another note beside $ref",
        "recursive_reference": "a schema that refers to itself",
        "remote_reference": "a reference to another document",
        "unknown_word": "a word that is no keyword",
        "anchor_reference": "a reference to an anchor",
        "false_schema": "a property whose schema is false",
        "untyped_object": "properties without a type",
        "untyped_length": "a length without a type",
        "untyped_bound": "a bound without a type",
        "root_array": "an array at the root",
        "root_scalar": "a scalar at the root",
        "root_reference": "$ref at the root",
        "root_without_properties": "an object without properties at the root",
        "empty_schema": "a schema that allows anything",
        "property_ordering": "propertyOrdering",
        "default": "default",
    }
)
"""What the cases of the table are, in words."""

_RUNNING_VLLM = "measured on a running vLLM 0.32, where the first constrained request settles the engine of all"
_RUNNING_LLAMA_CPP = "measured on a running server"

_OWN_SOURCES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("openai", "one_of"): "its error text: 'oneOf' is not permitted",
        ("openai", "one_of_overlapping"): "its error text: 'oneOf' is not permitted",
        ("openai", "default"): "its error text: 'default' is not permitted",
        ("openai", "reference_with_siblings"): "its error text: $ref cannot have keywords",
        ("openai", "described_reference"): "its error text: $ref cannot have keywords {'description'}",
        ("openai", "min_length"): "refused in 2025, accepted and enforced in 2026 (pydantic-ai#7315)",
        ("openai", "max_length"): "refused in 2025, accepted and enforced in 2026 (pydantic-ai#7315)",
        ("openai", "prefix_items"): "openai-node src/lib/transform.ts; pydantic-ai#7315",
        ("gemini", "anchored_pattern"): "reported: vercel/ai#18325",
        ("gemini", "unanchored_pattern"): "reported: vercel/ai#18325",
        ("gemini", "look_around"): "reported: vercel/ai#18325",
        ("gemini", "pattern_class"): "reported: vercel/ai#18325",
        ("gemini", "word_boundary"): "reported: vercel/ai#18325",
        ("vllm", "min_properties"): _RUNNING_VLLM,
        ("vllm", "pattern_with_length"): _RUNNING_VLLM,
        ("vllm", "format_with_length"): _RUNNING_VLLM,
        ("vllm", "all_of_many"): _RUNNING_VLLM,
        ("vllm", "false_schema"): "a running vLLM 0.32 answers with status 500",
        ("llama_cpp", "number_minimum"): _RUNNING_LLAMA_CPP,
        ("llama_cpp", "all_of_one"): _RUNNING_LLAMA_CPP,
        ("llama_cpp", "all_of_reference"): _RUNNING_LLAMA_CPP,
        ("llama_cpp", "pattern_properties"): "measured on a running server: ignored where the object is open",
        ("llama_cpp", "pattern_class"): "measured; a warning on the server's stderr alone",
        ("anthropic", "all_of_reference"): "Anthropic's page on structured outputs: allOf without $ref",
        ("llama_cpp", "format_date"): "llama.cpp json-schema-to-grammar.cpp, its list of formats",
        ("llama_cpp", "format_listed"): "llama.cpp json-schema-to-grammar.cpp, its list of formats",
        ("llama_cpp", "format_other"): "llama.cpp json-schema-to-grammar.cpp, its list of formats",
        ("tgi", "root_array"): "TGI's validation.rs wants properties at the root",
        ("tgi", "root_scalar"): "TGI's validation.rs wants properties at the root",
        ("tgi", "root_reference"): "TGI's validation.rs wants properties at the root",
        ("tgi", "root_without_properties"): "TGI's validation.rs wants properties at the root",
        ("tgi", "empty_schema"): "TGI's validation.rs wants properties at the root",
        ("tgi", "root_any_of"): "TGI's validation.rs wants properties at the root",
    }
)

_UNMEASURED: Mapping[str, str] = MappingProxyType(
    {
        "number_exclusive_bound": "not measured; likely as on an integer",
        "array_without_items": "not measured; likely as with maxItems",
        "all_of_reference": "not measured; likely as allOf with one branch",
        "described_reference": "not measured; there is nothing to enforce",
        "content_schema": "not measured; there is nothing to enforce",
        "property_ordering": "not measured; there is nothing to enforce",
        "unevaluated_items": "not measured",
        "dynamic_reference": "not measured",
        "format_date": "not measured",
        "format_listed": "not measured",
        "format_other": "not measured",
    }
)
"""Cases that none of the measured schemas had; what is said of them follows from the others."""

_OPENAI_LIMITS = "OpenAI's guide to structured outputs, as others quote it"
_ANTHROPIC_LIMITS = "Anthropic's page on structured outputs; over all strict schemas of a request"

VENDOR_LIMITS: tuple[VendorLimit, ...] = (
    VendorLimit(vendor="openai", measure="properties", most=5_000, source=_OPENAI_LIMITS),
    VendorLimit(vendor="openai", measure="nesting", most=10, source=_OPENAI_LIMITS),
    VendorLimit(vendor="openai", measure="enum_values", most=1_000, source=_OPENAI_LIMITS),
    VendorLimit(vendor="openai", measure="text_characters", most=120_000, source=_OPENAI_LIMITS),
    VendorLimit(vendor="openai", measure="enum_characters", most=15_000, source=_OPENAI_LIMITS),
    VendorLimit(vendor="anthropic", measure="optional_properties", most=24, source=_ANTHROPIC_LIMITS, is_total=True),
    VendorLimit(vendor="anthropic", measure="unions", most=16, source=_ANTHROPIC_LIMITS, is_total=True),
    VendorLimit(vendor="vllm", measure="nesting", most=64, source="vLLM 0.33, its check before decoding"),
)

STRICT_TOOLS: Mapping[str, int] = MappingProxyType({"openai": 128, "anthropic": 20, "gemini": 128, "vllm": 128})
"""How many tools of one request a vendor can be asked to enforce the arguments of; others enforce none.

128 stands where no lower number is known: no vendor takes more tools. vLLM enforces them where its parser of calls can.
"""

_LETTERS: Mapping[str, Reaction] = MappingProxyType(
    {
        "E": Reaction.TAKEN,
        "R": Reaction.REFUSED,
        "I": Reaction.IGNORED,
        "W": Reaction.WRONG,
        "O": Reaction.NARROWED,
        "?": Reaction.UNKNOWN,
    }
)


def _facts() -> Mapping[tuple[str, str], Fact]:
    found: dict[tuple[str, str], Fact] = {}
    for line in _TABLE.strip().splitlines():
        case, *cells = line.split()
        for vendor, cell in zip(VENDORS, cells, strict=True):
            found[vendor.name, case] = Fact(
                reaction=_LETTERS[cell[0]],
                is_sure=not cell.endswith("?"),
                source=_source(vendor, case),
            )
    return MappingProxyType(found)


def _source(vendor: Vendor, case: str) -> str:
    usual = _UNMEASURED.get(case, vendor.source) if vendor.basis == "measured" else vendor.source
    return _OWN_SOURCES.get((vendor.name, case), usual)


FACTS: Mapping[tuple[str, str], Fact] = _facts()
"""What each vendor does with each case, by the short names of both."""

__all__ = [
    "CASES",
    "FACTS",
    "STRICT_TOOLS",
    "TABLE_VERSION",
    "VENDORS",
    "VENDOR_LIMITS",
    "Basis",
    "Fact",
    "Reaction",
    "Vendor",
    "VendorLimit",
]
