"""Explain YAML syntax errors in terms of what the author wrote; libyaml reports only where it stopped."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

Mark = tuple[int, int]


class ParseError(NamedTuple):
    """An error of libyaml: the problem and its place, the context and where it began. Marks begin at 0."""

    problem: str
    at: Mark
    context: str = ""
    since: Mark | None = None


class SyntaxCause(NamedTuple):
    """The place of a mistake, its description, and a fix; ``opened`` is where a bracket or quote begins."""

    at: Mark
    message: str
    fix: str
    opened: Mark | None = None


_CLOSING: Final = {"[": "]", "{": "}"}
_FIELD: Final = re.compile(
    r"""\s*(?:- +)*(?P<key>"[^"]*"|'[^']*'|[^\s#'"{\[&*!|>%@`][^#]*?):(?P<gap>\s+|$)(?P<value>.*)"""
)
_UNSPACED: Final = re.compile(r"\s*(?:- +)*(?P<key>[A-Za-z][\w.-]*):(?P<value>[^\s:/].*)")
#: A code of Unicode as YAML writes it.
_UNICODE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})")
_GENERIC: Final = "correct the YAML at this place"


def find_cause(text: str, error: ParseError) -> SyntaxCause:
    """Find the cause of an error in the text around it; else return libyaml's message."""
    lines = text.split("\n")
    for look in (
        _explain_tab,
        _explain_template,
        _explain_quote,
        _explain_bracket,
        _explain_sign,
        _explain_alias,
        _explain_escape,
        _explain_colon,
        _explain_after_quote,
        _explain_closing,
        _explain_entry,
        _explain_word,
    ):
        found = look(lines, error)
        if found is not None:
            return found
    return _explain_indentation(lines, error) or SyntaxCause(error.at, _simplify(error), _GENERIC)


def _simplify(error: ParseError) -> str:
    return f"{error.problem} {error.context}".rstrip()


def _get_line(lines: list[str], number: int) -> str:
    return lines[number] if number < len(lines) else ""


def _get_char(lines: list[str], at: Mark) -> str:
    return _get_line(lines, at[0])[at[1] : at[1] + 1]


def _format_place(at: Mark) -> str:
    return f"line {at[0] + 1}, column {at[1] + 1}"


def _explain_tab(lines: list[str], error: ParseError) -> SyntaxCause | None:
    line = _get_line(lines, error.at[0])
    before = line[: len(line) - len(line.lstrip())]
    if "\t" not in before and _get_char(lines, error.at) != "\t":
        return None
    column = before.index("\t") if "\t" in before else error.at[1]
    return SyntaxCause((error.at[0], column), "a tab is used where YAML allows only spaces", "indent with spaces")


def _explain_template(lines: list[str], error: ParseError) -> SyntaxCause | None:
    line = _get_line(lines, error.at[0])
    column = line.find("{{", max(0, error.at[1] - 2))
    if column < 0 and line[: error.at[1]].rstrip().endswith("}}"):  # text continues after it
        column = line.rfind("{{", 0, error.at[1])
    ends = line.find("}}", column)
    if column < 0 or column > error.at[1] + 1 or _is_inside_quotes(line[:column]):
        return None
    written = line[column : ends + 2] if ends > 0 else "{{ … }}"
    return SyntaxCause(
        (error.at[0], column), "`{{` opens two mappings instead of a text", f'put the text in quotes: "{written}"'
    )


def _explain_quote(lines: list[str], error: ParseError) -> SyntaxCause | None:
    if "quoted scalar" not in error.context or "end of stream" not in error.problem or error.since is None:
        return None
    sign = _get_char(lines, error.since)
    message = f"the quote {sign} opened in {_format_place(error.since)} is never closed"
    return SyntaxCause(error.since, message, f"close it with {sign} at the end of the text", error.since)


def _explain_bracket(lines: list[str], error: ParseError) -> SyntaxCause | None:
    if "flow" not in error.context or error.since is None:
        return None
    opened = _get_char(lines, error.since)
    if opened not in _CLOSING:
        return None
    closing, found = _CLOSING[opened], _get_char(lines, error.at)
    if found in (*_CLOSING.values(),) and found != closing:
        message = f"`{found}` does not close `{opened}`, which opens in {_format_place(error.since)}"
        return SyntaxCause(error.at, message, f"write `{closing}`, or close what is open in between", error.since)
    if error.at[0] == error.since[0] and error.at[1] < len(_get_line(lines, error.at[0]).rstrip()):
        message = f"a `,` or `{closing}` is missing here: `{opened}` opens in {_format_place(error.since)}"
        fix = "add a comma between the entries, or quote the text if it contains `: `, `,`, a bracket or a quote"
        return SyntaxCause(error.at, message, fix, error.since)
    message = f"the bracket `{opened}` opened in {_format_place(error.since)} is not closed"
    return SyntaxCause(error.at, message, f"close it with `{closing}` before the next field", error.since)


def _explain_sign(lines: list[str], error: ParseError) -> SyntaxCause | None:
    if "cannot start any token" not in error.problem:
        return None
    sign, rest = _get_char(lines, error.at), _get_line(lines, error.at[0])[error.at[1] :].rstrip()
    return SyntaxCause(error.at, f"an unquoted text cannot begin with `{sign}`", f"write {_quote_text(rest)}")


def _explain_alias(lines: list[str], error: ParseError) -> SyntaxCause | None:
    line = _get_line(lines, error.at[0])
    if "undefined alias" not in error.problem and "alias" not in error.context and "anchor" not in error.context:
        return None
    rest = line[error.at[1] :].rstrip()
    reported = f"{error.problem}: `*` refers to an anchor `&…`, but there is none of that name"
    if "undefined alias" not in error.problem:
        reported = "an unquoted text cannot begin with `*` or `&`"
        start = error.since or error.at
        return SyntaxCause(start, reported, f"write {_quote_text(_get_line(lines, start[0])[start[1] :].rstrip())}")
    return SyntaxCause(error.at, reported, f"write {_quote_text(rest)} if it is text; else define the anchor")


def _explain_escape(lines: list[str], error: ParseError) -> SyntaxCause | None:
    if "escape" not in error.problem:
        return None
    line, at = _get_line(lines, error.at[0]), error.at
    if code := _UNICODE.match(line, max(at[1] - 2, 0)):
        fix = "write the character itself, or its own code: YAML has no pairs of codes as JSON has them"
        return SyntaxCause((at[0], code.start()), f"`{code[0]}` is the code of no character", fix)
    written = line[at[1] : at[1] + 2] if _get_char(lines, at) == "\\" else "\\" + _get_char(lines, at)
    fix = "use single quotes, where a backslash is literal, or double the backslash"
    return SyntaxCause(at, f"`{written}` is not an escape sequence in double quotes", fix)


def _explain_colon(lines: list[str], error: ParseError) -> SyntaxCause | None:
    """Explain a colon in a text, a field indented below a value, or a colon without a space above."""
    if "mapping values are not allowed" not in error.problem:
        return None
    number, column = error.at
    line = _get_line(lines, number)
    found = _FIELD.match(line)
    if found and found["value"] and found.end("key") < column:
        key, value = found["key"], found["value"].rstrip()
        reported = f"the text of `{key}` contains a colon and a space, which begin another field"
        return SyntaxCause(error.at, reported, f"put it in quotes: {key}: {_quote_text(value)}")
    above = next(
        (i for i in range(number - 1, -1, -1) if lines[i].strip() and not lines[i].lstrip().startswith("#")), -1
    )
    if above < 0:
        return None
    unspaced = _UNSPACED.match(lines[above])
    if unspaced:
        at = (above, unspaced.end("key"))
        reported = f"`{unspaced['key']}:` needs a space after its colon to be a field"
        return SyntaxCause(at, reported, f"write `{unspaced['key']}: {unspaced['value'].rstrip()}`")
    start = len(line) - len(line.lstrip())
    key = line.strip().split(":")[0]
    field = _FIELD.match(lines[above])
    whose = f"`{field['key']}` in line {above + 1}, which already has a value" if field else f"line {above + 1}"
    return SyntaxCause((number, start), f"`{key}` is indented deeper than {whose}", f"indent `{key}` like its siblings")


def _explain_after_quote(lines: list[str], error: ParseError) -> SyntaxCause | None:
    before = _get_line(lines, error.at[0])[: error.at[1]].rstrip()
    if "did not find expected" not in error.problem or before[-1:] not in ("'", '"'):
        return None
    sign, start = before[-1], before[:-1].rfind(before[-1])
    if start < 0:
        opened = _find_odd_quote(lines, error.at[0], sign)
        if opened is None:
            return None
        reported = f"the quote {sign} opened in {_format_place(opened)} is closed only in line {error.at[0] + 1}"
        return SyntaxCause(error.at, reported, f"close it with {sign} at the end of the text", opened)
    rest = _get_line(lines, error.at[0])[start:].rstrip()
    meant = rest[1:-1] if sign == "'" and rest.endswith(sign) else rest
    other = '"' if sign == "'" else "'"
    fix = (
        f"write {other}{meant}{other}" if other not in meant else f"quote the whole text, and double each {sign} in it"
    )
    return SyntaxCause(error.at, f"text continues after the closing quote {sign}", fix)


def _find_odd_quote(lines: list[str], below: int, sign: str) -> Mark | None:
    """Find the last unclosed quote above a line."""
    return next(((i, lines[i].rindex(sign)) for i in range(below - 1, -1, -1) if lines[i].count(sign) % 2), None)


def _explain_closing(lines: list[str], error: ParseError) -> SyntaxCause | None:
    sign = _get_char(lines, error.at)
    if "did not find expected" not in error.problem or sign not in _CLOSING.values():
        return None
    return SyntaxCause(error.at, f"`{sign}` has no opening bracket", "remove it, or add the opening bracket")


def _explain_entry(lines: list[str], error: ParseError) -> SyntaxCause | None:
    line = _get_line(lines, error.at[0])
    listed = re.match(r"\s*- ", line + " ") is not None
    if error.problem.endswith("expected key") and listed and "block mapping" in error.context:
        return SyntaxCause(
            error.at,
            "a list entry is used where a field is expected",
            "indent it below the field whose list it belongs to",
        )
    if error.problem.endswith("'-' indicator") and not listed and error.since is not None:
        reported = f"a field is used where an entry of the list that begins in line {error.since[0] + 1} is expected"
        return SyntaxCause(error.at, reported, "begin it with `- `, or indent it like the field of the list")
    return None


def _explain_word(lines: list[str], error: ParseError) -> SyntaxCause | None:
    if "expected ':'" not in error.problem or error.since is None:
        return None
    written = _get_line(lines, error.since[0])[error.since[1] :].rstrip()
    reported = f"`{written[:40]}` is neither a field nor part of the text above: it contains no `: `"
    return SyntaxCause(error.since, reported, "write `name: value`, or put a multi-line text in quotes or below `|`")


def _explain_indentation(lines: list[str], error: ParseError) -> SyntaxCause | None:
    line = _get_line(lines, error.at[0])
    own = len(line) - len(line.lstrip())
    if "did not find expected" not in error.problem or error.at[1] != own:
        return None
    levels = sorted({len(each) - len(each.lstrip(" ")) for each in lines[: error.at[0]] if each.strip()})
    if own in levels:
        return None
    reported = f"this line is indented by {own}, but no line above is ({', '.join(map(str, levels))})"
    near = min(levels, key=lambda level: abs(level - own)) if levels else 0
    return SyntaxCause(error.at, reported, f"indent it by {near}, or deeper than its parent")


def _is_inside_quotes(before: str) -> bool:
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1


def _quote_text(text: str) -> str:
    """Quote a text with the quotes that need fewer escapes."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"
