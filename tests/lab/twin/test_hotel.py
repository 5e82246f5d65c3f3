"""Hotel Reservation in the twin, compared with facts about the real one (docs/fidelity.md)."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from scenario_kit.model import App, ContainerEffect
from scenario_kit.render import render_app, resolve_options
from tests.lab.twin.hotel import live, started
from tests.lab.twin.twin_cluster import TICK, TwinCluster

SERVICES = ("frontend", "search", "geo", "rate", "profile", "recommendation", "user", "reservation")


@pytest.fixture
def cluster(hotel_app: App, hotel_objects: list[dict[str, Any]]) -> Callable[..., TwinCluster]:
    def make(warm: float = 30.0, **options: Any) -> TwinCluster:
        return started(hotel_app, hotel_objects, warm, **options)

    return make


def config(hotel: TwinCluster, key: str, value: str) -> None:
    data = hotel.get("ConfigMap", "hotel-reservation-config")["data"]
    data["config.json"] = json.dumps(json.loads(data["config.json"]) | {key: value})
    hotel.version += 1


def test_healthy_is_quiet_and_has_the_rates_of_the_benchmark(cluster: Callable[..., TwinCluster]) -> None:
    hour = cluster(warm=60.0).run(1200.0)
    for service in SERVICES:
        assert hour.calls(service, error=True) == 0, service
        assert hour.quantile(0.95, service) < 100, service
    expected = {
        "frontend": 100.0,
        "search": 60.0,
        "geo": 60.0,
        "rate": 60.0,
        "reservation": 60.5,
        "profile": 99.0,
        "recommendation": 39.0,
        "user": 1.0,
    }
    for service, rate in expected.items():
        assert hour.rate(service, kind="SERVER") == pytest.approx(rate, rel=0.12 if rate < 2 else 0.03), service
    assert hour.rate("rate", span="memcached_get_multi_rate", kind="CLIENT") == pytest.approx(31, rel=0.05)
    assert hour.calls("rate", span="mongo_rate") == 0, "the cache is warm"


@pytest.mark.parametrize(
    "options",
    [
        {"resources": "Tight", "shape": "Surge"},
        {"resources": "Roomy", "shape": "Ramp"},
        {"replicas": 3, "storage": "Claim"},
    ],
)
def test_options_are_quiet(hotel_app: App, options: dict[str, Any]) -> None:
    objects = list(render_app(hotel_app, resolve_options(hotel_app, options), 50, "shop"))
    little = started(hotel_app, objects, 60.0, seed=3)
    after = little.run(600.0)
    for service in SERVICES:
        assert after.calls(service, error=True) == 0, service
        assert after.quantile(0.95, service) < 500, service
    assert little.restarts <= options.get("replicas", 1), "but for search, which was quicker than the registry"


@pytest.mark.parametrize(
    ("component", "share"),
    [
        ("search", 0.6),
        ("geo", 0.6),
        ("profile", 0.99),
        ("recommendation", 0.39),
        ("user", 0.01),
        ("reservation", 0.605),
    ],
)
def test_loss_of_a_service(cluster: Callable[..., TwinCluster], component: str, share: float) -> None:
    hotel = cluster()
    hotel.scale(component, 0)
    hotel.run(
        90.0
    )  # nobody answers at the address that stays listed, and the first attempts to connect take their time
    after = hotel.run(120.0)
    assert after.share("frontend", kind="SERVER") == pytest.approx(share, abs=0.02)
    assert after.rate("frontend", kind="SERVER") == pytest.approx(100, rel=0.05), "the load does not wait"
    assert after.silent(component)
    assert after.silent("rate") == (component in ("search", "geo"))


@pytest.mark.parametrize("service", ["search", "rate", "profile"])
def test_services_of_go_programs_carry_no_traffic(cluster: Callable[..., TwinCluster], service: str) -> None:
    hotel = cluster()
    hotel.delete("Service", service)
    hotel.restart("frontend")
    hotel.restart("search")
    hotel.run(60.0)
    assert hotel.run(120.0).share("frontend", kind="SERVER") == 0.0


def test_registry_outage_affects_services_until_restart(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.scale("consul", 0)
    assert hotel.run(300.0).share("frontend", kind="SERVER") == 0.0, "old addresses are kept"
    hotel.scale("consul", 1)
    hotel.run(60.0)
    after = hotel.run(120.0)
    assert after.share("frontend", kind="SERVER") == 1.0
    assert after.silent("profile")
    for service in SERVICES[1:]:
        hotel.restart(service)
    hotel.run(60.0)
    assert hotel.run(120.0).share("frontend", kind="SERVER") == 0.0


def test_replaced_and_added_pods_are_discovered(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.restart("profile")
    hotel.scale("geo", 3)
    hotel.run(60.0)
    assert hotel.run(120.0).share("frontend", kind="SERVER") == 0.0
    hotel.chaos("geo", delay=2.0)
    hotel.effects = hotel.effects[:1]
    hotel.version += 1
    after = hotel.run(120.0)
    assert after.quantile(0.95, "search") > 1500, "a third of the calls go there"
    assert after.quantile(0.5, "search") < 1500


def test_lost_cache_crashes_client_until_it_returns(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.scale("memcached-rate", 0)
    after = live(hotel, 180.0)
    assert after.share("frontend", kind="SERVER") > 0.4
    assert after.share("frontend", span="HTTP GET /recommendations") == 0.0
    assert hotel.restarts > 10
    assert any("Memmcached error" in line.text for line in hotel.logs)
    hotel.scale("memcached-rate", 1)
    live(hotel, 60.0)
    warm = live(hotel, 120.0)
    assert warm.share("frontend", kind="SERVER") == 0.0


def test_cache_slower_than_the_timeout_counts_as_lost(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.chaos("memcached-profile", delay=1.6)
    hotel.run(30.0)
    after = hotel.run(120.0)
    assert after.quantile(0.95, "frontend") > 1500
    assert after.share("frontend", kind="SERVER") == 0.0
    hotel.calm()
    hotel.chaos("memcached-profile", delay=2.5)
    hotel.run(30.0)
    assert hotel.last is not None
    assert any("i/o timeout" in line.text or "deadline" in line.text for line in hotel.logs)
    assert live(hotel, 120.0).share("frontend", kind="SERVER") > 0.5


def test_store_outage_shows_behind_cold_but_not_warm_cache(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.scale("mongodb-rate", 0)
    assert live(hotel, 300.0).share("frontend", kind="SERVER") == 0.0
    hotel.restart("memcached-rate")
    live(hotel, 120.0)
    after = live(hotel, 150.0)
    assert after.share("frontend", kind="SERVER") == pytest.approx(0.6, abs=0.05)
    assert any("server selection error" in line.text for line in hotel.logs)


def test_empty_profiles_stay_in_the_cache(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.scale("mongodb-profile", 0)
    hotel.restart("memcached-profile")
    live(hotel, 180.0)
    hotel.scale("mongodb-profile", 1)
    live(hotel, 60.0)
    after = live(hotel, 120.0)
    assert after.share("frontend", kind="SERVER") > 0.3
    assert after.share("profile", kind="SERVER") == 0.0
    assert any("nil pointer" in line.text for line in hotel.logs)
    hotel.restart("memcached-profile")
    live(hotel, 60.0)
    assert live(hotel, 120.0).share("frontend", kind="SERVER") == 0.0


def test_booking_without_its_store_crashes_the_service(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.scale("mongodb-reservation", 0)
    first = live(hotel, 30.0)
    assert first.share("reservation", span="/reservation.Reservation/CheckAvailability") == 0.0
    live(hotel, 60.0)
    after = live(hotel, 300.0)
    assert after.share("frontend", kind="SERVER") == pytest.approx(0.605, abs=0.05)
    hotel.scale("mongodb-reservation", 1)
    live(hotel, 180.0)  # clients back off for as long as the outage took
    assert live(hotel, 120.0).share("frontend", kind="SERVER") == 0.0


def test_brief_store_outage_ends_no_process(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.scale("mongodb-reservation", 0)
    hotel.run(TICK)
    hotel.scale("mongodb-reservation", 1)
    hotel.run(60.0)
    assert not any(p for p in hotel.twin._process_table.of("reservation") if p.ended)


@pytest.mark.parametrize("component", ["geo", "user"])
def test_stores_read_at_start_are_not_needed_later(cluster: Callable[..., TwinCluster], component: str) -> None:
    hotel = cluster()
    hotel.scale(f"mongodb-{component}", 0)
    assert live(hotel, 120.0).share("frontend", kind="SERVER") == 0.0
    hotel.restart(component)
    live(hotel, 60.0)
    after = live(hotel, 120.0)
    assert after.share("frontend", kind="SERVER") > 0.0
    assert after.silent(component)
    hotel.scale(f"mongodb-{component}", 1)
    live(hotel, 120.0)
    assert live(hotel, 120.0).share("frontend", kind="SERVER") == 0.0


def test_store_requiring_logins_rejects_clients(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    container = hotel.get("Deployment", "mongodb-geo")["spec"]["template"]["spec"]["containers"][0]
    container["args"] = ["--auth"]
    hotel.restart("mongodb-geo")
    assert live(hotel, 120.0).share("frontend", kind="SERVER") == 0.0, "it is read at the start only"
    hotel.restart("geo")
    began = hotel.now
    live(hotel, 30.0)
    reported = [line for line in hotel.logs if line.pod.startswith("geo") and "Unauthorized" in line.text]
    assert reported, "a refused login is no reason to wait for the store"
    assert "FTL cmd/geo/db.go:52 > (Unauthorized) command insert requires authentication" in reported[0].text
    assert reported[0].t - began < 5.0
    after = live(hotel, 120.0)
    assert after.silent("geo")
    assert after.share("frontend", kind="SERVER") > 0.0
    del container["args"]
    hotel.restart("mongodb-geo")
    hotel.restart("geo")
    live(hotel, 120.0)
    assert live(hotel, 120.0).share("frontend", kind="SERVER") == 0.0


@pytest.mark.parametrize(
    ("key", "value", "words", "share"),
    [
        ("GeoMongoAddress", "mongo-geo:27017", "server selection error", 0.6),
        ("GeoMongoAddress", "", "must have at least 1 host", 0.6),
        ("GeoMongoAddress", "mongodb-user:27017", "", 0.0),  # a MongoDB is a MongoDB: it gets its data there
        ("GeoPort", "none", "", 0.6),
        ("GeoPort", "9083", "", 0.0),  # the registry tells it
        ("consulAddress", "consul:8501", "failed register", 0.6),
        ("jaegerAddress", "nowhere:6831", "", 0.0),
    ],
)
def test_changed_configuration_breaks_its_component(
    cluster: Callable[..., TwinCluster], key: str, value: str, words: str, share: float
) -> None:
    hotel = cluster()
    config(hotel, key, value)
    assert live(hotel, TICK).share("frontend", kind="SERVER") == 0.0, "a file is read at the start"
    hotel.restart("geo")
    live(hotel, 60.0)
    after = live(hotel, 60.0)
    assert after.share("frontend", kind="SERVER") == pytest.approx(share, abs=0.03)
    assert any(words in line.text for line in hotel.logs if line.pod.startswith("geo"))
    if key == "jaegerAddress":
        assert after.silent("geo"), "its spans go nowhere"


def test_swapped_command_runs_another_program(
    cluster: Callable[..., TwinCluster], hotel_objects: list[dict[str, Any]]
) -> None:
    hotel = cluster()
    image = next(o for o in hotel_objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "geo")["spec"][
        "template"
    ]["spec"]["containers"][0]["image"]
    assert [hotel.twin.has_program(image, p) for p in ("geo", "/go/bin/geo", "./geo", "nothing")] == [
        True,
        True,
        False,
        False,
    ]
    spec = hotel.get("Deployment", "geo")["spec"]["template"]["spec"]["containers"][0]
    spec["command"] = ["user"]
    hotel.restart("geo")
    live(hotel, 60.0)
    after = live(hotel, 120.0)
    assert after.share("frontend", kind="SERVER") == pytest.approx(0.6, abs=0.02)
    assert after.share("user") == 0.0, "there are two of it now"


def test_staged_load_is_bounded_by_connections(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster()
    hotel.env("load-generator", "LOAD_STAGES", "200:0 200:3600")
    hotel.run(30.0)
    assert hotel.run(120.0).rate("frontend", kind="SERVER") == pytest.approx(200, rel=0.05)
    hotel.env("load-generator", "LOAD_STAGES", "100:3600")
    hotel.chaos("recommendation", delay=20.0)
    hotel.run(300.0)
    after = hotel.run(300.0)
    assert after.rate("frontend", kind="SERVER") < 20, "every connection waits"


def test_renamed_objects_give_identical_samples(cluster: Callable[..., TwinCluster]) -> None:
    def story(hotel: TwinCluster) -> list[dict[object, float]]:
        result = []
        for change in (
            lambda: None,
            lambda: hotel.scale("memcached-rate", 0),
            lambda: hotel.scale("memcached-rate", 1),
            lambda: hotel.restart("consul"),
        ):
            change()
            live(hotel, 60.0)
            result.append(dict(hotel.samples))
        return result

    first, second = story(cluster(seed=7)), story(cluster(seed=7, salt=40))
    assert first == second
    assert first != story(cluster(seed=8))


def test_service_without_dns_keeps_its_known_addresses(cluster: Callable[..., TwinCluster]) -> None:
    hotel = cluster(warm=60.0)
    (pod,) = hotel.pods("frontend")
    uid = pod["metadata"]["uid"]
    hotel.stress = (
        ContainerEffect(kind="DNS", pod_uid=uid, container_id="containerd://a", arguments={"server": "10.96.0.99"}),
        ContainerEffect(
            kind="Names", pod_uid=uid, container_id="", arguments={"action": "error", "patterns": []}
        ),
    )  # fmt: skip
    hotel.version += 1
    hotel.run(90.0)
    after = live(hotel, 120.0)
    assert after.share("frontend", kind="SERVER") == 0.0
    assert after.rate("frontend", kind="SERVER") > 50
