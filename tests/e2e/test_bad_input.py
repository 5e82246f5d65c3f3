"""Bad input: one clear message each, the exit code of docs/command-line.md, and no lab is started for it."""

import pytest

GOOD = "product-catalog-wrong-target-port"


@pytest.mark.parametrize("command", ["lint", "try", "verify"])
@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda d: d["spec"].update(titel="x"), "title"),
        (lambda d: d["spec"]["app"].update(load={"users": "many"}), "users"),
        (lambda d: d["spec"]["faults"][0].update(type="service-target-port-wrog"), "service-target-port-wrong"),
        (lambda d: d["spec"]["faults"][0].update(target="Service/product-catalogue"), "product-catalog"),
    ],
    ids=["unknown field", "wrong type", "unknown fault", "unknown target"],
)
def test_wrong_file_is_an_authors_mistake(kit, copy, command, edit, text):
    file = copy(GOOD, edit)
    before = file.read_text()
    done = kit(command, str(file))
    assert done.code == 1, done.out + done.err
    assert text in done.out + done.err
    assert f"{file}:" in done.out + done.err, "with file, line and column"
    assert "starting" not in done.err, "no lab is started for it"
    assert file.read_text() == before


@pytest.mark.parametrize("command", ["lint", "try", "verify"])
def test_invalid_yaml_is_an_authoring_error(kit, tmp_path, command):
    file = tmp_path / "scenario.yaml"
    file.write_text("faults: [\n  - {")
    done = kit(command, str(file))
    assert done.code == 1
    assert "scenario.yaml:" in done.out + done.err


@pytest.mark.parametrize("command", ["lint", "try", "verify"])
@pytest.mark.parametrize("kind", ["empty folder", "missing"])
def test_missing_scenario_is_a_usage_error(kit, tmp_path, command, kind):
    path = tmp_path / "nothing"
    if kind == "empty folder":
        path.mkdir()
    done = kit(command, str(path))
    assert done.code == 3
    assert str(path) in done.out + done.err
