"""An agent of Harbor whose model is a script."""

from __future__ import annotations

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from script import INVESTIGATE


class ScriptedAgent(BaseAgent):
    """Reads where things lie in the instruction, as an agent with a model would."""

    @staticmethod
    def name() -> str:
        return "scripted"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        seen = await environment.exec("ls /tests /solution /app/snapshot")
        assert "k8s_objects_raw.tsv" in (seen.stdout or "")
        assert "rules.json" not in (seen.stdout or ""), "the truth is not where the agent is"

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        assert "/app/snapshot" in instruction
        assert "/app/answer.json" in instruction
        script = INVESTIGATE.format(snapshot="/app/snapshot", answer="/app/answer.json")
        done = await environment.exec(f"python3 - <<'END'\n{script}\nEND")
        assert done.return_code == 0, done.stderr
