"""SK201, SK215: what is pulled today and tomorrow is the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.catalog_context import AppCase
from scenario_kit.lint.context.source_location import Judged, LocatedSpot, Spot, find_fresh
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.stages import leaves, list_containers
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Object

#: Tags that are moved from release to release.
_CHANNELS = frozenset(
    {"main", "master", "edge", "nightly", "stable", "dev", "develop", "rolling", "canary", "snapshot", "next", "lts"}
)
_MAJOR = re.compile(r"v?\d+(-[a-z]+)?$")
#: Addresses whose content follows a branch or the latest release.
_BRANCH = re.compile(
    r"https?://\S*?(?:/(?:raw|blob|tree)/(?:refs/heads/)?(?:main|master|develop)/"
    r"|raw\.githubusercontent\.com/[^/\s]+/[^/\s]+/(?:refs/heads/)?(?:main|master|develop)/"
    r"|/releases/latest/|/archive/(?:refs/heads/)?(?:main|master|develop)\.)[^\s'\"]*"
)
_REPAIR = "writes the image as an app in the catalogue names it, where its repository has exactly one tag there"


@register_check("SK201", "Scenario", "Fault", "App")
def check_unpinned(case: Judged) -> Iterator[Problem]:
    for found in find_fresh(case, _find_images):
        tag = _tag(found.spot.value)
        if tag in ("", "latest"):
            observed = "the tag latest" if tag else "no tag"
            message = f"{found.subject} runs the image '{found.spot.value}', which has {observed} and no digest"
            yield _build_problem(case, found, message, observed, "a release as tag, or a digest")


@register_check("SK215", "Scenario", "Fault", "App")
def check_floating(case: Judged) -> Iterator[Problem]:
    for found in find_fresh(case, _find_images):
        tag = _tag(found.spot.value)
        if tag in _CHANNELS or (tag and _MAJOR.match(tag)):
            message = f"{found.subject} runs the image '{found.spot.value}', whose tag moves from release to release"
            yield _build_problem(case, found, message, tag, "the full number of a release, or a digest")
    for found in find_fresh(case, _find_branches):
        message = f"{found.subject} uses '{found.spot.value}', which follows a branch or the latest release"
        yield Problem(
            found.site.place,
            message,
            found.spot.value,
            "a tag or a commit in the address",
            position=found.site.position,
        )


def _build_problem(case: Judged, found: LocatedSpot, message: str, observed: str, expected: str) -> Problem:
    image, (place, text, position) = str(found.spot.value), found.site
    pinned = sorted({known for known in _list_known(case) if _parse_repository(known) == _parse_repository(image)})
    edits: tuple[Edit, ...] = (Put(place, pinned[0]),) if len(pinned) == 1 and text == image and not position else ()
    fix = f"write {' or '.join(pinned)}" if pinned else ""
    return Problem(place, message, observed, expected, fix, position=position, edits=edits)


def _find_images(obj: Object) -> Iterator[Spot]:
    for keys, container in list_containers(obj):
        if isinstance(image := container.get("image"), str) and image:
            yield Spot((*keys, "image"), image)


def _find_branches(obj: Object) -> Iterator[Spot]:
    for keys, value in leaves(obj):
        if isinstance(value, str) and "://" in value:
            yield from (Spot(keys, match[0]) for match in _BRANCH.finditer(value))


def _tag(image: str) -> str:
    """Return the tag of an image; a digest counts as one that never moves."""
    if "@" in image:
        return image.partition("@")[2]
    return image.rsplit("/", 1)[-1].partition(":")[2]


def _parse_repository(image: str) -> str:
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}".removeprefix("docker.io/").removeprefix("library/")


def _list_known(case: Judged) -> Iterable[str]:
    """List pinned images of the catalogue's apps."""
    apps = {stage.app.name: stage.app for stage in case.stages}
    if not isinstance(case, AppCase):
        for name in case.catalog.apps():
            with suppress(AuthoringError):  # what is wrong with an app is told of the app
                apps.setdefault(name, case.catalog.app(name, case.catalog.versions(name)[0]))
    for app in apps.values():
        for image in app.images:
            tag = _tag(image)
            if tag and tag != "latest" and tag not in _CHANNELS and not _MAJOR.match(tag):
                yield image
