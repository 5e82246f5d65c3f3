"""A solver in thirty lines: it blames the service of the oldest alert that fires."""

import json
import sys


def say(**message):
    """Send a message."""
    print(json.dumps(message), flush=True)


def hear():
    """Wait for a message."""
    return json.loads(sys.stdin.readline())


def call(tool, **arguments):
    """Use a tool."""
    say(type="call", tool=tool, arguments=arguments)
    answer = hear()
    if answer["type"] == "end":
        sys.exit(0)
    return json.loads(answer["content"])


start = hear()
firing = [alert for alert in call("get_alerts")["items"] if alert["state"] == "firing"]
say(type="note", text=f"{len(firing)} alerts fire")
services = [alert["labels"].get("service_name", "") for alert in firing]
blamed = [f"{start['namespaces'][0]}/Deployment/{name}" for name in services if name][:1]
entities = [
    {"name": name, "contributing_factor": True, "reasoning": "the oldest alert", "evidence": ""} for name in blamed
]
say(type="submit", answer={"entities": entities, "propagations": [], "alerts_explained": []})
if hear()["type"] == "stage":
    say(type="stop", reason="this solver repairs nothing")
