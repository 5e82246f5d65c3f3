"""The formats, once: JSON Schemas in YAML beside this module.

Everything that knows the formats is generated from them or judges by them: the loader (closed objects, so that a
typo is an error), the CRDs (structural schemas, ``crd``), the schema for editors (``editor``) and the reference pages
(``reference``). A definition refers to another one by its bare name: ``$ref: Change``.
"""

from scenario_kit.schema.source import Schema, allow_templates, build_authoring_schema, expand, load_definitions

__all__ = ["Schema", "build_authoring_schema", "load_definitions", "expand", "allow_templates"]
