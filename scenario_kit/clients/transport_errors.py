"""Translation of library exceptions without a response to our exceptions."""

from __future__ import annotations

import ssl
from typing import Final

import urllib3

from scenario_kit.errors import Unreachable

#: All exceptions of urllib3 and below that a request may raise; a test checks that this is complete.
LIBRARY_ERRORS: Final[tuple[type[Exception], ...]] = (
    urllib3.exceptions.HTTPError,
    urllib3.exceptions.ProxySchemeUnsupported,  # the only one that is not an HTTPError
    ssl.SSLError,
    OSError,
)


def translate_error(error: Exception, doing: str) -> Unreachable:
    """Return our exception for a library's: the server gave no usable response."""
    cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    fix = "check that the API server runs ('scenario-kit lab status', or kubectl cluster-info)"
    return Unreachable(f"{doing}: no response: {cause}", fix=fix)
