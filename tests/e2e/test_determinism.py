"""Equal seeds give equal alert histories, independent of pod names."""

import json


def timelines(document):
    trial = document["trials"][0]
    start = trial["startedAt"]
    shown = []
    for timeline in trial["history"]["timelines"]:
        labels = {
            k: v for k, v in timeline.get("labels", {}).items() if k not in ("namespace", "pod", "instance", "uid")
        }
        spans = [
            [
                (i["start"] - start, i["end"] - start if i.get("end") is not None else None)
                for i in timeline.get(kind, [])
            ]
            for kind in ("pending", "firing")
        ]
        shown.append(json.dumps([timeline["name"], timeline.get("entity"), sorted(labels.items()), spans]))
    return sorted(shown)


def steps(document):
    trial = document["trials"][0]
    return [(s["step"], s["startedAt"] - trial["startedAt"], s["outcome"]) for s in trial["steps"]]


def test_equal_seeds_give_equal_timelines(lab, kit, copy):
    file = str(copy("cart-scaled-to-zero", lambda document: None))
    one, other, third = (
        kit("try", file, "--name", lab.name, "--seed", seed, "--format", "json").document for seed in ("7", "7", "8")
    )
    assert steps(one) == steps(other)
    assert timelines(one) == timelines(other)
    assert timelines(one), "a run without any alert shows nothing"
    assert third["verdict"] == one["verdict"]
