"""Each format takes what its RFC takes and nothing else, and its language says the same as its check."""

from __future__ import annotations

import datetime
import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.formats import (
    FORMATS,
    format_is_exact,
    format_language,
    format_matches,
    format_sublanguage,
)
from commitgate.automaton.formats.registry import made_language
from commitgate.automaton.formats.stored import table_of
from commitgate.automaton.formats.tables import TABLES
from commitgate.automaton.regex import PatternError, PatternUnsupported
from commitgate.automaton.regex.parser import parse

LONG_LABEL = "k" * 63
LONGEST_NAME = ".".join((LONG_LABEL, LONG_LABEL, LONG_LABEL, "k" * 61))

TAKEN = {
    "date": ["2031-05-17", "0000-02-29", "2400-02-29", "9999-12-31"],
    "date-time": ["2031-05-17T06:07:08Z", "2031-05-17t06:07:08.000001-11:30", "2016-12-31T23:59:60z"],
    "duration": ["P3W", "P1Y2M3DT4H5M6S", "PT90M", "P007D", "P2MT1S"],
    "email": [
        "ada@mill.example",
        "a.b+c/d@localhost",
        '"ada @ \\"home\\""@mill.example',
        '""@mill.example',
        "ada@[10.001.0.255]",
        "ada@[ipv6:2001:DB8::7]",
        "ada@[IPv6:1::10.0.0.1]",
        "m" * 64 + "@mill.example",
    ],
    "hostname": ["mill.example", "7-up", "a--b", "ab--cd.example", LONGEST_NAME, "XN--MLLER-KVA.example"],
    "idn-email": ["ада@mühle.example", "ada@mill.example", '"ä b"@mill.example', "ü" * 32 + "@mill.example"],
    "idn-hostname": [
        "mühle.example",
        "mühle。example",
        "xn--mhle-0ra.example",
        "MILL.example",
        "שלום.example",
        "cel·la",
        "α\u0375β",
        "א\u05f3",
        "א\u05f4ב",
        "\u30fb水",
        "क\u094d\u200dष",
        "क\u094d\u200cष",
        "ب\u064b\u200cب",
        "ب\u0663",
        "ب\u06f3",
        "ß\u3007",
    ],
    "ipv4": ["0.0.0.0", "203.0.113.99", "249.250.199.255"],
    "ipv6": [
        "::",
        "::1",
        "1::",
        "2001:DB8::7",
        "1:2:3:4:5:6:7::",
        "::2:3:4:5:6:7:8",
        "1:2:3:4:5:6:10.0.0.1",
        "::8.8.8.8",
    ],
    "iri": ["https://mühle.example/ä?\ue000#ß", "urn:ä", "x:"],
    "iri-reference": ["ä/b:c", "//ü@mühle:1", "", "?\U00100000"],
    "json-pointer": ["", "/", "/a~0b/~1/\u0000é", "//"],
    "regex": [
        "",
        "^[a-z]+$",
        "(?<year>[0-9]{4})-\\k<year>",
        "(?<a>x)|(?<a>y)",
        "(?=a)*(?!b)(?<!c)",
        "(?i-s:x)",
        "[\\ud83d\\ude00-\\ud83d\\ude4f]",
        "a{2,3}?{",
        "]}",
        "\\p{Lu}\\-\\/\\0",
        "a{99999999999999999999,}",
    ],
    "relative-json-pointer": ["0", "12#", "3/a~1", "0-1", "1+20#", "2/"],
    "time": ["06:07:08Z", "23:59:59.5+23:59", "00:44:60+00:45", "15:59:60-08:00", "23:59:60+00:00"],
    "uri": [
        "https://ada:pw@mill.example:80/a/b;c?d=/?#e",
        "x:",
        "urn:a:b",
        "a+b.c-1:/",
        "h://[v1.a:b]:/",
        "f:///a",
        "h://[::1]",
    ],
    "uri-reference": ["", "/", "..", "//", "a/b:c", "?", "#", "%C3%A4", "mailto:ada@mill.example"],
    "uri-template": ["", "/mills/{id}{?page,size*}", "{+path:12}/x", "{a_1.b%20}", "ü[x]'"],
    "uuid": ["01234567-89ab-cdef-ABCD-EF0123456789"],
}

REFUSED = {
    "date": [
        "2031-02-29",
        "1900-02-29",
        "2031-04-31",
        "2031-00-10",
        "2031-13-10",
        "31-05-17",
        "2031-05-17 ",
        "２031-05-17",
    ],
    "date-time": [
        "2031-05-17",
        "2031-05-17 06:07:08Z",
        "2031-05-17T06:07:08",
        "2031-05-17T06:07Z",
        "2031-02-30T06:07:08Z",
    ],
    "duration": ["", "P", "PT", "P1DT", "P1W2D", "P1Y2D", "PT1H2S", "P1.5D", "p1d", "-P1D", "P1S"],
    "email": [
        "ada",
        "@mill.example",
        "ada@",
        ".ada@mill.example",
        "ada.@mill.example",
        "a..b@mill.example",
        "ada@-mill.example",
        "ada@mill.example.",
        "ada lin@mill.example",
        "ädä@mill.example",
        '"ada@mill.example',
        "ada@[1.2.3.256]",
        "ada@[1:2::3]",
        "ada@[IPv6:1:2:3:4:5:6:7::]",
        "m" * 65 + "@mill.example",
        "ada@" + LONGEST_NAME,
        "ada@" + LONG_LABEL + "k",
    ],
    "hostname": [
        "",
        ".",
        "mill.",
        "-mill",
        "mill-",
        "mi_ll",
        "mühle",
        "k" * 64,
        LONGEST_NAME + "k",
        "xn--0",
        "xn---tda",
        "xn--mll-",
        "xn--a",
    ],
    "idn-email": ["ada", "ü" * 33 + "@mill.example", "ä ö@mill.example", "ada@-ü", "ada@" + "ü" * 63 + "." + "ü" * 63],
    "idn-hostname": [
        "",
        "mühle。",
        "Mühle",
        "mu\u0308hle",
        "-ü",
        "ab--ü",
        "\u0301a",
        "a·l",
        "l·a",
        "α\u0375a",
        "α\u0375",
        "ب\u200cء",
        "a\u05f3",
        "\u30fba",
        "क\u200dष",
        "د\u200cب",
        "ب\u200ca",
        "ب\u0663\u06f3",
        "ب\u0640",
        "a\u20d0",
        "a\u115f",
        "ب1\u0663",
        "0.שלום",
        "aש",
        "aשa",
        "א\ua788",
        "a\ua788.א",
        "ü" * 58,
        ".".join([LONG_LABEL] * 3 + ["ü" * 56]),
    ],
    "ipv4": ["1.2.3", "1.2.3.4.5", "01.2.3.4", "256.0.0.0", "1.2.3.4 ", "1.2.3.٤"],
    "ipv6": [
        ":",
        ":::",
        "1::2::3",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "12345::",
        "fe80::1%eth0",
        "::01.2.3.4",
    ],
    "iri": ["ä", "https://mühle.example/ ", "x:\ue000", "x:\ufffe", "1:ä", "x:%ä"],
    "iri-reference": ["ä b", "ä:b", "#\ue000", "\\"],
    "json-pointer": ["a", "#", "/~", "/~2", "/a~"],
    "regex": [
        "(",
        ")",
        "[a",
        "*",
        "a**",
        "^*",
        "\\b+",
        "(?<=a)*",
        "a{3,2}",
        "a{1}{2}",
        "[b-a]",
        "[\\ud83e\\udc00-\\ud83d\\udfff]",
        "\\",
        "\\a",
        "\\1",
        "\\k<a>",
        "\\u12",
        "\\u{110000}",
        "\\c1",
        "(?<a>x)(?<a>y)",
        "(?P<a>x)",
        "(?i)x",
        "(?-:x)",
        "(?ii:x)",
        "(" * 1_001 + ")" * 1_001,
    ],
    "relative-json-pointer": ["", "/a", "-1", "01", "1a", "0##", "0+", "0+01", "1#/a"],
    "time": [
        "06:07:08",
        "24:00:00Z",
        "06:60:00Z",
        "06:07:61Z",
        "06:07:08.Z",
        "06:07:08+24:00",
        "22:59:60Z",
        "00:29:60+01:30",
    ],
    "uri": [
        "",
        "mill.example",
        "/a",
        "1x:a",
        "x y:a",
        "x:a b",
        "x:%4",
        "x:ä",
        "h://[::1",
        "h://a:b",
        "x:[",
        "h://[1.2.3.4]",
        "x:a#b#c",
    ],
    "uri-reference": ["1:a", "a b", "//a:b", "%", "a^", "//[::1]a", "ä"],
    "uri-template": ["{", "}", "{}", "{a", "{a b}", "{a:0}", "{a:12345}", "{a,}", "{a*:1}", "{.}", "a b", '"', "%2"],
    "uuid": [
        "01234567-89ab-cdef-abcdef0123456789",
        "0123456789abcdefabcdef0123456789",
        "01234567-89ab-cdef-abcdef0123456789",
        "01234567-89ab-cdef-abcd-ef012345678",
        "{01234567-89ab-cdef-abcd-ef0123456789}",
    ],
}

# The first case waits for the automaton.
UNTIMED = settings(deadline=None)
PATTERN_PIECES = (
    *("a", "7", "é", "_", "-", ",", ".", "|", "^", "$", "*", "+", "?", "{", "}", "{2}", "{1,2}", "{2,1}", "{3,"),
    *("(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "[", "[^", "]", "\\", "\\d", "\\b", "\\B", "\\e", "\\_"),
    *("\\é", "\\.", "\\-", "\\u", "\\u{62}", "\\u0062", "\\x62", "\\x6", "\\p{L}", "\\P", "\\cA", "\\c", "\\0", "\\01"),
)

digits = st.integers(0, 99).map("{:02}".format)


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, texts in table.items() for text in texts]


def test_every_known_format_has_its_cases() -> None:
    assert set(TAKEN) == set(REFUSED) == FORMATS


@pytest.mark.parametrize(("name", "text"), cases(TAKEN))
def test_a_text_of_the_format_is_taken(name: str, text: str) -> None:
    language = format_language(name)

    assert format_matches(name, text)
    assert language is None or language.contains(text)


@pytest.mark.parametrize(("name", "text"), cases(REFUSED))
def test_a_text_of_no_such_format_is_refused(name: str, text: str) -> None:
    language, sublanguage = format_language(name), format_sublanguage(name)

    assert not format_matches(name, text)
    assert sublanguage is None or not sublanguage.contains(text)
    assert not format_is_exact(name) or (language is not None and not language.contains(text))


@pytest.mark.parametrize(("name", "text"), cases(TAKEN))
def test_a_line_end_behind_the_text_is_not_overlooked(name: str, text: str) -> None:
    is_any_character_legal = name == "regex" or (name.endswith("json-pointer") and "/" in text)

    assert format_matches(name, text + "\n") == is_any_character_legal


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_only_formats_that_no_language_says_need_a_check(name: str) -> None:
    needs_a_check = {"hostname", "idn-email", "idn-hostname", "regex"}

    assert format_is_exact(name) == (name not in needs_a_check)
    assert format_is_exact(name) == (format_language(name) == format_sublanguage(name) is not None)


@pytest.mark.parametrize("name", ["hostname", "idn-hostname", "idn-email"])
def test_a_sublanguage_keeps_what_is_ordinary(name: str) -> None:
    sublanguage = format_sublanguage(name)
    ordinary = "ada@mill-7.example" if name == "idn-email" else "mill-7.example"

    assert sublanguage is not None
    assert sublanguage.contains(ordinary)
    assert not sublanguage.contains(ordinary.replace("mill", "ü"))


def test_a_sublanguage_of_host_names_has_no_a_label_at_any_place() -> None:
    sublanguage = format_sublanguage("hostname")

    assert sublanguage is not None
    assert not any(map(sublanguage.contains, ["xn--mhle-1ra", "a.Xn--0", "a.xN--0.b"]))
    assert sublanguage.contains("axn--b.xn.x-n--b.example")


def test_only_formats_without_a_pattern_have_no_table() -> None:
    assert FORMATS - TABLES.keys() == {"regex"}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_table_of_a_format_says_what_its_patterns_say(name: str) -> None:
    made = made_language(name)
    # Where this fails, the patterns have changed: write what table_of(made) gives into tables.py.
    assert format_language(name) == made, f"the table of {name} is out of date"
    assert len(table_of(made)) < 4_000


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(KeyError):
        format_language("colour")


@UNTIMED
@given(st.integers(0, 9_999), st.integers(0, 13), st.integers(0, 32))
def test_a_date_is_a_day_of_the_calendar(year: int, month: int, day: int) -> None:
    try:
        # The calendar repeats every 400 years, and Python's begins with year 1.
        datetime.date(year or 400, month, day)
    except ValueError:
        is_day = False
    else:
        is_day = True

    assert format_matches("date", f"{year:04}-{month:02}-{day:02}") == is_day


@UNTIMED
@given(st.integers(0, 23), st.integers(0, 59), st.sampled_from("+-"), st.integers(0, 95))
def test_a_leap_second_ends_the_day_in_utc(hour: int, minute: int, sign: str, quarters: int) -> None:
    ahead = 15 * quarters if sign == "+" else -15 * quarters
    is_last_minute = (hour * 60 + minute - ahead) % 1_440 == 1_439

    text = f"{hour:02}:{minute:02}:60{sign}{quarters // 4:02}:{quarters % 4 * 15:02}"

    assert format_matches("time", text) == is_last_minute


@UNTIMED
@given(digits, digits, digits, digits, digits, st.sampled_from("+-"))
def test_a_time_counts_as_a_clock_does(hour: str, minute: str, second: str, ahead: str, more: str, sign: str) -> None:
    is_time = hour < "24" and minute < "60" and second < "60" and ahead < "24" and more < "60"

    if second != "60":
        assert format_matches("time", f"{hour}:{minute}:{second}{sign}{ahead}:{more}") == is_time


@UNTIMED
@given(st.lists(st.sampled_from(["", "0", "1f", "ABCD", "12345"]), min_size=1, max_size=10), st.booleans())
def test_an_ipv6_address_is_what_another_implementation_takes(groups: list[str], has_ipv4: bool) -> None:
    text = ":".join([*groups, "10.0.0.1"] if has_ipv4 else groups)
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        is_address = False
    else:
        is_address = True

    assert format_matches("ipv6", text) == is_address


@UNTIMED
@given(st.lists(st.integers(0, 300).map(str) | st.just("00"), min_size=3, max_size=5))
def test_an_ipv4_address_is_what_another_implementation_takes(octets: list[str]) -> None:
    text = ".".join(octets)
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        is_address = False
    else:
        is_address = True

    assert format_matches("ipv4", text) == is_address


@UNTIMED
@given(st.lists(st.sampled_from(PATTERN_PIECES), max_size=6).map("".join))
def test_a_regular_expression_is_what_the_compiler_of_patterns_reads(pattern: str) -> None:
    try:
        parse(pattern)
    except PatternUnsupported:
        # It stops there, and what follows may be anything.
        return
    except PatternError:
        is_read = False
    else:
        is_read = True

    assert format_matches("regex", pattern) == is_read
