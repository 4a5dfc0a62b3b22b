"""Viser servers that only this computer reaches."""

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from symplectree.errors import ModelError
from symplectree.view.door import guarded, new_token

HOST = "127.0.0.1"
FIRST_PORT = 8080


def start(port: int, label: str) -> Any:
    """A server on this computer at the port, or at any free one for 0; see `door` for who may use it."""
    import viser

    token = new_token()
    with _silence(), guarded(token) as started:
        server = viser.ViserServer(host=HOST, port=port, label=label, verbose=False)
    if not started:
        stop(server)
        raise ModelError(f"pages cannot be guarded with viser {viser.__version__}; pip install 'viser==1.1.*'")
    server.symplectree_token = token
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
    server.gui.main_panel.dock_right()
    return server


def url(server: Any) -> str:
    """The address of a server's page."""
    return f"http://{HOST}:{server.get_port()}/{server.symplectree_token}"


def stop(server: Any) -> None:
    """End a server, without what it says about that."""
    with _silence():
        server.stop()


def keep(over: threading.Event, stop: Callable[[], None]) -> None:
    """Wait until Ctrl-C, or until it is over, then stop."""
    try:
        print("Press Ctrl-C to close it.", flush=True)
        over.wait()
    except KeyboardInterrupt:
        print()
    finally:
        stop()


def open_page(url: str) -> None:
    """Open a page, unless there is no screen: then the terminal's own browser would take the terminal."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    webbrowser.open(url)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing of what viser prints, even when asked to be silent; in a notebook it would be output of the cell."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def check_port(port: int | None) -> int:
    """The port to take: the one given, when it is free; else the first free one from 8080."""
    if port is None:
        return next((p for p in range(FIRST_PORT, FIRST_PORT + 100) if _free(p)), 0)
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ModelError(f"port is {port!r}, not a whole number from 0 (any free one) to 65535")
    if port and not _free(port):
        raise ModelError(f"port {port} of {HOST} is in use or not allowed; leave port= out to take a free one")
    return port


def _free(port: int) -> bool:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except OSError:
            return False
        return True
