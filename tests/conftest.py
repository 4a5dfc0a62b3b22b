"""For all tests."""

import signal

from hypothesis import HealthCheck, settings

# How fast inputs are generated says only how busy the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_configure() -> None:
    """Let Ctrl-C interrupt: what a shell starts in the background ignores it, and the tests of it would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
