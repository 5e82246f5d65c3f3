"""What users get while one component of the hotel is down, slow or cut off, route by route.

Each row follows from the code of commit 6ecb097; comments name the functions that decide it.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from scenario_kit.model import App
from tests.lab.twin.hotel import live, started
from tests.lab.twin.outcomes import observe
from tests.lab.twin.twin_cluster import TwinCluster

HOTELS, TIPS, LOGIN, BOOKING = (
    "HTTP GET /hotels",
    "HTTP GET /recommendations",
    "HTTP POST /user",
    "HTTP POST /reservation",
)
ROUTES = (HOTELS, TIPS, LOGIN, BOOKING)
#: The share of searches that find hotels, and the mean number of nights of a booking.
FOUND, NIGHTS = 0.52, 3


@pytest.fixture
def hotel(hotel_app: App, hotel_objects: list[dict[str, Any]]) -> TwinCluster:
    return started(hotel_app, hotel_objects, 90.0)


#: The routes that answer 500 while a component has no pod; all others are as ever.
DOWN: Mapping[str, tuple[str, ...]] = {
    # searchHandler: search (geo, then rate, also for no hotels), reservation, profile.
    "search": (HOTELS,),
    "geo": (HOTELS,),
    "rate": (HOTELS,),
    # recommendHandler.
    "recommendation": (TIPS,),
    "profile": (HOTELS, TIPS),
    # userHandler, reservationHandler.
    "user": (LOGIN, BOOKING),
    "reservation": (HOTELS, BOOKING),
    # Known addresses stay; stores are read at the start, or behind a warm cache.
    "consul": (),
    "jaeger": (),
    "mongodb-geo": (),
    "mongodb-recommendation": (),
    "mongodb-user": (),
    "mongodb-rate": (),
    "mongodb-profile": (),
}

#: Mean seconds of the routes that are late while all that a component sends is a second late.
LATE: Mapping[str, Mapping[str, float]] = {
    # What it asks for; the spans do not show that its answers are late, too.
    "frontend": {HOTELS: 3, TIPS: 2, LOGIN: 1, BOOKING: 2},
    # Nearby: geo, rate, its answer.
    "search": {HOTELS: 3},
    "geo": {HOTELS: 1},
    # No cache is asked for no hotels.
    "rate": {HOTELS: 1 + FOUND},
    "memcached-rate": {HOTELS: FOUND},
    "profile": {HOTELS: 1 + FOUND, TIPS: 2},
    "memcached-profile": {HOTELS: FOUND, TIPS: 1},
    "recommendation": {TIPS: 1},
    "user": {LOGIN: 1, BOOKING: 1},
    # CheckAvailability: two reads. MakeReservation: two reads, a write and an insert for each night.
    "memcached-reserve": {HOTELS: 2 * FOUND, BOOKING: 3 * NIGHTS},
    "consul": {},
    "mongodb-rate": {},
    "mongodb-profile": {},
    "mongodb-geo": {},
}


@pytest.mark.parametrize("component", DOWN)
def test_component_without_pods(hotel: TwinCluster, component: str) -> None:
    hotel.scale(component, 0)
    hotel.run(60.0)
    outcomes = observe(hotel, "frontend", ROUTES, 120.0)
    assert {route: round(outcome.failed, 2) for route, outcome in outcomes.items() if outcome.failed} == dict.fromkeys(
        DOWN[component], 1.0
    )
    for route, outcome in outcomes.items():
        assert outcome.statuses <= {500}, route
        assert outcome.seconds < 0.1, route


@pytest.mark.parametrize("component", LATE)
def test_component_a_second_late(hotel: TwinCluster, component: str) -> None:
    hotel.chaos(component, delay=1.0)
    hotel.run(30.0)
    outcomes = observe(hotel, "frontend", ROUTES, 180.0)
    for route, outcome in outcomes.items():
        # Few book.
        near = pytest.approx(LATE[component].get(route, 0.0), rel=0.2 if route == BOOKING else 0.06, abs=0.05)
        assert outcome.seconds == near, route
        assert outcome.failed == 0.0, route


def test_searches_never_ask_the_store_of_bookings(hotel: TwinCluster) -> None:
    """gomemcache's GetMulti returns no error for missing keys, and CheckAvailability looks for ErrCacheMiss."""
    hotel.restart("memcached-reserve")
    live(hotel, 30.0)
    hotel.chaos("mongodb-reservation", delay=2.0)
    hotel.run(30.0)
    outcomes = observe(hotel, "frontend", ROUTES, 120.0)
    assert outcomes[HOTELS].seconds < 0.1
    assert outcomes[BOOKING].seconds > 2 * NIGHTS, "each night is read once and written"


@pytest.mark.parametrize(
    ("component", "services"),
    [
        ("geo", {"search": "/geo.Geo/Nearby", "frontend": "/search.Search/Nearby"}),
        ("profile", {"frontend": "/profile.Profile/GetProfiles"}),
    ],
)
def test_abandoned_searches_are_cancelled(hotel: TwinCluster, component: str, services: Mapping[str, str]) -> None:
    """The load generator leaves after half a minute: net/http cancels the context, and so does each gRPC server.

    otgrpc calls that an error of clients (SetSpanTags), and http.Error answers 500.
    """
    hotel.chaos(component, loss=100.0)
    hotel.run(45.0)
    after = hotel.run(60.0)
    assert after.share("frontend", span=HOTELS) == 1.0
    for service, span in services.items():
        assert after.share(service, span=span, kind="CLIENT") == 1.0
    assert after.calls("search", kind="SERVER", error=True) == 0.0
    texts = {s.message for t in hotel.twin.traces(hotel.now - 60.0, hotel.now) for s in t.spans if s.error}
    assert any("context canceled" in text for text in texts)


def test_channels_die_after_two_minutes_of_silence(hotel: TwinCluster) -> None:
    """dialer.Dial sets the timeout of the keepalive alone, and WithKeepaliveParams the shortest interval for it.

    So a connection whose packets vanish is closed, dials fail after twenty seconds, and then all searches at once.
    """
    hotel.chaos("geo", loss=100.0)
    hotel.run(45.0)
    silent = hotel.run(60.0)
    hotel.run(75.0)
    broken = hotel.run(120.0)
    assert silent.share("frontend", span=HOTELS) == broken.share("frontend", span=HOTELS) == 1.0
    assert silent.quantile(0.5, "frontend", span=HOTELS) > 10000 > 1000 > broken.quantile(0.5, "frontend", span=HOTELS)
    hotel.calm()
    hotel.run(150.0)  # the longest back-off of a channel
    assert hotel.run(60.0).share("frontend", span=HOTELS) == 0.0


@pytest.mark.parametrize("component", ["memcached-rate", "memcached-profile", "memcached-reserve", "mongodb-profile"])
def test_spans_around_stores_show_no_errors(hotel: TwinCluster, component: str) -> None:
    """Nobody sets tags on memSpan, capMemSpan, reserveMemSpan and mongoSpan."""
    hotel.scale(component, 0)
    if component == "mongodb-profile":
        hotel.restart("memcached-profile")
    after = live(hotel, 240.0)
    assert after.share("frontend", kind="SERVER") > 0.3
    for service, prefix in (("rate", "/rate"), ("profile", "/profile"), ("reservation", "/reservation")):
        errors = {
            labels["span_name"]
            for name, labels, value in after.rows
            if name == "traces_span_metrics_calls_total"
            and labels["service_name"] == service
            and labels["status_code"] == "STATUS_CODE_ERROR"
            and value
        }
        assert all(name.startswith(prefix) for name in errors)
