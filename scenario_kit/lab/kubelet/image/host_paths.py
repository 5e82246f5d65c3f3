"""The file system of a node, for volumes of type ``hostPath``.

A volume without a type is mounted unchecked, and the types ending in ``OrCreate`` create a missing path; only the other
types can fail.
"""

from __future__ import annotations

from scenario_kit.model.base import Object

#: Directories of every Linux node with a kubelet and containerd; names only, none is opened.
_FOLDERS = frozenset({
    "/", "/bin", "/boot", "/dev", "/etc", "/etc/cni", "/etc/cni/net.d", "/etc/containerd", "/etc/kubernetes",
    "/etc/ssl", "/etc/ssl/certs", "/home", "/lib", "/lib/modules", "/mnt", "/opt", "/opt/cni", "/opt/cni/bin", "/proc",
    "/root", "/run", "/run/containerd", "/run/systemd", "/sbin", "/srv", "/sys", "/sys/fs", "/sys/fs/bpf",
    "/sys/fs/cgroup", "/sys/kernel", "/sys/kernel/debug", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local",  # noqa: S108
    "/usr/local/bin", "/usr/share", "/usr/share/zoneinfo", "/usr/src", "/var", "/var/lib", "/var/lib/containerd",
    "/var/lib/kubelet", "/var/lib/kubelet/pods", "/var/log", "/var/log/containers", "/var/log/journal", "/var/log/pods",
    "/var/run", "/var/tmp",  # noqa: S108
})  # fmt: skip
_FILES = frozenset({
    "/etc/group", "/etc/hostname", "/etc/hosts", "/etc/localtime", "/etc/machine-id", "/etc/nsswitch.conf",
    "/etc/os-release", "/etc/passwd", "/etc/resolv.conf", "/proc/cpuinfo", "/proc/meminfo", "/var/log/syslog",
})  # fmt: skip
_SOCKETS = frozenset({
    "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private",
    "/var/run/containerd/containerd.sock", "/var/run/dbus/system_bus_socket",
})  # fmt: skip
_CHARACTER_DEVICES = frozenset({"/dev/fuse", "/dev/kmsg", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"})
_BLOCK_DEVICES = frozenset({"/dev/sda", "/dev/vda"})
#: Existing paths by volume type, and the kubelet's word for the type.
_KINDS = {
    "Directory": (_FOLDERS, "directory"),
    "File": (_FILES, "file"),
    "Socket": (_SOCKETS, "socket file"),
    "CharDevice": (_CHARACTER_DEVICES, "character device"),
    "BlockDevice": (_BLOCK_DEVICES, "block device"),
}


def find_problem(source: Object) -> str:
    """Return why a ``hostPath`` volume cannot be mounted; empty if it can, or if there is none."""
    kind = _KINDS.get(source.get("type") or "")
    if kind is None:
        return ""
    known, word = kind
    path = source["path"].rstrip("/") or "/"
    return "" if path in known else f"hostPath type check failed: {source['path']} is not a {word}"
