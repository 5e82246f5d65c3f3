"""The file formats, as JSON Schemas in YAML beside this module.

All users of the formats are generated from them or validate by them: the loader (closed objects, so that typos are
errors), the CRDs (structural schemas, ``crd``), editor schemas (``editor``) and reference pages. A definition refers to
another by its bare name: ``$ref: Change``.
"""

from scenario_kit.schema.source import Schema, build_authoring_schema, expand, load_definitions

__all__ = ["Schema", "build_authoring_schema", "load_definitions", "expand", "allow_templates"]
