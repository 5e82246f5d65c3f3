"""Format authored documents as YAML that this project and kubectl read alike."""

from __future__ import annotations

from typing import Any, Final

import yaml

from scenario_kit.load.yaml.scalars import parse_scalar
from scenario_kit.load.yaml.yaml11 import explain_yaml11

_WIDTH: Final = 116


def dump_document(document: Any) -> str:
    """Format a document as YAML, with short values on one line."""
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True, default_flow_style=None
    )


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """A dumper without anchors, which quotes text that this project or kubectl would misread (SK140)."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


class BlockText(str):
    """Text of several lines that is written as such, without quotes."""

    __slots__ = ()


class _Misread:
    """Acts as a pattern that matches text that must be quoted."""

    def match(self, text: str) -> bool:
        return parse_scalar(text) != text or bool(explain_yaml11(text, text))


_Dumper.add_multi_representer(str, lambda dumper, text: dumper.represent_str(str(text)))
_Dumper.add_representer(
    BlockText, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)
_BOOL: Final = "tag:yaml.org,2002:bool"
_Dumper.add_implicit_resolver(_BOOL, _Misread(), None)
