"""From an empty promise to a scenario that holds: ``new``, ``try --accept``, ``try``."""

import re

from scenario_kit.load import load_scenario


def test_accepted_alerts_hold_in_the_next_trial(lab, kit, tmp_path):
    name = "search-image"
    wrote = kit("new", name, "--app", "hotel-reservation", "--fault", "container-image-not-found", "--target", "search")
    assert wrote.code == 0, wrote.err
    file = tmp_path / name / "scenario.yaml"
    text = file.read_text()
    promised = re.compile(r"(?<=    alerts:\n)(?:    - .*\n)+")
    assert promised.search(text)
    # Nothing but an alert that will not fire, and none of the edges.
    text = promised.sub("    - {name: KubePodCrashLooping, class: MayFire}\n", text)
    file.write_text(re.sub(r"    propagation:\n(?:    - .*\n)+", "    propagation: []\n", text))

    tried = kit("try", name, "--name", lab.name, "--accept")
    assert "accepted into" in tried.out, (tried.out, tried.err)
    spec = load_scenario(file).scenario.spec
    fired = {(a.name, a.entity) for a in spec.expect.alerts if a.alert_class == "MustFire"}
    assert {("HighRequestErrorRate", "Deployment/frontend"), ("KubePodNotReady", "Deployment/search")} <= fired
    assert ("Deployment/search", "Deployment/frontend") in {(e.from_, e.to) for e in spec.ground_truth.propagation}
    assert kit("lint", name).code == 0

    again = kit("try", name, "--name", lab.name)
    assert again.code == 0, again.out
