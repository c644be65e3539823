"""Each trait of tokenizers that once went wrong is read rightly, or refused with the reason; all are made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as RawTokenizer
from transformers import PreTrainedTokenizerFast

from commitgate import Regex as RegexContract
from commitgate.errors import ModelLoadError, ModelRunError
from commitgate_local.engine import MaskEngine
from commitgate_local.forced import ForcedRuns
from commitgate_local.round_trips import check_round_trips
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.vocabulary import Vocabulary

MARK = "\u2581"
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
ASCII = [chr(number) for number in range(0x21, 0x7F)]
WORDS = ["th", "he", "the", f"{MARK}the", f"{MARK}{{", "é", f"{MARK}{MARK}", '":']
MERGES = [("t", "h"), ("h", "e"), ("th", "e"), (MARK, "the"), (MARK, "{"), (MARK, MARK), ('"', ":")]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=MARK), max_size=30)


def marked(
    *,
    extra: Sequence[str] = (),
    added: Sequence[AddedToken | str] = (),
    normalizer: normalizers.Normalizer | None = None,
    pre_tokenizer: Any = None,
    decoder: decoders.Decoder | None = None,
    template: str | None = None,
) -> Tokenizer:
    """Return a tokenizer with sentencepiece marks and byte fallback, as Gemma has it if nothing else is said."""
    pieces = ["<unk>", "<s>", "</s>", *BYTE_TOKENS, MARK, *ASCII, *WORDS, *extra]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    raw = RawTokenizer(models.BPE(vocab=vocab, merges=MERGES, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if normalizer is not None or pre_tokenizer is None:
        raw.normalizer = normalizer or normalizers.Replace(" ", MARK)
    if pre_tokenizer is not None:
        raw.pre_tokenizer = pre_tokenizer
    raw.decoder = decoder or decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    raw.add_special_tokens(["<unk>", "<s>", "</s>"])
    raw.add_tokens(list(added))
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="</s>", unk_token="<unk>")
    fast.chat_template = template
    return Tokenizer(fast)


def llama_like(template: str | None = None) -> Tokenizer:
    """Return one that puts a space before what it encodes, and takes it away again when it decodes."""
    return marked(
        normalizer=normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]),
        decoder=decoders.Sequence(
            [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        ),
        template=template,
    )


def metaspace() -> Tokenizer:
    """Return one that does the same by the word splitter that newer conversions have."""
    scheme: Any = "first"
    return marked(
        pre_tokenizer=pre_tokenizers.Metaspace(MARK, prepend_scheme=scheme, split=False),
        decoder=decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(MARK, prepend_scheme=scheme)]),
    )


def byte_level(
    *,
    words: Sequence[str] = (),
    added: Sequence[AddedToken | str] = (),
    lacking: Sequence[int] = (),
    normalizer: normalizers.Normalizer | None = None,
    prefix_space: bool = False,
) -> Tokenizer:
    """Return a byte-level tokenizer."""
    from commitgate_local.token_bytes import gpt2_bytes

    letters = [character for character, byte in gpt2_bytes().items() if byte not in lacking]
    vocab = {piece: number for number, piece in enumerate([*letters, "th", "the", "Ġthe", *words])}
    raw = RawTokenizer(models.BPE(vocab=vocab, merges=[("t", "h"), ("th", "e"), ("Ġ", "the")]))
    if normalizer is not None:
        raw.normalizer = normalizer
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens(["<|end|>"])
    raw.add_tokens(list(added))
    return Tokenizer(PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|end|>"))


def vocabulary(tokenizer: Tokenizer, *, padding: int = 0) -> Vocabulary:
    return Vocabulary.of_tokenizer(tokenizer, width=len(tokenizer.strings) + padding)


KINDS = {
    "marks": marked,
    "llama": llama_like,
    "metaspace": metaspace,
    "bytes": byte_level,
    "prefixed bytes": lambda: byte_level(prefix_space=True),
}


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return KINDS[request.param]()


def test_any_text_is_the_bytes_of_its_ids_inside_a_text(tokenizer: Tokenizer) -> None:
    known = vocabulary(tokenizer)

    @given(ANY_TEXT)
    def holds(text: str) -> None:
        ids = tokenizer.encode(text)
        assert known.text(ids) == text.encode()
        assert tokenizer.decode_inside(ids) == text
        assert tokenizer.encode_all(["x", text])[1] == ids

    holds()


def test_any_split_of_a_text_into_tokens_gives_its_bytes(tokenizer: Tokenizer) -> None:
    known = vocabulary(tokenizer)

    @given(st.lists(ANY_TEXT, max_size=4))
    def holds(parts: list[str]) -> None:
        ids = [number for part in parts for number in tokenizer.encode(part)]
        assert known.text(ids) == "".join(parts).encode()

    holds()


def test_first_token_of_an_answer_keeps_the_space_that_it_carries(tokenizer: Tokenizer) -> None:
    spaced = tokenizer.entries.get(f"{MARK}the", tokenizer.entries.get("Ġthe", -1))
    bare = tokenizer.entries["the"]
    known = vocabulary(tokenizer)
    assert (known.tokens[spaced], known.tokens[bare]) == (b" the", b"the")
    mask = MaskEngine(known).matcher(RegexContract("the[a-z]*")).mask()
    assert (mask[spaced], mask[bare]) == (False, True)
    mask = MaskEngine(known).matcher(RegexContract(" the[a-z]*")).mask()
    assert (mask[spaced], mask[bare]) == (True, False)


def test_forced_runs_are_split_without_the_space_of_a_beginning() -> None:
    tokenizer = llama_like()
    known = vocabulary(tokenizer)
    runs = ForcedRuns(tokenizer, known)
    matcher = MaskEngine(known).matcher(RegexContract("the the the"))
    assert known.text(runs.tokens(matcher.state, b"")) == b"the the the"
    for number in runs.tokens(matcher.state, b"")[:1]:
        matcher.advance(number)
    assert known.text(runs.tokens(matcher.state, b"the")) == b" the the"


def test_beginning_of_a_prompt_keeps_the_space_that_the_model_was_trained_with() -> None:
    template = "{% for message in messages %}the {{ message['content'] }}{% endfor %}"
    tokenizer = llama_like(template)
    spaced = tokenizer.entries[f"{MARK}the"]
    assert tokenizer.chat([("user", "x")])[0] == spaced
    assert tokenizer.chat([("user", "x</s>")])[0] == spaced
    assert tokenizer.decode(tokenizer.chat([("user", "the</s>the")])) == "the the</s>the"
    assert llama_like().chat([("user", "the")]) == [spaced]


def test_prompt_without_a_template_begins_as_the_tokenizer_begins_texts() -> None:
    fast: Any = llama_like()._fast
    begin, end = fast.convert_tokens_to_ids(["<s>", "</s>"])
    plain = Tokenizer(fast).chat([("user", "the"), ("user", "</s>")])
    for parts, wanted in (("<s> $A", [begin]), ("$A </s>", []), ("<s> $A </s>", [begin])):
        fast.bos_token = "<s>"
        special: Any = [("<s>", begin), ("</s>", end)]
        fast.backend_tokenizer.post_processor = processors.TemplateProcessing(single=parts, special_tokens=special)
        assert Tokenizer(fast).chat([("user", "the"), ("user", "</s>")]) == wanted + plain


def test_added_runs_of_spaces_are_spaces_and_not_marks() -> None:
    tokenizer = marked(added=[AddedToken(MARK * 2, normalized=False), AddedToken("\n\n", normalized=False)])
    known = vocabulary(tokenizer)
    assert known.tokens[tokenizer.entries[MARK * 2]] == b"  "
    assert known.tokens[tokenizer.entries["\n\n"]] == b"\n\n"


def test_byte_token_and_its_twin_are_legal_together() -> None:
    tokenizer = marked(added=[AddedToken("\n", normalized=False)])
    engine = MaskEngine(vocabulary(tokenizer))
    twins = [tokenizer.entries["\n"], tokenizer.entries["<0x0A>"]]
    for number in twins:
        matcher = engine.matcher(RegexContract("a\\nb"))
        matcher.advance(tokenizer.entries["a"])
        assert matcher.mask()[twins].all()
        assert matcher.mask().sum() == 2
        matcher.advance(number)
        assert matcher.mask().nonzero()[0].tolist() == [tokenizer.entries["<0x62>"], tokenizer.entries["b"]]


def test_model_token_whose_string_an_added_token_took_over_keeps_its_bytes() -> None:
    class Shadowed:
        """Hide a string from the entries, as an added token of the same string and another id does."""

        def __init__(self, fast: Any) -> None:
            self.backend_tokenizer: Any = Backend(fast.backend_tokenizer)
            self.all_special_ids: list[int] = fast.all_special_ids
            self.eos_token_id: int = fast.eos_token_id
            self.unk_token_id = None
            self.chat_template = None

    class Backend:
        def __init__(self, raw: Any) -> None:
            self._raw = raw

        def __getattr__(self, name: str) -> Any:
            return getattr(self._raw, name)

        def get_vocab(self, with_added_tokens: bool) -> dict[str, int]:
            entries: dict[str, int] = self._raw.get_vocab(with_added_tokens)
            return {string: number for string, number in entries.items() if string != "the"}

    plain = byte_level()
    hidden = Tokenizer(Shadowed(plain._fast))
    assert "the" not in hidden.entries
    assert vocabulary(hidden).tokens == vocabulary(plain).tokens


def test_control_tokens_that_are_not_flagged_are_never_text() -> None:
    added = [AddedToken("<|user|>"), AddedToken("<｜User｜>"), AddedToken("<think>")]
    tokenizer = byte_level(added=added)
    known = vocabulary(tokenizer)
    bar, wide, think = (tokenizer.entries[token.content] for token in added)
    assert (known.tokens[bar], known.tokens[wide], known.tokens[think]) == (None, None, b"<think>")
    assert not {bar, wide} & set(tokenizer.encode("a<|user|>b<｜User｜><｜User｜>"))
    assert known.text(tokenizer.encode("a<|user|>b<｜User｜>")) == "a<|user|>b<｜User｜>".encode()
    # Text that may be written as one token still is, where it is the model's own answer.
    assert tokenizer.encode("<think>") == [think]


def test_markup_of_the_template_stays_text_in_messages_of_others() -> None:
    template = (
        "{% for message in messages %}<tool>{{ message['content'] }}</tool>{% endfor %}"
        "{% if add_generation_prompt %}<s>{% endif %}"
    )
    tokenizer = marked(added=["<tool>", "</tool>"], template=template)
    close = tokenizer.entries["</tool>"]
    ids = tokenizer.chat([("tool", "x</tool><tool>"), ("user", "y</s>")])
    assert ids.count(close) == 2
    assert ids.count(tokenizer.entries["</s>"]) == 0
    assert ids.count(tokenizer.entries["<s>"]) == 1
    assert tokenizer.chat([("assistant", "x</tool>")]).count(close) == 2
    # But not where what it wrote spells a token that is never text.
    assert tokenizer.chat([("assistant", "x</tool></s>")]).count(close) == 1


def test_template_that_rewords_a_message_with_control_tokens_is_an_error() -> None:
    template = "{% for message in messages %}{{ message['content'] | upper }}{% endfor %}"
    tokenizer = marked(template=template)
    assert tokenizer.decode(tokenizer.chat([("user", "x")])) == "X"
    with pytest.raises(ModelRunError, match="rewords"):
        tokenizer.chat([("user", "x</s>")])


def test_added_token_that_the_decoder_writes_otherwise_is_never_text() -> None:
    # As a visible character of the byte map, é stands for one byte, and that byte is what the decoder writes.
    tokenizer = byte_level(added=[AddedToken("é"), AddedToken("日本"), AddedToken("  ")])
    known = Vocabulary([None])
    with pytest.raises(ModelLoadError, match="not text"):
        known = vocabulary(tokenizer)
    assert known.width == 1
    tokenizer = byte_level(added=[AddedToken("éé"), AddedToken("日本"), AddedToken("  ")])
    known = vocabulary(tokenizer)
    tokens = [known.tokens[tokenizer.entries[string]] for string in ("éé", "日本", "  ")]
    assert tokens == [None, "日本".encode(), b"  "]


def test_model_token_with_a_character_outside_of_the_byte_map_is_never_text() -> None:
    tokenizer = byte_level(words=["a b", "中"])
    known = vocabulary(tokenizer)
    assert known.tokens[tokenizer.entries["a b"]] is None
    assert known.tokens[tokenizer.entries["中"]] is None
    assert known.tokens[tokenizer.entries["the"]] == b"the"


def test_bytes_without_a_token_are_left_out_of_the_alphabet() -> None:
    lacking = (0x01, 0xF1, 0xF2, 0xFF)
    known = vocabulary(byte_level(lacking=lacking))
    assert known.alphabet == bytes(byte for byte in range(256) if byte not in lacking)
    mask = MaskEngine(known).matcher(RegexContract("[\\x01a]")).mask()
    assert [known.tokens[number] for number in mask.nonzero()[0]] == [b"a"]


def test_several_stop_ids_are_legal_where_the_text_may_end_and_nowhere_else() -> None:
    tokenizer = marked(added=[AddedToken("<end_of_turn>", special=True), AddedToken("<pad>", special=True)])
    known = Vocabulary.of_tokenizer(tokenizer, width=len(tokenizer.strings) + 8, stop_ids=[len(tokenizer.strings) + 1])
    ends = [tokenizer.entries["</s>"], tokenizer.entries["<end_of_turn>"], len(tokenizer.strings) + 1]
    assert list(known.stop_ids) == sorted(ends)
    matcher = MaskEngine(known).matcher(RegexContract("a+"))
    assert not matcher.mask()[ends].any()
    matcher.advance(tokenizer.entries["a"])
    assert matcher.mask()[ends].all()
    assert not matcher.mask()[tokenizer.entries["<pad>"]]


def test_padded_columns_are_never_legal() -> None:
    known = vocabulary(byte_level(), padding=100)
    mask = MaskEngine(known).matcher_of_anything().mask()
    assert not mask[-100:].any()
    assert mask[0]


@pytest.mark.parametrize("padding", [-10, -300, 5000])
def test_tokenizer_that_does_not_fit_the_logits_is_refused(padding: int) -> None:
    with pytest.raises(ModelLoadError, match="another model's"):
        vocabulary(byte_level(words=[f"word{number}" for number in range(20)]), padding=padding)


def test_without_logits_there_are_as_many_columns_as_ids() -> None:
    tokenizer = byte_level()
    assert Vocabulary.of_tokenizer(tokenizer).tokens == vocabulary(tokenizer).tokens
    empty = RawTokenizer(models.BPE())
    empty.decoder = decoders.ByteLevel()
    with pytest.raises(ModelLoadError, match="no tokens"):
        Vocabulary.of_tokenizer(Tokenizer(PreTrainedTokenizerFast(tokenizer_object=empty)))


def test_special_tokens_beyond_the_logits_are_left_out() -> None:
    known = vocabulary(marked(added=[AddedToken("<image>", special=True)]), padding=-1)
    assert known.tokens[-1] is not None


def test_ends_that_no_logit_can_name_are_refused() -> None:
    with pytest.raises(ModelLoadError, match="end a text"):
        vocabulary(byte_level(), padding=-1)


def test_tokenizer_that_composes_letters_can_be_used() -> None:
    tokenizer = byte_level(normalizer=normalizers.NFC())
    assert vocabulary(tokenizer).text(tokenizer.encode("e\u0301é")) == "éé".encode()


CHANGING = {
    "compatible letters": (normalizers.NFKC(), "normalizer changes"),
    "decomposed letters": (normalizers.NFD(), "normalizer changes"),
    "stripped accents": (normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]), "normalizer changes"),
    "lower case": (normalizers.Lowercase(), "normalizer changes"),
    "joined spaces": (normalizers.Replace(Regex(" +"), " "), "normalizer changes"),
    "no ends": (normalizers.Strip(), "normalizer changes"),
}


@pytest.mark.parametrize("change", CHANGING)
def test_tokenizer_that_changes_its_text_is_refused_with_the_reason(change: str) -> None:
    normalizer, reason = CHANGING[change]
    with pytest.raises(ModelLoadError, match=reason):
        vocabulary(byte_level(normalizer=normalizer))


def test_word_pieces_are_refused_with_the_reason() -> None:
    raw = RawTokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.decoder = decoders.WordPiece()
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]"))
    with pytest.raises(ModelLoadError, match=r"WordPiece.*spaces by rules of its own"):
        vocabulary(tokenizer)


def unigram(*, has_bytes: bool) -> Tokenizer:
    pieces = ["<unk>", *(BYTE_TOKENS if has_bytes else ()), MARK, *ASCII]
    raw = RawTokenizer(models.Unigram([(piece, -2.0) for piece in pieces], unk_id=0, byte_fallback=has_bytes))
    raw.normalizer = normalizers.Replace(" ", MARK)
    fallback = [decoders.ByteFallback()] if has_bytes else []
    raw.decoder = decoders.Sequence([decoders.Replace(MARK, " "), *fallback, decoders.Fuse()])
    return Tokenizer(PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>"))


def test_unigram_with_bytes_can_be_used_and_without_is_refused() -> None:
    tokenizer = unigram(has_bytes=True)
    assert vocabulary(tokenizer).text(tokenizer.encode("é 日")) == "é 日".encode()
    with pytest.raises(ModelLoadError, match="no tokens for single bytes"):
        vocabulary(unigram(has_bytes=False))


def test_decoder_that_writes_a_token_otherwise_is_found_and_the_id_named() -> None:
    # The decoder reads the sign as part of the number.
    tokenizer = marked(extra=["<0x+F>"])
    with pytest.raises(ModelLoadError, match=f"the id {tokenizer.entries['<0x+F>']} otherwise"):
        vocabulary(tokenizer)


@pytest.mark.parametrize("swapped", [(0xC8, 0xC9), (0xF1, 0xF2), (0x07, 0x08)])
@pytest.mark.parametrize("kind", ["bytes", "marks"])
def test_bytes_that_are_not_the_tokenizers_own_are_found(kind: str, swapped: tuple[int, int]) -> None:
    tokenizer = KINDS[kind]()
    tokens = list(vocabulary(tokenizer).tokens)
    check_round_trips(tokenizer, Vocabulary(tokens, tokenizer.stop_ids))
    one, other = (tokens.index(bytes((byte,))) for byte in swapped)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    with pytest.raises(ModelLoadError, match=f"the id ({one}|{other}) otherwise"):
        check_round_trips(tokenizer, Vocabulary(tokens, tokenizer.stop_ids))


def test_decoder_that_changes_several_tokens_together_is_refused() -> None:
    decoder = decoders.Sequence(
        [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Replace("  ", " ")]
    )
    with pytest.raises(ModelLoadError, match="decoder"):
        vocabulary(marked(decoder=decoder))


def test_further_literal_replacements_of_the_decoder_are_known() -> None:
    decoder = decoders.Sequence(
        [decoders.Replace("~", "\n"), decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    replaced = normalizers.Sequence([normalizers.Replace("\n", "~"), normalizers.Replace(" ", MARK)])
    with pytest.raises(ModelLoadError, match="does not give back"):
        vocabulary(marked(decoder=decoder, normalizer=replaced))
    from commitgate_local.token_bytes import token_bytes

    tokenizer = marked(decoder=decoder, normalizer=replaced)
    assert token_bytes(tokenizer)[tokenizer.entries["~"]] == b"\n"


def test_tokenizer_that_breaks_on_plain_text_is_refused() -> None:
    raw = RawTokenizer(models.WordLevel({"a": 0}, unk_token="[UNK]"))
    raw.decoder = decoders.ByteLevel()
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=raw))
    with pytest.raises(ModelLoadError, match="breaks on plain text"):
        vocabulary(tokenizer)


def test_tokenizer_of_the_program_is_left_as_it_was() -> None:
    fast: Any = byte_level()._fast
    before = fast.backend_tokenizer.to_str()
    tokenizer = Tokenizer(fast)
    MaskEngine(vocabulary(tokenizer))
    tokenizer.encode("a<|end|>")
    assert fast.backend_tokenizer.to_str() == before
    assert fast.backend_tokenizer.encode_special_tokens is False
    assert fast("<|end|>")["input_ids"] == [tokenizer.entries["<|end|>"]]
