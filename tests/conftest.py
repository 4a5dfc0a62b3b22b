"""For all tests."""

import signal


def pytest_configure() -> None:
    """Let Ctrl-C interrupt: what a shell starts in the background ignores it, and the tests of it would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
