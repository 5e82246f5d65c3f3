"""SK201, SK215: images and downloads that can change without a change of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.catalog_context import AppCase
from scenario_kit.lint.context.source_location import Judged, LocatedField, RenderedField, find_introduced
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.stages import list_containers, walk_leaves
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Object

#: Tags that move from release to release.
_CHANNELS = frozenset(
    {"main", "master", "edge", "nightly", "stable", "dev", "develop", "rolling", "canary", "snapshot", "next", "lts"}
)
_MAJOR = re.compile(r"v?\d+(-[a-z]+)?$")
#: URLs whose content follows a branch or the latest release.
_BRANCH = re.compile(
    r"https?://\S*?(?:/(?:raw|blob|tree)/(?:refs/heads/)?(?:main|master|develop)/"
    r"|raw\.githubusercontent\.com/[^/\s]+/[^/\s]+/(?:refs/heads/)?(?:main|master|develop)/"
    r"|/releases/latest/|/archive/(?:refs/heads/)?(?:main|master|develop)\.)[^\s'\"]*"
)


@register_check("SK201", "Scenario", "Fault", "App")
def check_unpinned(case: Judged) -> Iterator[Problem]:
    for found in find_introduced(case, _find_images):
        tag = _tag(found.spot.value)
        if tag in ("", "latest"):
            observed = "the tag latest" if tag else "no tag"
            message = f"{found.subject} runs the image '{found.spot.value}', which has {observed} and no digest"
            yield _build_problem(case, found, message, observed, "a release as tag, or a digest")


@register_check("SK215", "Scenario", "Fault", "App")
def check_floating(case: Judged) -> Iterator[Problem]:
    for found in find_introduced(case, _find_images):
        tag = _tag(found.spot.value)
        if tag in _CHANNELS or (tag and _MAJOR.match(tag)):
            message = f"{found.subject} runs the image '{found.spot.value}', whose tag moves from release to release"
            yield _build_problem(case, found, message, tag, "the full number of a release, or a digest")
    for found in find_introduced(case, _find_branches):
        message = f"{found.subject} uses '{found.spot.value}', which follows a branch or the latest release"
        yield Problem(
            found.site.place, message, found.spot.value, "a tag or a commit in the URL", position=found.site.position
        )


def _build_problem(case: Judged, found: LocatedField, message: str, observed: str, expected: str) -> Problem:
    image, (place, text, position) = str(found.spot.value), found.site
    pinned = sorted({known for known in _list_known(case) if _parse_repository(known) == _parse_repository(image)})
    edits: tuple[Edit, ...] = (Put(place, pinned[0]),) if len(pinned) == 1 and text == image and not position else ()
    fix = f"write {' or '.join(pinned)}" if pinned else ""
    return Problem(place, message, observed, expected, fix, position=position, edits=edits)


def _find_images(obj: Object) -> Iterator[RenderedField]:
    for keys, container in list_containers(obj):
        if isinstance(image := container.get("image"), str) and image:
            yield RenderedField((*keys, "image"), image)


def _find_branches(obj: Object) -> Iterator[RenderedField]:
    for keys, value in walk_leaves(obj):
        if isinstance(value, str) and "://" in value:
            yield from (RenderedField(keys, match[0]) for match in _BRANCH.finditer(value))


def _tag(image: str) -> str:
    """Return the tag of an image, or its digest."""
    if "@" in image:
        return image.partition("@")[2]
    return image.rsplit("/", 1)[-1].partition(":")[2]


def _parse_repository(image: str) -> str:
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}".removeprefix("docker.io/").removeprefix("library/")


def _list_known(case: Judged) -> Iterable[str]:
    """Yield the pinned images of the catalogue's apps."""
    apps = {stage.app.name: stage.app for stage in case.stages}
    if not isinstance(case, AppCase):
        for name in case.catalog.apps():
            with suppress(AuthoringError):  # the app has findings of its own
                apps.setdefault(name, case.catalog.app(name, case.catalog.versions(name)[0]))
    for app in apps.values():
        for image in app.images:
            tag = _tag(image)
            if tag and tag != "latest" and tag not in _CHANNELS and not _MAJOR.match(tag):
                yield image
