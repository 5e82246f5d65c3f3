"""An incident in the hands of solvers: what docs/solve.md shows, as it stands there, in the lab of the session."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, perform, session

SCENARIO = "product-catalog-wrong-target-port"


def test_the_page_of_solvers(lab, tmp_path: Path) -> None:
    runs = tmp_path / "solutions"
    commands = [shown.command for shown in session((ROOT / "docs" / "solve.md").read_text())]
    solving = [f"{each} --name {lab.name} --runs {runs}" for each in commands[:-1]]
    said = perform([*solving, commands[-1].replace("solutions/", f"{runs}/")], ROOT)
    assert "recall_gated_precision" in said

    oracle, loudest, program = (
        json.loads((runs / SCENARIO / name / "1" / "record.json").read_text())
        for name in ("oracle", "loudest-alert", "python")
    )
    assert (oracle["stop_reason"], oracle["resolved"], oracle["stop_message"]) == ("finish", True, "")
    assert any(name.endswith("/Service/product-catalog") for name in oracle["changed"])
    assert (loudest["stop_reason"], loudest["resolved"], loudest["changed"]) == ("finish", False, [])
    assert len(loudest["answer"]["entities"]) == 1, "it saw an alert and blamed somebody"
    assert all(call["valid"] and call["ok"] for call in loudest["tool_calls"])
    assert any("product-catalog" in call["output"] for call in loudest["tool_calls"] if "cmd" in call["args"])
    assert (program["stop_reason"], program["turns"]) == ("finish", 2)
    assert "resolved" not in program
    assert 'alertname":"HighRequestErrorRate' in program["tool_calls"][0]["output"]
    assert program["end"] - program["start"] == 30

    for record in (loudest, program):  # what is wrong is in no answer that a solver got
        assert SCENARIO not in json.dumps(record["tool_calls"])
