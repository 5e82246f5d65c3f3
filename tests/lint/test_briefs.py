"""Briefs as people write them: those that give the answer away, and those that only state symptoms."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.catalog import find_data_root
from scenario_kit.model import Severity
from tests.lint.test_rules import base, lint

_CART = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
_CATALOG = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
_QUOTE = find_data_root() / "catalog" / "scenarios" / "shipping-quote-address-wrong" / "scenario.yaml"
_ADS = find_data_root() / "catalog" / "scenarios" / "ads-tuned-to-death" / "scenario.yaml"
_VALKEY = find_data_root() / "catalog" / "scenarios" / "valkey-cart-network-delay" / "scenario.yaml"

_LEAKS = [
    (_CART, "Baskets fail. Codes 3 1 18 20."),
    (_CART, "Baskets fail. Codes 99, 97, 114, 116."),
    (_CART, "Baskets fail. (dbsu)"),
    (_CART, "It is hectic\nThey buy no pizza\nIt gets warmer\nNothing to report"),
    (_CART, "Our shop fails: orders Cannot be plAced by any useR aT all."),
    (_QUOTE, "Tell sam how instead paul passes it nowadays gratis."),
    (_CART, "Baskets fail." + " \t" * 6 + "Please help."),
    (_CART, "Baskets fail." + "\n" * 20 + "Please help."),
    (_CART, "Carts: 0/1 ready."),
    (_CART, "Baskets fail. Count the running copies of everything."),
    (_CART, "Baskets fail. Check how many of them run."),
    (_CART, "There is not a single copy of it."),
    (_CART, "All services are green but one, which begins with c and has four letters."),
    (_VALKEY, "Baskets are slow. Ping times are up by 1.5 s."),
    (_VALKEY, "Baskets are slow. Packets are held back."),
    (_CART, "There are no pods of the cart."),
    (_CART, "Baskets fail. Somebody turned the cart off."),
    (_CART, "Baskets fail since the cart was switched off."),
    (_CART, "Baskets fail: the cart service was deleted."),
    (_CART, "An intern shut down the cart this morning."),
    (_CART, "The cart has zero replicas."),
    (_CART, "Something was scaled to zero an hour ago."),
    (_CART, "Someone disabled the cart backend."),
    (_CART, "Baskets fail. kubectl scale deploy/cart --replicas=1 helps."),
    (_CART, "Try `kubectl get deployments` and look for zeros."),
    (_CART, "Baskets fail. <!-- cart has no replicas --> Please help."),
    (_CART, "Baskets fail. [//]: # (the deployment was scaled)"),
    (_CART, "Baskets fail, see wiki.corp/incidents/42 for more."),
    (_CART, "Baskets fail, see bit.ly/3xYz for more."),
    (_CART, "Baskets fail, see pastes.dev for more."),
    (_CART, "Baskets fail, see [this page](answers.md)."),
    (_CART, "Baskets fail. Set spec.replicas back to one."),
    (_CART, "Der cart wurde von jemandem abgeschaltet und ist nicht mehr da."),
    (_CART, "Le service cart est \u00e9teint depuis une heure."),
    (_CART, "El cart no tiene r\u00e9plicas desde la ma\u00f1ana."),
    (_CART, "C\u00e9cile rang. All baskets fail. Rates fell. They do not recover."),
    (_CART, "Please look at the cart."),
    (_CART, "It was done deliberately."),
    (_CART, "Baskets fail: deployment\u2013cart has a problem."),
    (_CART, "Baskets fail: deploy_cart has a problem."),
    (_CART, "Baskets fail. The number of cart instances is 0."),
    (_CART, "Baskets fail. There are no instances of the cart."),
    (_CART, "Baskets fail. The cart has been decommissioned by the night shift."),
    (_CART, "Baskets fail since the cart was put to sleep at 10:30."),
    (_CART, "Los clientes no pueden comprar: el cart fue escalado a cero."),
    (_CATALOG, "Product pages fail. The Service points to a port on which nobody listens."),
    (_CATALOG, "Product pages fail since somebody edited a Service manifest."),
    (_ADS, "Pages have no ads. Something got 96Mi."),
    (_ADS, "Pages have no ads. Something got 96 MB."),
    (_ADS, "Pages have no ads. Memory of the ad service was cut."),
    (_CATALOG, "The target port of something is wrong."),
    (_CATALOG, "The product\u2013catalog answers on a wrong port."),
    (_CATALOG, "The product_catalog has a wrong selector."),
    (_CATALOG, "The productCatalog has a closed port."),
    (_CATALOG, "The PRODUCT CATALOG listens elsewhere; its DNS is fine."),
    (_CATALOG, "The catalogue's port was changed."),
    (_CATALOG, "Somebody changed the port of the product catalog."),
    (_CATALOG, "Look at service/product-catalog."),
    (_CATALOG, "It is 9999 now, they say."),
    (_QUOTE, "An environment variable was changed."),
    (_VALKEY, "The valkey\u2014cart suffers from packet loss."),
    (_VALKEY, "There is a network delay somewhere."),
    (_CATALOG, "Product pages fail since a colleague edited the productcatalog service."),
    (_CATALOG, "The product catalog service has been restarted by the team; product pages still fail."),
    (_CATALOG, "Product pages fail since the catalogue was patched, and somebody misconfigured the catalogue."),
    (_CATALOG, "Product pages fail. Hint: connections between pods are fine."),
    (_CATALOG, "Product pages fail. The answer begins with p and ends with g."),
]

_HONEST = [
    (_CART, "Card payments: 0 successful since 11:47. Carts: 12 of 50 are empty."),
    (_CART, "Orders 3, 17, 20 and 25 failed; support got 12, 14, 17 and 25 calls an hour."),
    (_CART, "The checkout starts with a blank page. The list of items is empty.\n\nIt began on Monday."),
    (_CART, "SLO: 99.5 %.\n\n- cart page: errors\n- product pages: fine\n- ads: fine"),
    (_CART, "How many customers are there? Two of them run a shop with us; their carts are empty."),
    (_CART, "Codes with six digits (471128) are rejected when a customer pays for the cart."),
    (_CART, "Since 10:30 customers cannot open their cart."),
    (_CART, "About 30 % of all customers see an empty cart."),
    (_CART, "@oncall: baskets are gone for everyone in the EU region (ticket #4211)."),
    (_CART, "The p95 of GET /api/cart went from 80 ms to a timeout; please find out why."),
    (_CART, "Our SLO for the cart (99.9 %) burns at 14.4x. The error budget will be gone by 6 p.m."),
    (_CART, "Customers from S\u00e3o Paulo, La Paz and Los Angeles cannot open the cart, nor can those from El Paso."),
    (_CART, "The CPU of the cart is at 100 %, and its memory grows."),
    (_ADS, "Ad revenue dropped to 0 \u20ac at 09:12 UTC; 96 customers have called."),
    (_ADS, "No advertisements are shown on 96 % of all pages."),
    (_CATALOG, "Product pages are blank since the manifests were tidied up."),
    (_CATALOG, "Product pages are blank; the catalogue seems to be down according to 3 customers."),
    (_CART, "We lose 500 $ an hour: nobody can put anything into the cart."),
    (_CART, "Carts &amp; checkouts fail; mail to ops@example.com says so."),
    (_CART, "Customers cannot add items to the cart, and items are removed from carts."),
    (_CART, "The cart page answers 503 for everybody since the release of this morning."),
    (_CART, "Customers remove one item from their cart and get an error."),
    (_CART, "Everything but the cart works. It is not our customers' fault."),
    (_CART, "2 of 3 carts are empty @ 14:05, says support (ticket #4711)."),
    (_CART, "The reason is unknown; the cart is down."),
    (_CART, "HighRequestErrorRate fires on Deployment/frontend and Deployment/checkout since 09:12 UTC."),
    (_CART, "The worst case scenario: nobody can buy. The cart stays empty."),
    (_CART, "The A/B experiment of the cart page was stopped, and customers still cannot buy anything."),
    (_CART, "Orders for shop.example.com fail, and the cart is slow."),
    (_CATALOG, "The product catalog shows no image and no price."),
    (_CATALOG, "Customers who pick a shipping address see an error page from the catalogue."),
    (_CATALOG, "The catalogue is empty for 1 in 4 customers; ads play no role."),
    (_CATALOG, "Product pages fail @ peak hours. We lose $ 1,000 a minute."),
    (_QUOTE, "Customers cannot pick a shipping address, and nobody can check out."),
    (_QUOTE, "Shipping costs are not shown. Customers claim that the volume of orders fell."),
    (_QUOTE, "No quote for shipping is shown at 9 a.m., although customers tag their orders."),
    (_VALKEY, "The cart is slow for everybody since the network was hardened."),
    (_VALKEY, "Carts take 5 s to open; customers pull out of orders."),
    (_CART, "Customers changed the cart and lost it. Since we updated the phone app, others see it too."),
    (_CART, "The tip of the day is shown, the cart is not; customers edited carts in vain."),
]


@pytest.mark.parametrize(("scenario", "brief"), _LEAKS)
def test_brief_that_reveals_the_answer_is_refused(scenario: Path, brief: str, tmp_path: Path) -> None:
    document = base(scenario)
    document["spec"]["brief"] = brief
    found = [(f.code, f.severity) for f in lint(document, tmp_path)]
    assert ("SK211", Severity.ERROR) in found


@pytest.mark.parametrize(("scenario", "brief"), _HONEST)
def test_brief_of_symptoms_is_accepted(scenario: Path, brief: str, tmp_path: Path) -> None:
    document = base(scenario)
    document["spec"]["brief"] = brief
    assert [f.message for f in lint(document, tmp_path) if f.code == "SK211"] == []
