"""Copies of a good scenario, each with one lie in it: exit 1, and a finding that names it."""

import pytest

SCENARIO = "product-catalog-wrong-target-port"


def spec(document):
    return document["spec"]


def healthy_service(document):
    spec(document)["groundTruth"]["rootCauses"][0]["entity"] = "Service/currency"
    for edge in spec(document)["groundTruth"]["propagation"]:
        if edge["from"] == "Service/product-catalog":
            edge["from"] = "Service/currency"


def victim(document):
    spec(document)["groundTruth"]["rootCauses"][0]["entity"] = "Deployment/frontend"
    spec(document)["groundTruth"]["propagation"] = [
        {"from": "Deployment/frontend", "to": f"Deployment/{name}", "because": "it is said to"}
        for name in ("recommendation", "checkout", "frontend-proxy")
    ]


def no_op(document):
    spec(document)["faults"][0]["parameters"]["targetPort"] = 8080


def never_fires(document):
    spec(document)["expect"]["alerts"].append(
        {"name": "HighRequestErrorRate", "entity": "Deployment/ad", "class": "MustFire", "withinSeconds": 480}
    )
    spec(document)["groundTruth"]["propagation"].append(
        {"from": "Service/product-catalog", "to": "Deployment/ad", "because": "it is said to"}
    )


def wrong_object(document):
    change = spec(document)["solutions"][0]["changes"][0]["patch"]
    change["target"] = "Service/currency"
    change["patch"] = [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8081}]


def forbidden_fires(document):
    spec(document)["expect"]["alerts"].append(
        {"name": "HighRequestErrorRate", "entity": "Deployment/frontend-proxy", "class": "MustNotFire"}
    )
    spec(document)["expect"]["alerts"] = [
        a
        for a in spec(document)["expect"]["alerts"]
        if not (a.get("entity") == "Deployment/frontend-proxy" and a.get("class") == "MayFire")
    ]


@pytest.mark.parametrize(
    ("edit", "codes"),
    [
        (healthy_service, {"SK405"}),
        (victim, {"SK405", "SK406"}),
        (no_op, {"SK304"}),
        (never_fires, {"SK322", "SK326"}),
        (wrong_object, {"SK434"}),
        (forbidden_fires, {"SK321"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_lie_is_found_and_named(lab, kit, copy, edit, codes):
    done = kit("verify", str(copy(SCENARIO, edit)), "--plan", "quick", "--name", lab.name, "--format", "json")
    assert done.code == 1, done.err
    assert done.codes & codes, done.document["findings"]
    assert done.document["verdict"] == "Fail"
    assert all(f["fix"] for f in done.document["findings"] if f["severity"] == "Error")
