"""Canonical replacements of names, identifiers and addresses that are generated in every run.

Generated parts of names are derived from the seed, the owner and the index among siblings by age, which also identifies
replicas of a simulated app. Other values, such as trace identifiers, are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.snapshot.canonical.times import TimeShift

#: The alphabet of ``k8s.io/apimachinery/pkg/util/rand``, without vowels and ambiguous characters.
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_TOKEN: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*")
_HASH_LABEL: Final = "pod-template-hash"
_REVISION: Final = "deployment.kubernetes.io/revision"
#: Kubelet messages about a pulled or present image.
PULLED: Final = re.compile(r'(?:Successfully pulled image|Container image|Pulling image) "(?P<image>[^"]+)"')
_TIME_DIGITS: Final = (10, 13, 16, 19)
_BLOCK: Final = 250
#: Length of the suffix that the API server appends to ``generateName``.
_SUFFIX: Final = 5
#: Owners whose pods have stable names.
_STABLE_OWNERS: Final = ("StatefulSet", "Node")


class NameMap:
    """Mapping of real to canonical names.

    With drawn placement, ``nodes`` maps real pod names to canonical node and address, and ``images`` are those that any
    node pulled, as the pulling node depends on the placement.
    """

    def __init__(self, words: Mapping[str, str], namespaces: Mapping[str, str], shift: TimeShift) -> None:
        self._words = {**words, **namespaces}
        self._namespaces = tuple(namespaces.items())
        self._shift = shift
        self.nodes: Mapping[str, tuple[str, str]] = {}
        self.images: frozenset[str] = frozenset()
        self._places: re.Pattern[str] | None = None
        self._addresses: frozenset[str] = frozenset()

    def place(self, nodes: Mapping[str, tuple[str, str]], known: Mapping[str, str]) -> None:
        """Set the node of each pod (name and address, by real pod name); ``known`` maps all nodes to addresses."""
        texts = sorted([*known, *known.values()], key=len, reverse=True)
        self.nodes, self._addresses = nodes, frozenset(known.values())
        self._places = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, texts))})(?![\w-])") if texts else None

    def rename(self, text: str) -> str:
        """Replace all known names in a text."""
        return _TOKEN.sub(self._replace, text)

    def rename_beside(self, text: str, pod: str) -> str:
        """Replace all known names in a text about a pod (by real name), including its node."""
        renamed = self.rename(text)
        where = self.nodes.get(pod)
        if self._places is None or where is None:
            return renamed
        return self._places.sub(lambda found: where[1] if found[0] in self._addresses else where[0], renamed)

    def find(self, name: str) -> str:
        """Return the canonical form of exactly this name."""
        return self._words.get(name, name)

    def _replace(self, match: re.Match[str]) -> str:
        token = match[0]
        known = self._words.get(token)
        if known is not None:
            return known
        if token.isdigit():
            return self._shift.rename_number(token) if len(token) in _TIME_DIGITS else token
        if (day := self._shift.dates.get(token[:10])) is not None:
            return day + token[10:]
        if token.startswith("pod") and (known := self._words.get(token[3:])) is not None:
            return f"pod{known}"  # a cgroup
        owner, _, suffix = token.rpartition("-")
        if len(suffix) == _SUFFIX and owner in self._words:
            return name_unseen(self._words[owner])  # a rejected pod, which never existed as an object
        for real, shown in self._namespaces:
            if real in token:
                return token.replace(real, shown)
        return token


class NameCollector:
    """Collects names from the objects of a recording, tick by tick."""

    def __init__(self, seed: int, namespaces: Mapping[str, str]) -> None:
        self._seed = seed
        self._namespaces = namespaces
        self._words: dict[str, str] = {}
        self._known: set[str] = set()
        self._siblings: dict[str, int] = {}
        self._incarnations: dict[tuple[str, str, str], int] = {}
        self._pods: dict[str, int] = {}
        self._pod_names: dict[str, str] = {}
        self._services: list[str] = []
        self._nodes: dict[str, str] = {}
        self._images: set[str] = set()

    def collect(self, tick: RecordedTick) -> None:
        """Process the objects of one tick."""
        new = [o for o in tick.objects if o["metadata"]["uid"] not in self._known]
        self._known |= {o["metadata"]["uid"] for o in new}
        for obj in sorted(new, key=_order_by_age):
            self._name(obj)
        self._name_unseen(tick)
        self._images |= {
            m["image"] for e in tick.events if e["reason"] == "Pulled" and (m := PULLED.match(e["message"]))
        }
        for obj in sorted(new, key=lambda o: (o["kind"], self._find_space(o), self._find_name(o))):
            self._identify(obj)
        for obj in tick.objects:
            self._read_addresses(obj)

    def build(self, shift: TimeShift, *, draws_places: bool) -> NameMap:
        """Build the map; with ``draws_places``, the node of each pod is drawn."""
        names = NameMap(self._words, self._namespaces, shift)
        if draws_places and self._nodes:
            nodes = sorted(self._nodes)
            chosen = {pod: nodes[self._draw_number(f"node of {name}") % len(nodes)] for pod, name in self._named_pods()}
            names.place({pod: (node, self._nodes[node]) for pod, node in chosen.items()}, self._nodes)
            names.images = frozenset(self._images)
        return names

    def _named_pods(self) -> Iterable[tuple[str, str]]:
        return self._pod_names.items()

    def _name(self, obj: Object) -> None:
        """Assign the canonical name of an object; its owner must already have one."""
        kind, meta = obj["kind"], obj["metadata"]
        owner = (meta.get("ownerReferences") or [{}])[0]
        name = meta["name"]
        prefix = self._words.get(owner.get("name", ""), owner.get("name", ""))
        if kind == "ReplicaSet" and owner.get("kind") == "Deployment":
            number = self._count(f"{kind} {prefix}")
            part = self._draw_text(f"{prefix} {number}", 10)
            self._words[meta.get("labels", {}).get(_HASH_LABEL, name)] = part
            self._words[name] = f"{prefix}-{part}"
        elif kind == "EndpointSlice" and meta.get("generateName"):
            stem = meta["generateName"]
            number = self._count(f"{kind} {stem}")
            self._words[name] = f"{stem}{self._draw_text(f'slice {stem} {number}', 5)}"
        elif kind == "Job" and owner.get("kind") == "CronJob":
            self._words[name] = f"{prefix}-{self._count(kind + prefix) + 1}"
        elif kind == "Pod" and owner and owner.get("kind") not in _STABLE_OWNERS:
            number = self._count(f"{kind} {prefix}")
            self._words[name] = f"{prefix}-{self._draw_text(f'{prefix} {number}', 5)}"
        if kind == "Pod":
            self._pod_names[name] = self._words.get(name, name)
            for volume in obj["spec"].get("volumes") or ():
                if volume["name"].startswith("kube-api-access-"):
                    self._words[volume["name"]] = (
                        f"kube-api-access-{self._draw_text(f'volume {self._find_name(obj)}', 5)}"
                    )

    def _name_unseen(self, tick: RecordedTick) -> None:
        """Name pods that existed only within a tick and appear only in events."""
        about = [e["involvedObject"] for e in tick.events if e["involvedObject"]["kind"] == "Pod"]
        for involved in sorted(about, key=lambda each: str(each.get("name", ""))):
            name = involved.get("name", "")
            owner = self._words.get(name.rpartition("-")[0])
            if owner is not None and name not in self._words:
                number = self._count(f"Pod {owner}")
                self._words[name] = f"{owner}-{self._draw_text(f'{owner} {number}', 5)}"
                self._words.setdefault(involved.get("uid", ""), self._draw_uid(f"Pod {self._words[name]}"))

    def _identify(self, obj: Object) -> None:
        """Assign the canonical UID of an object, and an index for addresses."""
        key = (obj["kind"], self._find_space(obj), self._find_name(obj))
        number = self._incarnations[key] = self._incarnations.get(key, -1) + 1
        self._words[obj["metadata"]["uid"]] = self._draw_uid(f"{'/'.join(key)} {number}")
        if obj["kind"] == "Pod":
            self._pods[obj["metadata"]["uid"]] = len(self._pods)
        if obj["kind"] == "Service" and "/".join(key) not in self._services:
            self._services.append("/".join(key))

    def _read_addresses(self, obj: Object) -> None:
        kind = obj["kind"]
        if kind == "Pod":
            number = self._pods[obj["metadata"]["uid"]]
            for ip in (obj.get("status") or {}).get("podIPs") or ():
                self._words.setdefault(ip["ip"], f"10.244.{number // _BLOCK}.{number % _BLOCK + 2}")
            self._read_containers(obj)
        elif kind == "Service":
            number = self._services.index("/".join((kind, self._find_space(obj), self._find_name(obj))))
            for ip in obj["spec"].get("clusterIPs") or ():
                if ip != "None":
                    self._words.setdefault(ip, f"10.96.{number // _BLOCK + 1}.{number % _BLOCK + 2}")
        elif kind == "Node":
            found = (a["address"] for a in obj["status"].get("addresses") or () if a["type"] == "InternalIP")
            self._nodes[obj["metadata"]["name"]] = next(found, "")

    def _read_containers(self, pod: Object) -> None:
        status = pod.get("status") or {}
        for each in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
            count = int(each.get("restartCount", 0))
            states = [(each.get("containerID", ""), count)]
            states += [(s.get("containerID", ""), count) for s in (each.get("state") or {}).values()]
            states += [(s.get("containerID", ""), count - 1) for s in (each.get("lastState") or {}).values()]
            for identifier, number in states:
                bare = identifier.rpartition("//")[2]
                if bare:
                    text = f"container {self._words[pod['metadata']['uid']]} {each['name']} {number}"
                    self._words.setdefault(bare, hashlib.sha256(f"{self._seed} {text}".encode()).hexdigest())

    def _count(self, group: str) -> int:
        """Return the index of the next member of a group."""
        number = self._siblings.get(group, 0)
        self._siblings[group] = number + 1
        return number

    def _find_name(self, obj: Object) -> str:
        name: str = obj["metadata"]["name"]
        return self._words.get(name, name)

    def _find_space(self, obj: Object) -> str:
        space: str = obj["metadata"].get("namespace", "")
        return self._namespaces.get(space, space)

    def _draw_number(self, text: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._seed} {text}".encode()).digest(), "big")

    def _draw_text(self, text: str, length: int) -> str:
        return spell_number(self._draw_number(text), _ALPHABET, length)

    def _draw_uid(self, text: str) -> str:
        digits = f"{self._draw_number(text):064x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def name_unseen(owner: str) -> str:
    """Name a pod that an owner failed to create; all attempts have the same name."""
    number = int.from_bytes(hashlib.sha256(f"unseen {owner}".encode()).digest(), "big")
    return f"{owner}-{spell_number(number, _ALPHABET, _SUFFIX)}"


def spell_number(number: int, alphabet: Sequence[str], length: int) -> str:
    """Spell the last digits of a number in an alphabet."""
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(alphabet))
        letters.append(alphabet[digit])
    return "".join(letters)


def _order_by_age(obj: Object) -> tuple[Any, ...]:
    """Order owners first and siblings by age, as the twin numbers replicas."""
    meta = obj["metadata"]
    rank = {"ReplicaSet": 0, "Job": 0, "Pod": 1}.get(obj["kind"], 2)
    revision = int((meta.get("annotations") or {}).get(_REVISION, 0))
    return rank, revision, meta.get("creationTimestamp", ""), meta["name"]
