"""What it means when no answer came: exceptions of the libraries to an error of our tree."""

from __future__ import annotations

import ssl
from typing import Final

import urllib3

from scenario_kit.errors import Unreachable

#: Every exception of urllib3 and below that may leave a request; a test keeps this list complete.
LIBRARY_ERRORS: Final[tuple[type[Exception], ...]] = (
    urllib3.exceptions.HTTPError,
    urllib3.exceptions.ProxySchemeUnsupported,  # the one that is no HTTPError
    ssl.SSLError,
    OSError,
)


def translate_error(error: Exception, doing: str) -> Unreachable:
    """Return the error of our tree for a library's exception: whatever happened, the server gave no usable answer."""
    cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    fix = "check that the API server runs ('scenario-kit lab status', or kubectl cluster-info)"
    return Unreachable(f"{doing}: no answer: {cause}", fix=fix)
