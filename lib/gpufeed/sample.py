"""The sample data of the embedded server: the same objects, byte for byte, on every machine."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from gpufeed.observe.objects import Objects

VERSION = "2"
BUCKET = "gpufeed-sample"
PREFIXES = ("images/", "video-shards/", "llm-tokens/", "checkpoints/")

MIB = 1024 * 1024
CLASSES = ("cat", "coral", "crane", "daisy", "dog", "fox", "harp", "mug", "train", "zebra")
IMAGES_PER_CLASS = 300
FOLDER_MARKERS = tuple(f"images/{name}/" for name in CLASSES)  # as consoles and copy tools leave them
EMPTY_IMAGES = 3  # downloads that failed, as real data sets have them
PUTS_IN_FLIGHT = 16

_JPEG_START = bytes.fromhex("ffd8ffe000104a46494600010100000100010000")
_JPEG_END = bytes.fromhex("ffd9")


class Sample(NamedTuple):
    """One object of the sample."""

    key: str
    size: int  # [bytes]


def sample_objects() -> Iterator[Sample]:
    """Key and size of each object; sizes use only exactly reproducible arithmetic."""
    draw = random.Random(20261130).random
    for name in CLASSES:
        for number in range(IMAGES_PER_CLASS):
            u = draw()
            # 4 KiB to 92 KB, mean 24 KB, median 13 KB: many small, few large, as photographs scaled down are.
            yield Sample(f"images/{name}/{name}-{number:04d}.jpg", int(4096 + 8000 * u + 80000 * u * u * u * u))
    for number in range(EMPTY_IMAGES):
        yield Sample(f"images/{CLASSES[number]}/download-failed-{number}.jpg", 0)
    for number in range(16):
        yield Sample(f"video-shards/shard-{number:06d}.tar", 8 * MIB)
    for number in range(4):
        yield Sample(f"llm-tokens/tokens-{number:03d}.bin", 16 * MIB)
    for step in (1000, 2000):
        for rank in (0, 1):
            yield Sample(f"checkpoints/step-{step:06d}/rank-{rank}.pt", 4 * MIB)


def load_sample(objects: Objects, progress: Callable[[int, int], None] | None = None) -> None:
    """Write every sample object; ``progress`` gets (done, total).  Raises RequestFailed."""
    noise = random.Random(VERSION).randbytes(17 * MIB)
    plan = list(sample_objects())

    def content(index: int, item: Sample) -> bytes:
        start = index * 131 % MIB
        if item.key.endswith(".jpg") and item.size:
            inside = item.size - len(_JPEG_START) - len(_JPEG_END)
            return _JPEG_START + noise[start : start + inside] + _JPEG_END
        return noise[start : start + item.size]

    # The few large objects go last and never more than 16 at once: memory stays within a few hundred MB.
    _put_all(objects, [(item.key, index) for index, item in enumerate(plan)], lambda i: content(i, plan[i]), progress)


def load_many(objects: Objects, prefix: str, count: int, size: int, puts_in_flight: int = 64) -> None:
    """``count`` objects of ``size`` bytes under ``prefix``, a thousand per sub-prefix: for benchmarks."""
    block = random.Random(VERSION).randbytes(size)
    keys = [(f"{prefix}{number // 1000:06d}/{number:09d}.bin", number) for number in range(count)]
    _put_all(objects, keys, lambda _: block, None, puts_in_flight)


def _put_all(
    objects: Objects,
    keys: list[tuple[str, int]],
    content: Callable[[int], bytes],
    progress: Callable[[int, int], None] | None,
    puts_in_flight: int = PUTS_IN_FLIGHT,
) -> None:
    done = 0
    lock = threading.Lock()

    def put(item: tuple[str, int]) -> None:
        nonlocal done
        key, index = item
        objects.put(key, content(index))
        with lock:
            done += 1
            if progress:
                progress(done, len(keys))

    with ThreadPoolExecutor(puts_in_flight) as pool:
        try:
            for _ in pool.map(put, keys):
                pass
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
