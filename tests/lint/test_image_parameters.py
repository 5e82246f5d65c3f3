"""SK109: a parameter that names an image takes references alone; of anything else a pod says InvalidImageName."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from scenario_kit.model.kubernetes.image import is_reference

CATALOG = Catalog()
SCENARIO = CATALOG.roots[-1] / "catalog" / "scenarios" / "product-catalog-image-not-found" / "scenario.yaml"
IMAGE = "ghcr.io/open-telemetry/demo:2.2.1-product-catalog"


@pytest.mark.parametrize(
    ("image", "valid"),
    [
        ("nginx", True), ("nginx:1.29.3", True), ("registry.example:5000/shop/cart:1.4.0-r2", True), ("a__b:1", True),
        ("shop/cart:1@sha256:" + "0" * 64, True), ("localhost/cart", True), ("a:b:c", False), ("Shop/Cart:1", False),
        ("shop/cart:", False), ("shop cart", False), ("cart@latest", False), ("", False), ("cart:1@sha256:12", False),
    ],
)  # fmt: skip
def test_name_of_an_image(image: str, valid: bool) -> None:
    assert is_reference(image) == valid


@pytest.mark.parametrize(("image", "found"), [("a:b:c", ["SK109"]), ("example.org/demo:none", [])])
def test_image_of_a_fault_is_a_reference(tmp_path: Path, image: str, found: list[str]) -> None:
    file = tmp_path / SCENARIO.parent.name / "scenario.yaml"
    file.parent.mkdir()
    text = SCENARIO.read_text()
    assert IMAGE in text
    file.write_text(text.replace(f'"{IMAGE}"', f'"{image}"'))
    reported = [each for each in lint_file(file, CATALOG) if each.code == "SK109"]
    assert [each.code for each in reported] == found
    assert all(each.position and each.observed == image and "at most one tag" in each.fix for each in reported)
