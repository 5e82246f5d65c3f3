"""SK206: credentials in files."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import AppCase, FaultCase, PackCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.model import Position
from scenario_kit.model.json_document import Place

#: Formats of credentials, by issuer.
_FORMS: Final = {
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----",
    "an access key of AWS": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a key of Stripe": r"\b[rs]k_live_[0-9a-zA-Z]{20,}",
    "a key of OpenAI or Anthropic": r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}",
    "a token of npm or PyPI": r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})",
    "a signed web token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
}
_FORM: Final = re.compile("|".join(f"({form})" for form in _FORMS.values()))
#: Fields that hold credentials, and the minimum entropy (bits per character) and length of a real one.
_FIELD: Final = re.compile(r"(?:pass(?:word|wd)?|secret|token|api_?key|access_?key|credentials?)$", re.I)
_MIN_ENTROPY, _MIN_LENGTH = 3.6, 20


@register_check("SK206", "Scenario", "Fault", "App", "Pack")
def check_secrets(case: LintContext | FaultCase | AppCase | PackCase) -> Iterator[Problem]:
    shipped = _list_shipped_values(case) if isinstance(case, LintContext) else ()
    for place, text in case.positions.texts.items():
        if what := _classify_secret(place, text, shipped):
            yield Problem(place, f"this looks like {what}", f"{text.strip()[:6]}…", "no secret")
    if isinstance(case, AppCase):
        for path, text in case.templates.items():
            for match in _FORM.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                at = Position(path=str(path), line=line, column=match.start() - text.rfind("\n", 0, match.start()))
                reported = f"{match[0].strip()[:6]}…"
                yield Problem(("name",), f"this looks like {_name_match(match)}", reported, "no secret", position=at)


def _list_shipped_values(case: LintContext) -> Collection[str]:
    """List the values of the app's own Secrets, which its manifests publish: a repair writes them back."""
    secrets = [obj for obj in case.objects or () if obj["kind"] == "Secret"]
    return {str(value) for secret in secrets for value in (secret.get("data") or {}).values()}


def _classify_secret(place: Place, text: str, shipped: Collection[str]) -> str:
    """Describe the kind of secret; empty if the text is not one."""
    if match := _FORM.search(text):
        return _name_match(match)
    plain = _decode(text)
    names = [str(part) for part in place if isinstance(part, str)]
    if (
        names
        and _FIELD.search(names[-1])
        and "{" not in text
        and re.fullmatch(r"[\w+/=.~-]+", plain)
        and text not in shipped
        and _is_random(plain)
    ):
        return f"the value of a secret, `{names[-1]}`"
    return ""


def _name_match(match: re.Match[str]) -> str:
    return list(_FORMS)[next(i for i, part in enumerate(match.groups()) if part is not None)]


def _decode(text: str) -> str:
    """Return the readable text behind base64, as in a Secret, whose words would look random; else the text itself."""
    try:
        plain = base64.b64decode(text, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return text
    return plain if plain.isprintable() else text


def _is_random(text: str) -> bool:
    """Return whether a word is long, mixes letters and digits, and has the entropy of random text."""
    if len(text) < _MIN_LENGTH or not re.search(r"\d", text) or not re.search(r"[A-Za-z]", text):
        return False
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) >= _MIN_ENTROPY
