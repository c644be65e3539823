"""A Postgres server of the tests' own, from the system's binaries, in a temporary folder and on a socket in it."""

import glob
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

USER = "commitgate"
PASSWORD = "canary-5d1c"  # it must not be seen in any message
START_S = 60.0
STOP_S = 30.0
WAIT_S = 30.0

KEEPER = """
exec 3<&0
"$@" 3<&- &
cat <&3 >/dev/null
kill -INT $!
wait $!
rm -rf "$0"
"""
"""Runs the server until whoever holds the other end of the pipe lets go, even where it was killed. $0: the folder."""

# What a test asks of the server is over when it ends: nothing needs to outlive a power cut.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "autovacuum": "off",
    "log_statement": "none",
}


class PostgresServer:
    """Name a running server.

    Attributes:
        folder: where its socket and its log lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = itertools.count(1)

    def url(self, *, password: str = PASSWORD, database: str = "postgres", search_path: str | None = None) -> str:
        """Return a connection string."""
        options = "" if search_path is None else "&options=" + quote(f"-csearch_path={search_path}", safe="")
        return f"postgresql://{USER}:{password}@/{database}?host={quote(str(self.folder), safe='')}{options}"

    def new_url(self) -> str:
        """Return a connection string that leads to a new, empty schema."""
        schema = f"test_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {schema}".encode())
        return self.url(search_path=schema)

    def new_url_with_clock(self, now: float) -> tuple[str, Callable[[float], None]]:
        """Return the same with a clock in it that stands still, and what sets it.

        The clock is a function of the schema that stands in for the server's own, which is looked for later.
        """
        url = self.new_url()
        with self.connect(url) as connection:
            row = connection.execute("SELECT current_schema()").fetchone()
            assert row is not None
            schema = row[0]
            for statement in (
                "CREATE TABLE stopped_clock (now double precision NOT NULL)",
                f"INSERT INTO stopped_clock VALUES ({now})",
                "CREATE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql "
                f"AS 'SELECT to_timestamp(now) FROM {schema}.stopped_clock'",
            ):
                connection.execute(statement.encode())

        def set_clock(now: float) -> None:
            with self.connect() as connection:
                connection.execute(f"UPDATE {schema}.stopped_clock SET now = %s".encode(), (now,))

        return self.url(search_path=f"{schema},pg_catalog"), set_clock

    def wait_until(self, condition: str, *parameters: object) -> None:
        """Ask until there is a session of which the condition over ``pg_stat_activity`` holds."""
        statement = f"SELECT count(*) FROM pg_stat_activity WHERE {condition}".encode()
        give_up_at = time.monotonic() + WAIT_S
        with self.connect() as connection:
            while connection.execute(statement, parameters or None).fetchone() == (0,):
                assert time.monotonic() < give_up_at
                time.sleep(0.005)

    def wait_until_blocked(self) -> None:
        """Wait until a session waits for a lock that another holds."""
        self.wait_until("wait_event_type = 'Lock'")

    def connect(self, url: str | None = None) -> psycopg.Connection:
        """Return a connection that commits each statement by itself."""
        return psycopg.connect(url or self.url(), autocommit=True)


def find_binaries() -> Path | None:
    """Return the folder that holds ``initdb`` and ``postgres``, None where there is none."""
    found = shutil.which("postgres")
    # Debian keeps them off the path, one folder for each major version.
    folders = [Path(name) for name in glob.glob("/usr/lib/postgresql/*/bin")]
    folders.sort(key=lambda folder: float(folder.parent.name), reverse=True)
    folders += [] if found is None else [Path(found).resolve().parent]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def running_server(binaries: Path) -> Iterator[PostgresServer]:
    """Run a server while the block runs; nothing of it is left behind, even where this process is killed."""
    # Not below pytest's own folder, which root keeps to itself; and the name of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="commitgate-pg-", dir="/tmp"))
    try:
        user = _ordinary_user()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        _initialise(binaries, folder, user)
        keeper = _start(binaries, folder, user)
        try:
            server = PostgresServer(folder)
            _wait_until_ready(server, keeper)
            yield server
        finally:
            _stop(folder, keeper)
    finally:
        if folder.exists():
            shutil.rmtree(folder)


def _ordinary_user() -> pwd.struct_passwd | None:
    """Return whom to run as where the tests run as root, which Postgres refuses."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _as(user: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _initialise(binaries: Path, folder: Path, user: pwd.struct_passwd | None) -> None:
    secret = folder / "secret"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    command = [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", USER, "-A", "scram-sha-256"]
    command += ["--pwfile", str(secret), "--encoding", "UTF8", "--locale", "C", "--no-sync"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=START_S, **_as(user))
    assert done.returncode == 0, done.stderr


def _start(binaries: Path, folder: Path, user: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    command = ["sh", "-c", KEEPER, str(folder), str(binaries / "postgres"), "-D", str(folder / "data")]
    command += ["-k", str(folder)]
    for name, text in SETTINGS.items():
        command += ["-c", f"{name}={text}"]
    with open(folder / "log", "wb") as log:
        # A session of its own: Ctrl-C is for the tests, which then stop the server in order.
        return subprocess.Popen(
            command, cwd="/", stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, **_as(user)
        )


def _wait_until_ready(server: PostgresServer, keeper: subprocess.Popen[bytes]) -> None:
    give_up_at = time.monotonic() + START_S
    while True:
        try:
            server.connect().close()
        except psycopg.OperationalError:
            is_hopeless = keeper.poll() is not None or time.monotonic() > give_up_at
            assert not is_hopeless, (server.folder / "log").read_text()
            time.sleep(0.02)
        else:
            return


def _stop(folder: Path, keeper: subprocess.Popen[bytes]) -> None:
    assert keeper.stdin is not None
    keeper.stdin.close()
    try:
        keeper.wait(STOP_S)
    except subprocess.TimeoutExpired:
        server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(server, signal.SIGQUIT)  # stop at once
        keeper.wait(STOP_S)
