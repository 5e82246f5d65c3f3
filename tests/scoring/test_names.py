"""Names of entities: which spellings are one object, and which are no claim at all."""

from __future__ import annotations

import pytest

from scenario_kit.scoring.entities.name import EntityName, list_stems, parse_entity_name

UID = "0f6a1c1e-8a43-4c9b-9a53-6d7c1a2b3c4d"


@pytest.mark.parametrize(
    ("text", "kind", "name", "namespace"),
    [
        ("shop/Deployment/cart", "Deployment", "cart", "shop"),
        ("Deployment/cart", "Deployment", "cart", ""),
        (" shop / Deployment / cart ", "Deployment", "cart", "shop"),
        ("shop/Deployment.apps/cart", "Deployment", "cart", "shop"),
        (f"shop/Pod/cart-1/{UID}", "Pod", "cart-1", "shop"),
        (f"shop/Pod/cart-1 (uid: {UID})", "Pod", "cart-1", "shop"),
        ("Namespace/shop", "Namespace", "shop", ""),
        ("shop/Namespace/shop", "Namespace", "shop", ""),
        ("shop/Node/worker-1", "Node", "worker-1", ""),
    ],
)
def test_spellings(text: str, kind: str, name: str, namespace: str) -> None:
    assert parse_entity_name(text) == EntityName(kind, name, namespace)


@pytest.mark.parametrize(
    "text", ["", "cart", "a/b/Deployment/cart", "/cart", "shop//cart", "shop/my-kind/cart", UID, "otel-demo/cart"]
)
def test_name_without_kind_is_no_claim(text: str) -> None:
    assert parse_entity_name(text) is None


@pytest.mark.parametrize(
    ("kind", "name", "stems"),
    [
        ("Pod", "cart-7f9-abc", ("cart",)),
        ("Pod", "cart-6d4b75cb6d-hk2xq", ("cart", "cart-6d4b75cb6d")),
        ("Pod", "cart-bcdfghjklm-hkxqz", ("cart", "cart-bcdfghjklm")),
        ("Pod", "kafka-0", ("kafka",)),
        ("Pod", "fraud-detection", ()),
        ("Pod", "cart", ()),
        ("ReplicaSet", "product-catalog-6d4b75cb6d", ("product-catalog",)),
        ("Deployment", "cart-7f9-abc", ()),
        ("Job", "backup-28391234", ("backup",)),
        ("Service", f"cart-{UID}", ("cart",)),
    ],
)
def test_generated_suffixes(kind: str, name: str, stems: tuple[str, ...]) -> None:
    assert list_stems(EntityName(kind, name)) == stems
