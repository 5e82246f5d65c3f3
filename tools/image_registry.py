"""Image digests from registries (OCI distribution API).

The tag of a multi-platform image has the digest of its index, so one lock fits every node. Nothing is pulled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import httpx

from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.model.kubernetes.image import normalize_image

#: The index media type is first, so that registries prefer it.
ACCEPT: Final = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_PARAMETER: Final = re.compile(r'(\w+)="([^"]*)"')
_TIMEOUT: Final = httpx.Timeout(20.0, connect=5.0)


class ImagePlace(NamedTuple):
    """The location of an image: the registry as in the reference, the repository, and the tag."""

    registry: str
    repository: str
    tag: str


def place(image: str) -> ImagePlace:
    """Parse a reference with a tag.

    Raises:
        AuthoringError: it has a digest, or is not a reference.
    """
    name = normalize_image(image)
    registry, _, rest = name.partition("/")
    repository, _, tag = rest.rpartition(":")
    if "@" in name or not repository or not tag:
        raise AuthoringError(f"image '{image}': expected a name with a tag and without a digest")
    return ImagePlace(registry, repository, tag)


class ImageRegistries:
    """A client of registries. ``hosts`` maps registries to API hosts that differ from their names."""

    def __init__(self, hosts: Mapping[str, str] | None = None, *, client: httpx.Client | None = None) -> None:
        self._hosts = dict(hosts or {})
        self._client = client or httpx.Client(timeout=_TIMEOUT, follow_redirects=True)
        self._tokens: dict[tuple[str, str], str] = {}

    def digest(self, image: str) -> str:
        """Return the current digest of the image's tag, ``sha256:…``.

        Raises:
            AuthoringError: the image does not exist, or access is denied.
            InfrastructureError: no registry responds, or the response is not its API's.
        """
        where = place(image)
        response = self._request_manifest("HEAD", where)
        if response.status_code in (401, 403, 404):
            raise AuthoringError(
                f"image '{image}': {self._get_host(where)} returned {response.status_code} {response.reason_phrase}",
                fix="correct the image in app.yaml and the templates, or use credentials that can pull it",
            )
        found = str(response.headers.get("Docker-Content-Digest", ""))
        if response.status_code == 200 and not found:
            body = self._request_manifest("GET", where)
            found = f"sha256:{hashlib.sha256(body.content).hexdigest()}" if body.status_code == 200 else ""
        if response.status_code != 200 or not _DIGEST.fullmatch(found):
            raise InfrastructureError(
                f"image '{image}': expected a digest from {self._get_host(where)}, observed status "
                f"{response.status_code} and Docker-Content-Digest '{found}'",
                fix=f"if its API has another host, use --host {where.registry}=HOST",
            )
        return found

    def _request_manifest(self, method: str, where: ImagePlace) -> httpx.Response:
        url = f"https://{self._get_host(where)}/v2/{where.repository}/manifests/{where.tag}"
        headers = {"Accept": ACCEPT}
        key = (where.registry, where.repository)
        if key in self._tokens:
            headers["Authorization"] = f"Bearer {self._tokens[key]}"
        response = self._send(method, url, where, headers=headers)
        challenge = response.headers.get("WWW-Authenticate", "")
        if response.status_code == 401 and key not in self._tokens and challenge.lower().startswith("bearer "):
            self._tokens[key] = self._fetch_token(challenge, where)
            return self._request_manifest(method, where)
        return response

    def _fetch_token(self, challenge: str, where: ImagePlace) -> str:
        asked = dict(_PARAMETER.findall(challenge))
        realm = asked.pop("realm", "")
        if not realm.startswith("https://"):
            raise InfrastructureError(f"{self._get_host(where)} requires a token from '{realm}', which is not https")
        desired = {"scope": f"repository:{where.repository}:pull"} | {
            k: v for k, v in asked.items() if k in ("service", "scope")
        }
        response = self._send("GET", realm, where, params=desired)
        try:
            document = response.json()
            return str(document.get("token") or document["access_token"])
        except (ValueError, KeyError, AttributeError) as error:
            raise InfrastructureError(
                f"expected a token of {self._get_host(where)} from {realm}, observed status {response.status_code}"
            ) from error

    def _send(
        self,
        method: str,
        url: str,
        where: ImagePlace,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        try:
            return self._client.request(method, url, headers=headers, params=params)
        except httpx.HTTPError as error:
            raise InfrastructureError(
                f"registry {where.registry} cannot be reached at {httpx.URL(url).host}: {error!r}",
                fix=f"run this with access to the registry, or use a mirror: --host {where.registry}=HOST",
            ) from error

    def _get_host(self, where: ImagePlace) -> str:
        return self._hosts.get(where.registry, where.registry)
