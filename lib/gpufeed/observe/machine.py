"""What this machine can do at most, and which addresses and paths are its own memory."""

from __future__ import annotations

import os
import platform
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
# What a mount is, as an option of the catalogue; other network file systems cannot be told apart by their type.
_OPTION_OF_TYPE = {"lustre": "fsx-for-lustre"}
_OPTION_OF_DEVICE = {"mountpoint-s3": "mountpoint-s3"}


@dataclass(frozen=True, slots=True)
class Mount:
    """The mounted file system a path lies on."""

    device: str
    point: str
    type: str

    @property
    def in_memory(self) -> bool:
        return self.type in MEMORY_FILE_SYSTEMS

    @property
    def option(self) -> str | None:
        """The option of the catalogue it is; None when its type does not tell."""
        return _OPTION_OF_DEVICE.get(self.device) or _OPTION_OF_TYPE.get(self.type)


def host() -> str:
    """The name of this machine."""
    return platform.node()


def cores() -> float:
    """Processor cores this process may use, a container's quota included."""
    allowed = float(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else float(os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return min(allowed, int(quota) / int(period))
    except (OSError, ValueError):  # no such file, or "max": no quota
        return allowed


def network_bytes_per_s(routes: Path = Path("/proc/net/route"), cards: Path = Path("/sys/class/net")) -> float | None:
    """Rated speed [bytes/s] of the default route's card; None when it does not say, as in many virtual machines."""
    try:
        rows = [line.split() for line in routes.read_text().splitlines()[1:]]
        card = next(row[0] for row in rows if len(row) > 1 and row[1] == "00000000")
        megabits = int((cards / card / "speed").read_text())
    except (OSError, ValueError, StopIteration):
        return None
    return megabits * 1e6 / 8 if megabits > 0 else None


def is_this_machine(endpoint_url: str) -> bool:
    """Whether the endpoint's address belongs to this machine, by name, loopback or one of its own cards."""
    name = urlsplit(endpoint_url).hostname or ""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return any(_is_own(family, str(address[0])) for family, _, _, _, address in found)


def _is_own(family: int, address: str) -> bool:
    if ip_address(address.partition("%")[0]).is_loopback:
        return True
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))  # only an address of this machine can be bound
        except OSError:
            return False
        return True


def mount_of(path: Path, mounts: Path = Path("/proc/self/mounts")) -> Mount | None:
    """The mount ``path`` lies on; None when the system does not tell."""
    try:
        rows = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return None
    found = [
        Mount(row[0], point, row[2])
        for row in rows
        if len(row) > 2 and path.is_relative_to(point := row[1].encode().decode("unicode_escape"))
    ]
    return max(found, key=lambda mount: len(mount.point), default=None)
