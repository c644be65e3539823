"""What the caller's calls do where something is done because of a value: read from their code, which is never run."""

from pathlib import Path

import pytest

from commitgate.errors import MisuseError
from commitgate.preflight.check import Check
from commitgate.preflight.code_files import MAX_CODE_BYTES, MAX_CODE_FILES, scan_code
from commitgate.preflight.code_scan import CodeScan, scan
from commitgate.preflight.effect_checks import effect_checks
from commitgate.preflight.telemetry_checks import observed

HEAD = "from commitgate import Client, Contract, Risk, Retry, tool\nimport commitgate as cg\nimport uuid\n"
ACT = "client.generate_structured('m', T, effect=pay, operation_key=key{more})\n"


def scanned(text: str) -> CodeScan:
    return scan([("a.py", HEAD + text)])


def found(text: str, *, acts: bool = True) -> dict[str, Check]:
    return {each.id: each for each in effect_checks(scanned(text), acts=acts)}


@pytest.mark.parametrize(
    ("text", "acting"),
    [
        ("c.generate_structured('m', T)", 0),
        ("c.generate_structured('m', T, effect=None)", 0),
        ("c.generate_structured('m', T, effect=pay)", 1),
        ("c.stream_structured('m', schema=T, effect=pay)", 1),
        ("T = Contract.of(X, risk=Risk.EFFECT)\nc.generate_structured('m', T)", 1),
        ("T: Contract = cg.Contract.of(X, risk=cg.Risk.EFFECT)\nc.generate_structured('m', schema=T)", 1),
        ("T = Contract.of(X, risk=Risk.DRAFT)\nc.generate_structured('m', T)", 0),
        ("c.generate_structured('m', Contract.of(X, risk=Risk.EFFECT))", 1),
        ("c.generate_structured('m', contracts.REFUND)", 1),
        ("c.run_tools('m', tools=[a])", 0),
        ("@tool(effect='read')\ndef a(): ...\nc.run_tools('m', tools=[a])", 0),
        ("@tool(effect='once')\ndef a(): ...\nc.run_tools('m', tools=[a])", 1),
        ("@cg.tool(effect='by_key')\ndef a(): ...\nc.stream_tools('m', tools=[a])", 1),
        ("@other(effect='once')\ndef a(): ...\nc.stream_tools('m', tools=[a])", 0),
    ],
)
def test_calls_that_act_are_found(text: str, acting: int) -> None:
    read = scan([("a.py", HEAD + text)], acting_names=frozenset({"REFUND"}))
    assert (len(read.calls), len(read.acting)) == (1, acting)


def test_nothing_is_taken_for_granted_without_code() -> None:
    assert {each.verdict for each in effect_checks(None, acts=True)} == {"warned"}
    assert {each.verdict for each in effect_checks(None, acts=False)} == {"not_applicable"}
    assert {each.verdict for each in effect_checks(scanned("x = 1"), acts=True)} == {"warned"}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (ACT.format(more=""), "passed"),
        (ACT.format(more=", fallback=None"), "passed"),
        (ACT.format(more=", fallback='prompt_only'"), "failed"),
        (ACT.format(more=", **options"), "warned"),
        ("c.generate_structured('m', T, fallback='prompt_only')", "passed"),
    ],
)
def test_call_that_acts_must_not_fall_back(text: str, verdict: str) -> None:
    assert found(text)["no_fallback"].verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (ACT.format(more=""), "passed"),
        ("c.generate_structured('m', T)", "not_applicable"),
        ("c.generate_structured('m', T, effect=pay)", "failed"),
        ("c.generate_structured('m', T, effect=pay, operation_key=None)", "failed"),
        ("c.generate_structured('m', T, effect=pay, **options)", "warned"),
        ("c.generate_structured('m', T, effect=pay, operation_key=str(uuid.uuid4()))", "failed"),
        ("c.generate_structured('m', T, effect=pay, operation_key=f'{secrets.token_hex(4)}-x')", "failed"),
        ("key = f'at {time.time()}'\nc.generate_structured('m', T, effect=pay, operation_key=key)", "failed"),
        ("key = f'mail:{number}'\nc.generate_structured('m', T, effect=pay, operation_key=key)", "passed"),
    ],
)
def test_call_that_acts_names_its_business_act(text: str, verdict: str) -> None:
    assert found(text)["operation_key"].verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Client(ledger='desk.sqlite')\n", "passed"),
        ("Client()\n", "passed"),
        ("", "warned"),
        ("import httpx\nhttpx.Client()\n", "warned"),
        ("Client(**options)\n", "warned"),
        ("from commitgate.ledger import MemoryLedger\nClient(ledger=MemoryLedger())\n", "failed"),
        ("from commitgate.testing import MemoryLedger\nstore = MemoryLedger()\ncg.Client(ledger=store)\n", "failed"),
        ("from commitgate.sync import Client as C\nC(ledger='/tmp/a.sqlite')\n", "failed"),
        ("from commitgate.ledger import SqliteLedger as S\nClient(ledger=S('/dev/shm/a'))\n", "failed"),
        ("Client(ledger=':memory:')\n", "failed"),
        ("import tempfile\nplace = tempfile.gettempdir()\nClient(ledger=place)\n", "failed"),
        ("import tempfile\nfolder = tempfile.mkdtemp()\nClient(ledger=tempfile.mkdtemp() + '/a')\n", "failed"),
        (
            "from commitgate.ledger import SqliteLedger as S\nimport tempfile\nClient(ledger=S(tempfile.mkdtemp()))\n",
            "failed",
        ),
    ],
)
def test_ledger_of_what_acts_lasts(text: str, verdict: str) -> None:
    assert found(text + ACT.format(more=""))["durable"].verdict == verdict


def test_ledger_does_not_matter_where_nothing_acts_or_has_a_key() -> None:
    assert found("Client()\nc.generate_structured('m', T)")["durable"].verdict == "not_applicable"


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("", "passed"),
        (", retry=Retry(attempts=3, reasks=2)", "passed"),
        (", retry=Retry(attempts=100)", "warned"),
        (", retry=often", "warned"),
    ],
)
def test_call_does_not_ask_without_end(more: str, verdict: str) -> None:
    text = f"often = Retry(reasks=50)\n{ACT.format(more=more)}"
    assert found(text)["retries"].verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VllmBackend(base_url='x')\n", "passed"),
        ("VllmBackend(base_url='x', unproven_effects=True)\n", "failed"),
        ("VllmBackend(base_url='x', unproven_effects=False)\n", "passed"),
    ],
)
def test_proof_of_a_server_is_not_waived(text: str, verdict: str) -> None:
    text = f"from commitgate.backends.vllm import VllmBackend\n{text}{ACT.format(more='')}"
    assert found(text)["proof_asked"].verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Client(observers=[seen])", "passed"),
        ("Client(observers=seen)", "passed"),
        ("Client()", "warned"),
        ("Client(observers=[])", "warned"),
        ("Client(**options)", "passed"),
        ("x = 1", "warned"),
        ("from commitgate import *\nClient()", "warned"),
    ],
)
def test_clients_are_watched(text: str, verdict: str) -> None:
    assert observed(scanned(text), observers=None).verdict == verdict


def test_observers_that_are_given_count() -> None:
    assert observed(None, observers=1).verdict == "passed"
    assert observed(None, observers=0).verdict == "warned"
    assert observed(None, observers=None).verdict == "warned"


def test_star_import_brings_the_names_of_this_library() -> None:
    read = scan([("a.py", "from commitgate import *\nClient()\n")])
    assert [each.made for each in read.clients] == ["commitgate.Client"]


def test_code_is_never_run(tmp_path: Path) -> None:
    (tmp_path / "bomb.py").write_text("raise SystemExit('run')\n")
    assert scan_code([tmp_path]).files == 1


def test_folders_are_read_without_what_is_hidden_or_installed(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", ".venv/c.py", "node_modules/d.py", "sub/__pycache__/e.py", "sub/f.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("client.generate_structured('m', T)\n")
    read = scan_code([tmp_path, tmp_path / "a.py"])
    assert [Path(each.place.split(":")[0]).name for each in read.calls] == ["a.py", "b.py"]


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.py").write_text("#" * (MAX_CODE_BYTES + 1))
    told = " ".join(scan_code([tmp_path]).unread)
    assert all(words in told for words in ("broken.py: SyntaxError at line 1", "binary.py: ", "large.py: larger"))


def test_no_more_files_than_the_limit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commitgate.preflight.code_files.MAX_CODE_FILES", 3)
    for number in range(5):
        (tmp_path / f"f{number}.py").write_text("x = 1\n")
    read = scan_code([tmp_path])
    assert (read.files, read.unread) == (3, ("2 more files: no more than 3 are read",))
    assert MAX_CODE_FILES == 2_000


def test_code_that_is_not_there_is_a_misuse(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="there is no code at"):
        scan_code([tmp_path / "gone"])
