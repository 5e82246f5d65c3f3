"""Commands of clients: their effect on a store and its callers, and their output on failure."""

import copy

import msgspec
import pytest

from scenario_kit.lab.twin.startup.client_commands import UNKNOWN
from scenario_kit.model import Client
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster, stamp

SQL = ["psql", "-c"]
SET = [*SQL, "ALTER ROLE {user} PASSWORD '{password}'"]
REVOKE = [*SQL, "REVOKE {privilege} ON {table} FROM {user}"]
GRANT = [*SQL, "GRANT {privilege} ON {table} TO {user}"]
LOCK = [*SQL, "LOCK TABLE {table}; SELECT pg_sleep(86400)"]
HOLD = ["sh", "-c", "hold {connections}"]
FILL = ["sh", "-c", "fill {bytes}"]
CLIENT = Client.from_json(
    {
        "name": "psql",
        "store": "box",
        "image": "example.org/box:1",
        "address": "postgres://$(PGUSER):$(PGPASSWORD)@box:7000",
        "commands": [
            {"command": SET, "does": {"user": "{user}", "setPassword": "{password}"}},
            {"command": REVOKE, "does": {"revokeRole": "{user}", "table": "{table}", "privilege": "{privilege}"}},
            {"command": GRANT, "does": {"grantRole": "{user}", "table": "{table}", "privilege": "{privilege}"}},
            {"command": LOCK, "does": {"lockTable": "{table}"}},
            {"command": HOLD, "does": {"holdConnections": "{connections}"}},
            {"command": FILL, "does": {"addBytesPerSecond": "{bytes}"}},
            {"command": [*SQL, "SELECT 1"]},
        ],
    }
)


@pytest.fixture
def shop(shop_of):
    return shop_of()


@pytest.fixture
def shop_of():
    """The little app with a store whose one statement uses a table; ``more`` overrides its model."""
    return _shop


def _shop(**more):
    twin = copy.deepcopy(tiny.TWIN)
    twin["components"]["box"] |= {"maxConnections": 10, "operations": {"get": {"ownMs": 1, "table": "items", **more}}}
    twin["edges"][2]["timeoutSeconds"] = 0.0
    app = msgspec.structs.replace(tiny.app(components=twin["components"], edges=twin["edges"]), clients=(CLIENT,))
    little = TwinCluster(app, tiny.objects())
    little.now += 30
    little.restart("api")  # which crash-looped while its store came up
    little.run(120)
    assert little.run(60).share("api", kind="SERVER") == 0
    return little


def client(little, fill_pattern, name="c", user="me", password="secret"):
    """Run the command in a container; return its start."""
    env = [{"name": "PGUSER", "value": user}, {"name": "PGPASSWORD", "value": password}]
    spec = {"name": "psql", "image": "example.org/box:1", "command": fill_pattern, "env": env}
    metadata = {"name": name, "uid": f"u-{name}", "labels": {}, "annotations": {"workload": name}}
    metadata["creationTimestamp"] = stamp(little.now)
    entry = {"name": "psql", "containerID": f"containerd://{name}", "restartCount": 0}
    status = {"phase": "Running", "podIP": "10.9.9.9", "containerStatuses": [entry]}
    pod = {"kind": "Pod", "metadata": metadata, "spec": {"containers": [spec], "nodeName": "n"}, "status": status}
    little.kinds["Pod"][name] = pod
    start = little.twin.start(pod, "psql", little.now)
    entry["state"] = {"terminated": {}} if start.exit else {"running": {"startedAt": stamp(little.now)}}
    little.version += 1
    return start


def fill_pattern(pattern, **values):
    return [w.format(**values) for w in pattern]


def logs(little):
    return "\n".join(line.text for line in little.logs)


def test_changed_password_is_met_by_new_connections_only(shop):
    ended = client(shop, fill_pattern(SET, user="me", password="other"))
    assert (ended.exit.code, ended.exit.reason) == (0, "Completed")
    assert shop.run(120).share("api", kind="SERVER") == 0, "whoever is connected stays so"
    shop.restart("api")
    shop.run(60)
    assert 'password authentication failed for user "me"' in logs(shop)
    assert client(shop, fill_pattern(SET, user="me", password="secret"), "again").exit.code == 2, (
        "the client's own is old too"
    )
    assert client(shop, fill_pattern(SET, user="me", password="secret"), "right", password="other").exit.code == 0
    shop.run(15)
    shop.restart("api")
    shop.run(120)
    assert shop.run(60).share("api", kind="SERVER") == 0


def test_revoked_privilege_fails_calls_until_granted(shop):
    client(shop, fill_pattern(REVOKE, privilege="SELECT", user="me", table="items"))
    assert shop.run(60).share("api", kind="SERVER") == 1
    assert "pq: permission denied for table items" in logs(shop)
    client(shop, fill_pattern(GRANT, privilege="SELECT", user="me", table="items"), "d")
    shop.run(15)
    assert shop.run(60).share("api", kind="SERVER") == 0


def test_insert_and_select_need_separate_privileges(shop_of):
    shop = shop_of(privilege="INSERT")
    client(shop, fill_pattern(REVOKE, privilege="SELECT", user="me", table="items"))
    assert shop.run(60).share("api", kind="SERVER") == 0
    client(shop, fill_pattern(REVOKE, privilege="INSERT", user="me", table="items"), "d")
    assert shop.run(60).share("api", kind="SERVER") == 1
    assert "pq: permission denied for table items" in logs(shop)


@pytest.mark.parametrize(
    ("user", "table", "privilege"), [("me", "others", "SELECT"), ("you", "items", "SELECT"), ("me", "items", "INSERT")]
)
def test_unrelated_privileges_do_not_matter(shop, user, table, privilege):
    client(shop, fill_pattern(REVOKE, privilege=privilege, user=user, table=table))
    assert shop.run(60).share("api", kind="SERVER") == 0


def test_store_changes_are_lost_with_its_process(shop):
    client(shop, fill_pattern(REVOKE, privilege="SELECT", user="me", table="items"))
    shop.run(30)
    shop.restart("box")
    shop.run(90)
    assert shop.run(60).share("api", kind="SERVER") == 0


def test_pod_deleted_before_command_ended_has_no_effect(shop):
    client(shop, fill_pattern(REVOKE, privilege="SELECT", user="me", table="items"))
    del shop.kinds["Pod"]["c"]
    shop.version += 1
    assert shop.run(60).share("api", kind="SERVER") == 0


def test_table_lock_blocks_statements_until_session_ends(shop):
    assert client(shop, fill_pattern(LOCK, table="items")).exit is None
    held = shop.run(60)
    assert held.share("gate", kind="SERVER") == 1, "it gives up after ten seconds"
    assert held.quantile(0.5, "api") > 5000
    del shop.kinds["Pod"]["c"]
    shop.version += 1
    after = shop.run(60)
    assert after.share("api", kind="SERVER") == 0
    assert after.rate("api", kind="SERVER") > 2


def test_client_session_ends_with_its_store(shop):
    client(shop, fill_pattern(LOCK, table="items"))
    shop.run(15)
    shop.restart("box")
    shop.run(15)
    assert [(e.container, e.code) for e in shop.last.exits] == [("psql", 2)]


def test_full_store_refuses_new_connections_only(shop):
    client(shop, fill_pattern(HOLD, connections="10"))
    assert shop.run(60).share("api", kind="SERVER") == 0
    shop.restart("api")
    shop.run(60)
    assert "pq: sorry, too many clients already" in logs(shop)
    failed = client(shop, [*SQL, "SELECT 1"], "d")
    assert (failed.exit.code, "too many clients" in failed.exit.text) == (2, True)


def test_few_connections_fill_no_store(shop):
    client(shop, fill_pattern(HOLD, connections="5"))
    shop.run(15)
    assert client(shop, [*SQL, "SELECT 1"], "d").exit.code == 0


def test_memory_flood_is_oom_killed_and_restarts(shop):
    def limit(deployment):
        box = deployment["spec"]["template"]["spec"]["containers"][0]
        box["resources"] = {"limits": {"memory": "64Mi"}}

    shop.change("Deployment", "box", limit)
    shop.restart("box")
    shop.run(60)
    client(shop, fill_pattern(FILL, bytes="1000000"))
    ended = []
    for _ in range(6):
        shop.run(15)
        ended += shop.last.exits
    assert ("box", 137, "OOMKilled") in {(e.container, e.code, e.reason) for e in ended}
    assert "psql" not in {e.container for e in ended}, "a loop goes on"


@pytest.mark.parametrize(
    ("command", "login", "code", "text"),
    [
        ([*SQL, "SELECT 1"], {}, 0, ""),
        ([*SQL, "SELECT 1"], {"password": "no"}, 2, 'FATAL:  password authentication failed for user "me"'),
        ([*SQL, "VACUUM"], {}, UNKNOWN, "real-data-plane"),
        (
            fill_pattern(REVOKE, privilege="SELECT", user="you", table="items"),
            {},
            1,
            'ERROR:  role "you" does not exist',
        ),
    ],
)
def test_client_command_exit_code_and_output(shop, command, login, code, text):
    ended = client(shop, command, **login)
    assert ended.exit.code == code
    assert text in ended.exit.text
    assert list(ended.lines) == ended.exit.text.splitlines()


@pytest.mark.parametrize(
    ("harm", "text"),
    [
        (lambda s: s.delete("Service", "box"), 'could not translate host name "box"'),
        (lambda s: s.scale("box", 0), "Connection refused"),
    ],
)
def test_unreachable_store_fails_the_command(shop, harm, text):
    harm(shop)
    ended = client(shop, [*SQL, "SELECT 1"])
    assert (ended.exit.code, text in ended.exit.text) == (2, True)


def test_client_is_no_store(shop):
    client(shop, fill_pattern(LOCK, table="others"))
    shop.run(30)
    assert len(shop.twin._process_table.of("box")) == 1
    assert not shop.twin.answers(shop.kinds["Pod"]["c"], "psql", 7000, None, shop.now)


def test_client_programs_belong_to_their_images(shop):
    assert shop.twin.has_program("example.org/box:1", "psql")
    assert not shop.twin.has_program("example.org/box:1", "mongosh")
    assert not shop.twin.has_program("example.org/api:1", "psql")
