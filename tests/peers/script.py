"""A scripted stand-in for a model: it finds a Deployment without replicas and blames it."""

#: A program; where the snapshot lies and the answer goes is filled in.
INVESTIGATE = r"""
import csv, json
csv.field_size_limit(1 << 30)
with open("{snapshot}/k8s_objects_raw.tsv", encoding="utf-8", newline="") as stream:
    bodies = [json.loads(row["Body"]) for row in csv.DictReader(stream, delimiter="\t")]
last = {{(o["metadata"].get("namespace"), o["metadata"]["name"]): o for o in bodies if o["kind"] == "Deployment"}}
named = [f"{{space}}/Deployment/{{name}}" for (space, name), o in last.items() if o["spec"].get("replicas") == 0]
entities = [{{"name": n, "contributing_factor": True, "reasoning": "no replicas", "evidence": "spec"}} for n in named]
with open("{answer}", "w", encoding="utf-8") as stream:
    json.dump({{"entities": entities, "propagations": [], "alerts_explained": []}}, stream)
"""
