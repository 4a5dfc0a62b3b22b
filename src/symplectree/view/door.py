"""Who may come in to a page's server: those who know its address, and no other page of a browser.

A page that a person has open elsewhere can send requests to this computer, too, and a WebSocket answers to any page
unless it looks at the Origin. So the address holds a random token, without which nothing is found; the Host must be a
name of this computer, so that no name of somebody else's can be made to point here; and the Origin, which browsers state
truly, must be the page itself.
"""

import contextlib
import http
import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

HERE = ("127.0.0.1", "localhost", "::1")
_LOCK = threading.Lock()


def new_token() -> str:
    """Part of an address that nobody guesses."""
    return secrets.token_urlsafe(16)


@contextlib.contextmanager
def guarded(token: str) -> Iterator[list[bool]]:
    """Within it, a server that viser starts opens to requests under /token alone; the list tells if one was."""
    import websockets.asyncio.server as library

    started: list[bool] = []
    with _LOCK:
        serve = library.serve

        def serve_guarded(*given: Any, **options: Any) -> Any:
            page: Any = options.get("process_request")
            if getattr(page, "__module__", "").startswith("viser."):
                started.append(True)
                options["process_request"] = _door(token, page)
            return serve(*given, **options)

        library.serve = serve_guarded  # type: ignore[assignment, misc]
        try:
            yield started
        finally:
            library.serve = serve  # type: ignore[misc]


def _door(token: str, page: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Answers a request as `page` does, where it may be."""

    def answer(connection: Any, request: Any) -> Any:
        if refusal := _refused(token, request):
            return connection.respond(http.HTTPStatus.FORBIDDEN, refusal + "\n")
        request.path = request.path.removeprefix(f"/{token}") or "/"
        return page(connection, request)

    return answer


def _refused(token: str, request: Any) -> str:
    """Why a request is not answered; empty where it is."""
    host, origin = request.headers.get_all("Host"), request.headers.get_all("Origin")
    if len(host) != 1 or not _is_here(host[0]):
        return "this page is for the computer that it is on"
    if origin and origin != [f"http://{host[0]}"]:
        return "another page may not use this one"
    first = request.path.partition("?")[0].split("/")[1:2]
    if not first or not secrets.compare_digest(first[0].encode(), token.encode()):
        return "the address of this page has a token, which the program that serves it has printed"
    return ""


def _is_here(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in HERE
    except ValueError:
        return False
