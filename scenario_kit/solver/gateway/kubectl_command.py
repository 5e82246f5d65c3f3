"""Parse and check a solver's kubectl command line. Pure.

The solver's RBAC role decides what it may read and write. This module refuses what reaches beyond the API server (other
identities and servers, local files, editors, shells) and commands that never return while the incident's clock stops.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final, NamedTuple

from scenario_kit.solver.gateway.answers import BadCall

#: Maximum length of a command line in bytes; the operating system accepts no argument of twice that length.
LONGEST_COMMAND: Final = 64 * 1024
#: Verbs that only read.
READING: Final = frozenset({
    "api-resources", "api-versions", "auth", "describe", "events", "explain", "get", "logs", "top", "version",
})  # fmt: skip
#: Verbs that write.
WRITING: Final = frozenset({
    "annotate", "apply", "autoscale", "cordon", "create", "delete", "drain", "exec", "expose", "label", "patch",
    "replace", "rollout", "run", "scale", "set", "taint", "uncordon",
})  # fmt: skip
#: Unsupported verbs of kubectl, and what to do instead.
_INSTEAD: Final = {
    "attach": "read what the program prints: kubectl logs",
    "cp": "programs are simulated and have no files; kubectl logs shows what they print",
    "debug": "a pod of its own runs a command: kubectl run NAME --image=busybox --restart=Never -- nslookup SERVICE",
    "edit": "kubectl patch, or kubectl apply -f - with a manifest",
    "port-forward": "the metrics and traces tools show traffic",
    "proxy": "kubectl get reads every object that you may read",
    "wait": "let time pass with the tool wait; then kubectl get",
    "diff": "kubectl get -o yaml shows the live object",
}
#: Allowed long options.
_OPTIONS: Final = frozenset({
    "all", "all-containers", "all-namespaces", "all-pods", "annotations", "api-group", "as-dir-name", "cascade",
    "cluster-ip", "command", "container", "containers", "cpu", "cpu-percent", "current-replicas",
    "delete-emptydir-data", "disable-eviction", "dry-run", "env", "except", "external-ip", "field-manager",
    "field-selector", "filename", "for", "force", "force-conflicts", "from", "from-literal", "grace-period", "groups",
    "hard", "help", "ignore-daemonsets", "ignore-errors", "ignore-not-found", "image", "image-pull-policy", "keys",
    "label-columns", "labels", "limit-bytes", "limits", "list", "local", "max", "max-log-requests", "memory", "min",
    "name", "namespace", "namespaced", "no-headers", "now", "output", "output-watch-events", "override-type",
    "overrides", "overwrite", "patch", "pod-selector", "port", "prefix", "previous", "protocol", "quiet", "record",
    "recursive", "replicas", "requests", "resource", "resource-version", "resources", "restart", "revision", "role",
    "rule", "save-config", "schedule", "scopes", "selector", "server-side", "serviceaccount", "session-affinity",
    "show-capacity", "show-events", "show-kind", "show-labels", "show-managed-fields", "show-swap", "since",
    "since-time", "sort-by", "subresource", "sum", "tail", "target-port", "tcp", "template", "timeout", "timestamps",
    "to-revision", "type", "types", "use-protocol-buffers", "user-agent", "validate", "verbs", "verb", "wait", "watch",
    "clusterrole",
})  # fmt: skip
#: Short options with a value.
_VALUED: Final = frozenset("ceflLno")
#: Short options without a value.
_PLAIN: Final = frozenset("ARhqp")
_NUMBER: Final = re.compile(r"-\d+$")
_HEREDOC: Final = re.compile(
    r"(?P<command>[^\n]*?)<<-?\s*(['\"]?)(?P<mark>\w+)\2[ \t]*\n(?P<body>.*?)\n?(?P=mark)\s*$", re.S
)
_SHELL: Final = "|;&<>"
_FILES: Final = re.compile(r"(?:jsonpath|go-template|custom-columns|template)-?file")


class KubectlCommand(NamedTuple):
    """The arguments after ``kubectl``, and its standard input."""

    arguments: tuple[str, ...]
    stdin: str = ""

    @property
    def verb(self) -> str:
        """The verb of the command."""
        return self.arguments[0]

    @property
    def writes(self) -> bool:
        """Whether the verb can modify objects."""
        return self.verb in WRITING


def parse_kubectl(text: str, stdin: str = "") -> KubectlCommand:
    """Parse a command line, with or without a leading ``kubectl``.

    A here-document (``kubectl apply -f - <<EOF``) becomes the standard input.

    Raises:
        BadCall: it is not a kubectl command line, or one that is not supported.
    """
    if "\0" in text:
        raise BadCall("a command with a NUL character", "leave it out")
    if found := _HEREDOC.match(text.strip()):
        text, stdin = found["command"], found["body"] + "\n"
    if len(text.encode()) > LONGEST_COMMAND:
        raise BadCall(
            f"a command of {len(text)} characters", f"at most {LONGEST_COMMAND}; a manifest goes into `stdin`"
        )
    arguments = _split(text)
    if arguments[:1] == ["kubectl"]:
        arguments = arguments[1:]
    if not arguments:
        raise BadCall("an empty command", "for example: kubectl get pods")
    verb = arguments[0]
    if verb not in READING | WRITING:
        raise BadCall(
            f"kubectl {verb} is not supported", _INSTEAD.get(verb, f"verbs: {', '.join(sorted(READING | WRITING))}")
        )
    arguments = _check_options(verb, arguments)
    return KubectlCommand(tuple(_make_finite(arguments)), stdin)


def _split(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_SHELL)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise BadCall(f"the quotes of the command do not match: {error}", "close every quote") from error
    for word in words:
        if word and not set(word) - set(_SHELL):
            raise BadCall(
                f"`{word}`: there is no shell here", "one command of kubectl; filter with -l, -o jsonpath or --tail"
            )
    return words


def _check_options(verb: str, arguments: Sequence[str]) -> list[str]:
    """Check every option before ``--``, which is followed by a container's command."""
    words = iter(range(1, len(arguments)))
    for at in words:
        word, following = arguments[at], arguments[at + 1] if at + 1 < len(arguments) else ""
        if word == "--":
            break
        short = word.startswith("-") and word != "-" and not _NUMBER.match(word)
        if word.startswith("--"):
            _check_long(verb, word[2:], following)
        elif short and _check_short(verb, word[1:], following):
            next(words, None)
    return list(arguments)


def _check_long(verb: str, option: str, following: str) -> None:
    name, equals, value = option.partition("=")
    if name not in _OPTIONS:
        raise BadCall(
            f"--{name} is not supported", "leave it out; identity and server are fixed, and there are no files"
        )
    if name == "filename":
        _check_file(value if equals else following)
    if name == "output":
        _check_format(value if equals else following)
    if name in ("watch", "output-watch-events") and value != "false":
        raise BadCall("--watch never ends", "leave it out, let time pass with the tool wait, and repeat the command")
    if verb == "logs" and name == "follow":
        raise BadCall("--follow never ends", "leave it out")


def _check_short(verb: str, letters: str, following: str) -> bool:
    """Check short options; return True if the next word is their value."""
    for at, letter in enumerate(letters):
        rest = letters[at + 1 :].removeprefix("=")
        if letter == "w":
            raise BadCall("-w never ends", "leave it out, let time pass with the tool wait, and repeat the command")
        if letter == "f" and verb == "logs":
            raise BadCall("logs -f never ends", "leave -f out")
        if letter in _VALUED or (letter == "p" and verb == "patch"):
            if letter == "f":
                _check_file(rest or following)
            if letter == "o":
                _check_format(rest or following)
            return not rest
        if letter not in _PLAIN:
            fix = "leave it out; commands are not interactive" if letter in "it" else "leave it out"
            raise BadCall(f"-{letter} is not supported", fix)
    return False


def _check_file(value: str) -> None:
    if value != "-":
        raise BadCall(f"-f {value}: there are no files here", "-f - and the manifest as `stdin`, or as a here-document")


def _check_format(value: str) -> None:
    if _FILES.match(value):
        raise BadCall(f"-o {value}: there are no files here", "write the template into the command")


def _make_finite(arguments: list[str]) -> list[str]:
    """Add the options with which kubectl returns immediately, since the incident's clock stops during the call."""
    verb = arguments[0]
    given = {word.partition("=")[0] for word in arguments}
    if verb == "delete" and "--wait" not in given:
        return [verb, "--wait=false", *arguments[1:]]
    if verb == "rollout" and arguments[1:2] == ["status"] and "--watch" not in given:
        return [*arguments[:2], "--watch=false", *arguments[2:]]
    return arguments
