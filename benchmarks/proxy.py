"""A TCP proxy that can refuse, cut and swallow what it forwards, as networks do."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import socket
import threading

PIECE = 64 * 1024
_RESET = b"\x01\0\0\0\0\0\0\0"  # SO_LINGER: on, 0 s


class Proxy:
    """Forwards one port of 127.0.0.1 to another address."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._open: set[socket.socket] = set()
        self._flows = threading.Event()
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]
        self.restore()

    def refuse(self) -> None:
        """Cuts every connection and refuses new ones, as a server that was stopped."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """Ends every connection at once, as a server that restarts."""
        for end in tuple(self._open):
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                end.shutdown(socket.SHUT_RDWR)

    def swallow(self) -> None:
        """Takes everything and answers nothing, as a host that was frozen."""
        self._flows.clear()

    def restore(self) -> None:
        """Forwards again, also what was swallowed."""
        if self._listener.fileno() < 0:
            self._listener = self._listen(self.port)
        self._flows.set()
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _listen(self, port: int) -> socket.socket:
        return socket.create_server(("127.0.0.1", port))

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self._target)
                self._open |= {client, server}
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(PIECE):
                self._flows.wait()
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.discard(source)
        source.close()


@contextmanager
def proxy(host: str, port: int) -> Iterator[Proxy]:
    """A proxy that ends with its block."""
    between = Proxy(host, port)
    try:
        yield between
    finally:
        between.swallow()
        between.refuse()
        between._flows.set()
