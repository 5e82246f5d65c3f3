"""Recognizes mutants that only change messages, which no test should repeat word by word."""

from __future__ import annotations

import ast
import copy
from typing import Any

#: Keyword arguments that hold messages.
PROSE_KEYWORDS = frozenset(
    {"message", "observed", "expected", "why", "fix", "detail", "details", "title", "summary", "help", "reason", "says"}
)
_TEXT = ast.Constant("")


def differs_in_prose(original: ast.FunctionDef, mutant: ast.FunctionDef) -> bool:
    """Return whether two functions differ only in docstrings, strings with a blank and message arguments."""
    before, after = _drop_docstring(original), _drop_docstring(mutant)
    if len(before) != len(after) or ast.dump(original.args) != ast.dump(mutant.args):
        return False
    # Unchanged statements are compared without a copy, since copying is slow.
    changed = [(one, other) for one, other in zip(before, after, strict=True) if ast.dump(one) != ast.dump(other)]
    return all(_dump_skeleton(one) == _dump_skeleton(other) for one, other in changed)


def _drop_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def _dump_skeleton(statement: ast.stmt) -> str:
    return ast.dump(_WithoutProse().visit(copy.deepcopy(statement)))


class _WithoutProse(ast.NodeTransformer):
    """Replaces messages by a constant."""

    def visit_Constant(self, node: ast.Constant) -> Any:
        return _TEXT if isinstance(node.value, str) and " " in node.value else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        if any(isinstance(part, str) and " " in part for part in parts):
            node.values = [part for part in node.values if not isinstance(part, ast.Constant)]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        node.keywords = [word for word in node.keywords if word.arg not in PROSE_KEYWORDS]
        return self.generic_visit(node)
