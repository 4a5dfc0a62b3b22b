"""Only who knows the page's address comes in, and no other page of a browser."""

import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
import viser
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from symplectree.errors import ModelError
from symplectree.view import server as servers

PROTOCOL = [f"viser-v{viser.__version__}"]


@pytest.fixture(scope="module")
def page():
    server = servers.start(0, "door")
    yield servers.url(server)
    servers.stop(server)


def fetched(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def opened(url, **headers):
    """The status of the handshake; whoever is let in is sent the scene."""
    try:
        with connect(url.replace("http://", "ws://"), subprotocols=PROTOCOL, additional_headers=headers) as socket:
            assert socket.recv(timeout=20)
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def test_who_knows_the_address_comes_in(page):
    here = urlsplit(page)
    assert here.hostname == "127.0.0.1" and len(here.path) > 20
    assert fetched(page) == fetched(page + "?fixedDpr=1") == 200
    assert opened(page) == opened(page, Origin=f"http://{here.netloc}") == 101
    other_name = page.replace("127.0.0.1", "localhost")
    assert opened(page, Origin=f"http://localhost:{here.port}") == 403  # the Host is another
    assert fetched(page, Host=urlsplit(other_name).netloc) == 200


@pytest.mark.parametrize("path", ["/", "", "/index.html", "/guess", "/guess/index.html", "//", "/%2e%2e/", "/?token=1"])
def test_no_token(page, path):
    base = page.rpartition("/")[0]
    assert fetched(base + path) == 403
    assert opened(base + path) == 403


def test_nearly_the_token(page):
    assert fetched(page[:-1]) == fetched(page + "x") == opened(page[:-1]) == 403
    assert fetched(page + "/../../../../etc/passwd") == 404


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://{}", "http://{}.evil.example", "http://127.0.0.1:1"]
)
def test_other_pages_are_refused(page, origin):
    origin = origin.format(urlsplit(page).netloc)
    assert opened(page, Origin=origin) == fetched(page, Origin=origin) == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{}", "127.0.0.1.evil.example:{}", "[", ""])
def test_other_names_for_this_computer_are_refused(page, host):
    """As when somebody makes a name of theirs point to 127.0.0.1."""
    assert fetched(page, Host=host.format(urlsplit(page).port)) in (400, 403)


def test_a_library_that_would_not_be_guarded_is_refused(monkeypatch):
    monkeypatch.setattr(viser.ViserServer, "__init__", lambda self, **given: None)
    monkeypatch.setattr(viser.ViserServer, "stop", lambda self: None)
    with pytest.raises(ModelError, match="cannot be guarded with viser"):
        servers.start(0, "door")
