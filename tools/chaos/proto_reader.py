"""Reads Chaos Mesh's ``.proto`` files into descriptors.

It supports the part of proto3 that these files use and rejects everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, empty_pb2

from scenario_kit.errors import ToolchainError

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"|[A-Za-z_][\w.]*|\d+|[{}()\[\]<>=;,]|\S', re.DOTALL)
_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    name: getattr(_FIELD, f"TYPE_{name.upper()}")
    for name in (
        "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64",
        "fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes",
    )
}  # fmt: skip
_EMPTY = empty_pb2.DESCRIPTOR


def describe(text: str, where: str) -> descriptor_pb2.FileDescriptorProto:
    """Describe a proto3 file; ``where`` names it in errors. Only ``google/protobuf/empty.proto`` may be imported."""
    return _ProtoReader(text, where).file()


class _ProtoReader:
    """A recursive-descent parser: one method per construct; types are resolved at the end."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        self._tokens = list(_tokenize(text))
        self._at = 0

    def file(self) -> descriptor_pb2.FileDescriptorProto:
        out = descriptor_pb2.FileDescriptorProto(name=Path(self._where).name)
        while self._at < len(self._tokens):
            word = self._take_word()
            if word == "syntax":
                self._expect("=")
                out.syntax = self._take_word().strip('"')
                if out.syntax != "proto3":
                    raise self._build_error(f"syntax {out.syntax!r}, expected proto3")
                self._expect(";")
            elif word == "package":
                out.package = self._take_word()
                self._expect(";")
            elif word == "import":
                name = self._take_word().strip('"')
                if name != _EMPTY.name:
                    raise self._build_error(f"import of {name}, only {_EMPTY.name} is known")
                out.dependency.append(name)
                self._expect(";")
            elif word == "option":
                self._skip_to(";")
            elif word == "message":
                self._read_message(out.message_type.add())
            elif word == "enum":
                self._read_enum(out.enum_type.add())
            elif word == "service":
                self._read_service(out.service.add())
            elif word != ";":
                raise self._build_error(f"unexpected {word!r}")
        _Resolver(out, self._where).run()
        return out

    def _read_message(self, out: descriptor_pb2.DescriptorProto) -> None:
        out.name = self._take_word()
        self._expect("{")
        while (word := self._take_word()) != "}":
            if word == "message":
                self._read_message(out.nested_type.add())
            elif word == "enum":
                self._read_enum(out.enum_type.add())
            elif word in ("reserved", "option"):
                self._skip_to(";")
            elif word in ("oneof", "map", "optional", "required", "extensions", "group"):
                raise self._build_error(f"{word!r} in message {out.name} is not understood")
            elif word != ";":
                self._read_field(out.field.add(), word)

    def _read_field(self, out: descriptor_pb2.FieldDescriptorProto, word: str) -> None:
        out.label = _FIELD.LABEL_REPEATED if word == "repeated" else _FIELD.LABEL_OPTIONAL
        kind = self._take_word() if word == "repeated" else word
        if kind in _SCALARS:
            out.type = _SCALARS[kind]
        else:
            out.type_name = kind
        out.name = self._take_word()
        self._expect("=")
        out.number = self._number()
        if self._peek() == "[":
            self._skip_to("]")
        self._expect(";")

    def _read_enum(self, out: descriptor_pb2.EnumDescriptorProto) -> None:
        out.name = self._take_word()
        self._expect("{")
        while (word := self._take_word()) != "}":
            if word in ("option", "reserved"):
                self._skip_to(";")
            elif word != ";":
                self._expect("=")
                out.value.add(name=word, number=self._number())
                self._expect(";")

    def _read_service(self, out: descriptor_pb2.ServiceDescriptorProto) -> None:
        out.name = self._take_word()
        self._expect("{")
        while (word := self._take_word()) != "}":
            if word == ";":
                continue
            if word != "rpc":
                raise self._build_error(f"unexpected {word!r} in service {out.name}")
            method = out.method.add(name=self._take_word())
            method.input_type = self._read_argument(method.name)
            self._expect("returns")
            method.output_type = self._read_argument(method.name)
            if self._peek() == "{":
                self._skip_to("}")

    def _read_argument(self, method: str) -> str:
        self._expect("(")
        kind = self._take_word()
        if kind == "stream":
            raise self._build_error(f"{method} streams; only unary calls are known")
        self._expect(")")
        return kind

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take_word(self) -> str:
        if self._at >= len(self._tokens):
            raise self._build_error("unexpected end of file")
        word, _ = self._tokens[self._at]
        self._at += 1
        return word

    def _number(self) -> int:
        word = self._take_word()
        if not word.isdecimal():
            raise self._build_error(f"expected a number, found {word!r}")
        return int(word)

    def _expect(self, word: str) -> None:
        found = self._take_word()
        if found != word:
            raise self._build_error(f"expected {word!r}, found {found!r}")

    def _skip_to(self, word: str) -> None:
        while self._take_word() != word:
            pass

    def _build_error(self, what: str) -> ToolchainError:
        line = self._tokens[self._at - 1][1] if self._tokens else 1
        return ToolchainError(
            f"{self._where}:{line}: {what}", fix="install the version of Chaos Mesh that this release pins"
        )


class _Resolver:
    """Resolves type names to full names, innermost scope first, and distinguishes messages from enums."""

    def __init__(self, file: descriptor_pb2.FileDescriptorProto, where: str) -> None:
        self._file = file
        self._where = where
        self._root = f".{file.package}" if file.package else ""
        self._kinds: dict[str, int] = {}
        if file.dependency:
            self._kinds.update({f".{m.full_name}": _FIELD.TYPE_MESSAGE for m in _EMPTY.message_types_by_name.values()})

    def run(self) -> None:
        self._collect(self._root, self._file.message_type, self._file.enum_type)
        for message in self._file.message_type:
            self._resolve_fields(f"{self._root}.{message.name}", message)
        for service in self._file.service:
            for method in service.method:
                method.input_type = self._find(method.input_type, self._root)
                method.output_type = self._find(method.output_type, self._root)

    def _collect(self, scope: str, messages: Any, enums: Any) -> None:
        for enum in enums:
            self._kinds[f"{scope}.{enum.name}"] = _FIELD.TYPE_ENUM
        for message in messages:
            name = f"{scope}.{message.name}"
            self._kinds[name] = _FIELD.TYPE_MESSAGE
            self._collect(name, message.nested_type, message.enum_type)

    def _resolve_fields(self, scope: str, message: descriptor_pb2.DescriptorProto) -> None:
        for field in message.field:
            if field.type_name:
                field.type_name = self._find(field.type_name, scope)
                field.type = self._kinds[field.type_name]  # type: ignore[assignment,unused-ignore]
        for nested in message.nested_type:
            self._resolve_fields(f"{scope}.{nested.name}", nested)

    def _find(self, name: str, scope: str) -> str:
        while True:
            candidate = f"{scope}.{name}"
            if candidate in self._kinds:
                return candidate
            if not scope:
                raise ToolchainError(f"{self._where}: type {name} is not defined")
            scope = scope.rpartition(".")[0]


def _tokenize(text: str) -> Iterator[tuple[str, int]]:
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        word = match.group()
        if not word.startswith(("//", "/*")):
            line += text.count("\n", seen, match.start())
            seen = match.start()
            yield word, line
