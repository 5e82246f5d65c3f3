"""Requests by the names of their spans."""

import pytest

from scenario_kit.lab.twin.call_tree.routes import find_route


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["GET /api/cart"], ("GET", "/api/cart")),
        (["GET /api/cart?currencyCode=USD"], ("GET", "/api/cart")),
        (['10.0.0.1 - "POST / HTTP/1.1" 200'], ("POST", "/")),
        (["HTTP GET", "", "PUT /a"], ("PUT", "/a")),
        (["GET /first", "GET /second"], ("GET", "/first")),
        (["oteldemo.CartService/GetCart", "FORGET /me", "GET"], None),
        ([], None),
    ],
)
def test_route(texts: list[str], expected: tuple[str, str] | None) -> None:
    assert find_route(*texts) == expected
