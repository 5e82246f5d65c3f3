"""Leaks readable with a solver's permissions in a running incident."""

PLAN = """\
name: labels-only
looks: [{repeats: 1, accept: 0, reject: 1}]
control: false
solutions: false
cheats: false
sham: false
"""


def test_name_leaked_through_a_value_is_found(lab, kit, copy, tmp_path):
    """No rule can see this one: the value is as innocent as any host name, but it is also the name of the fault."""

    def leak(document):
        spec = document["spec"]
        spec["faults"][0] |= {
            "name": "quotes-moved",
            "parameters": {"name": "QUOTE_ADDR", "value": "http://quotes-moved:8080"},
        }
        spec["groundTruth"]["rootCauses"][0]["fault"] = "quotes-moved"
        spec["solutions"][0]["fixes"] = ["quotes-moved"]
        for alert in spec["expect"]["alerts"]:
            if alert.get("after"):
                alert["after"] = "quotes-moved"

    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    path = copy("shipping-quote-address-wrong", leak)
    done = kit("verify", str(path), "--plan", str(plan), "--name", lab.name, "--format", "json")
    assert (done.code, done.codes) == (1, {"SK441"}), done.out
    (finding,) = [f for f in done.document["findings"] if f["code"] == "SK441"]
    assert "'quotes-moved'" in finding["message"]
    assert "Deployment/shipping" in finding["observed"]
    label = next(t for t in done.document["trials"] if t["purpose"] == "label")
    assert [s["outcome"] for s in label["steps"] if s["step"].startswith("expectCleared")] == ["Held"]
