"""A proxy before a Postgres server that loses a COMMIT, or the answer to it."""

import contextlib
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

SOCKET_NAME = ".s.PGSQL.5432"
READY = b"Z"
PATIENCE_S = 30.0


class Loss(Enum):
    """Name what is lost of the next COMMIT."""

    NOTHING = "nothing"
    REQUEST = "the request never reaches the server"
    ANSWER = "the server commits and its answer is lost"
    LATE = "the connection is lost, and the request reaches the server later"


class Proxy:
    """Pass on what passes between clients and the server, one thread for each connection.

    Attributes:
        loss: what to lose of the next COMMIT; set to nothing again when it was lost.
        go_on: set by the test to let a late COMMIT reach the server.
        commits: how many COMMIT were seen.
    """

    def __init__(self, folder: Path, server_folder: Path) -> None:
        self.loss = Loss.NOTHING
        self.go_on = threading.Event()
        self.commits = 0
        self._server_path = str(server_folder / SOCKET_NAME)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET_NAME))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._clients: list[socket.socket] = []
        self._threads[0].start()

    def close(self) -> None:
        """Take no more connections, and end those that there are."""
        self.go_on.set()
        # Closing alone does not wake the one who waits in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in self._clients:
            with contextlib.suppress(OSError):  # it is over
                client.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._pass_on, args=(client,))
            self._threads.append(thread)
            self._clients.append(client)
            thread.start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server_path)
            while True:
                readable, _, _ = select.select([client, server], [], [], PATIENCE_S)
                for source, target in ((client, server), (server, client)):
                    if source not in readable:
                        continue
                    data = source.recv(65_536)
                    if not data or (source is client and b"COMMIT\0" in data and self._lose(client, server, data)):
                        return
                    target.sendall(data)

    def _lose(self, client: socket.socket, server: socket.socket, data: bytes) -> bool:
        self.commits += 1
        loss, self.loss = self.loss, Loss.NOTHING
        if loss is Loss.NOTHING:
            return False
        if loss is Loss.LATE:
            client.shutdown(socket.SHUT_RDWR)
            client.close()
            assert self.go_on.wait(PATIENCE_S)
        if loss is not Loss.REQUEST:
            server.sendall(data)
            answer = b""
            while READY not in answer:
                answer += server.recv(65_536)
        return True


@contextmanager
def running_proxy(folder: Path, server_folder: Path) -> Iterator[Proxy]:
    """Run a proxy whose socket lies in ``folder``, before the server whose socket lies in ``server_folder``."""
    proxy = Proxy(folder, server_folder)
    try:
        yield proxy
    finally:
        proxy.close()


__all__ = ["Loss", "Proxy", "running_proxy"]
