"""SK204: downloads at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.context.source_location import Judged, RenderedField, find_introduced
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.stages import list_containers
from scenario_kit.model import Object

#: Commands that install something from the network.
_INSTALL: Final = re.compile(
    r"\b(?:pip3?|pipx|uv pip|npm|pnpm|yarn|gem|cargo|go|apt|apt-get|apk|yum|dnf|microdnf|zypper|conda)"
    r"\s+(?:-\S+\s+)*(?:install|add|ci|get)\b[^;&|\n]*"
    r"|\bgit\s+clone\b[^;&|\n]*|\bhelm\s+(?:repo\s+add|pull)\b[^;&|\n]*"
)
#: Commands that take a URL outside of the cluster.
_GET: Final = re.compile(
    r"\b(?:curl|wget|kubectl\s+(?:apply|create)|helm\s+(?:install|upgrade)|fetch|aria2c)\b[^;&|\n]*?"
    r"\b((?:https?|ftp)://([^\s/:'\"]+)[^\s'\"]*)"
)
_SCRIPT: Final = re.compile(r"^#!|\.(?:sh|py|js|rb|pl)$")

_PUBLIC: Final = frozenset({"com", "org", "net", "io", "dev", "sh", "co", "edu", "gov", "de", "eu", "ai", "me"})


@register_check("SK204", "Scenario", "Fault", "App")
def check_downloads(case: Judged) -> Iterator[Problem]:
    for found in find_introduced(case, _find_downloads):
        message = f"{found.subject} downloads from the network at run time: `{found.spot.note[:100]}`"
        expected = "everything in the image, or in an object of the file"
        yield Problem(found.site.place, message, found.spot.note[:100], expected, position=found.site.position)


def _find_downloads(obj: Object) -> Iterator[RenderedField]:
    for keys, container in list_containers(obj):
        for name in ("command", "args"):
            words = [str(word) for word in container.get(name) or ()]
            if words and (what := _find_download(" ".join(words))):
                at = next((i for i, word in enumerate(words) if _find_download(word)), 0)
                yield RenderedField((*keys, name, at), words[at], what)
        for part in ("postStart", "preStop"):
            words = _split_words((container.get("lifecycle") or {}).get(part))
            if what := _find_download(" ".join(words)):
                yield RenderedField((*keys, "lifecycle", part, "exec", "command", 0), words[0], what)
    if obj["kind"] == "ConfigMap":
        for key, text in (obj.get("data") or {}).items():
            if (
                isinstance(text, str)
                and (_SCRIPT.search(key) or text.startswith("#!"))
                and (what := _find_download(text))
            ):
                yield RenderedField(("data", key), text, what)


def _split_words(hook: Any) -> list[str]:
    run = hook.get("exec") if isinstance(hook, Mapping) else None
    return [str(word) for word in (run or {}).get("command") or ()]


def _find_download(text: str) -> str:
    """Return what a command downloads from outside of the cluster; empty if nothing."""
    if match := _INSTALL.search(text):
        return match[0].strip()
    for match in _GET.finditer(text):
        if _is_outside(match[2]):
            return match[0].strip()
    return ""


def _is_outside(host: str) -> bool:
    """Return whether a host is outside of the cluster, judged by its name."""
    bare = host.rpartition("@")[2].strip("[]").lower()
    if any(c in bare for c in "${}") or "." not in bare or re.fullmatch(r"[\d.]+", bare):
        return False
    if bare.endswith((".svc", ".cluster.local", ".local", ".internal")):
        return False
    # `service.namespace` has one dot like `example.com`; public domains have a known suffix.
    return bare.count(".") > 1 or bare.rpartition(".")[2] in _PUBLIC
