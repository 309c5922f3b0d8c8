"""Jobs and file systems that several tests start from."""

from __future__ import annotations

from gpufeed.facts import load
from gpufeed.model.file_system import FileSystem, Link
from gpufeed.model.fsx import Configuration, Need, Order, configured, metadata_iops

#: 4 × 8 accelerators × 100 samples/s of 100 KB, each an object: 3,200 GET/s, 320 MB/s; one epoch of 1 TB takes 3,125 s.
PHOTOS = {
    "task": "pretraining",
    "instances": 4,
    "instance_type": "p5.48xlarge",
    "preset": "image-classification",
    "samples_per_second_per_accelerator": 100,
    "dataset_bytes": 1e12,
    "objects": 10_000_000,
    "workers_per_accelerator": 100,
    "prefixes": 1,
    "run_hours": 100,
    "region": "us-east-1",
}
#: 70 billion parameters on 32 p5: 980 GB each ten minutes.
SAVES_OFTEN = {
    "task": "pretraining",
    "instances": 32,
    "instance_type": "p5.48xlarge",
    "model_parameters": 70e9,
    "dataset_bytes": 2e12,
    "objects": 8000,
    "checkpoint_interval": 600,
    "checkpoints": "frequent",
    "interface": "s3-api",
    "run_hours": 240,
    "region": "us-east-1",
}
#: 32 p5.48xlarge at USD 55.04 an hour each save 980 GB every 30 minutes for a month of 730 hours: 1,460 times.
LANGUAGE_MODEL = {
    "task": "pretraining",
    "instances": 32,
    "instance_type": "p5.48xlarge",
    "gpu_hour_price": 55.04,
    "dataset_bytes": 20e12,
    "objects": 200_000,
    "checkpoint_bytes": 980e9,
    "checkpoint_interval": 1800,
    "region": "us-east-1",
    "run_hours": 730,
}
#: 405 billion parameters on 256 p5en: 5.67 TB each two hours, asynchronously, of data under 16 key prefixes.
SAVES_LARGE = {
    "task": "pretraining",
    "instances": 256,
    "instance_type": "p5en.48xlarge",
    "model_parameters": 405e9,
    "dataset_bytes": 60e12,
    "objects": 60_000,
    "prefixes": 16,
    "checkpoint_interval": 7200,
    "checkpoint_mode": "async",
    "restore_target": 120,
    "run_hours": 720,
}
#: 405.85 billion parameters on 2,048 p5: 16,384 ranks save 346.8 MB each every 560 s, while the GPUs wait.
SAVES_MANY = {
    "task": "pretraining",
    "instances": 2048,
    "instance_type": "p5.48xlarge",
    "gpu_hour_price": 55.04,
    "model_parameters": 405.85e9,
    "precision": "bf16",
    "dataset_bytes": 52e12,
    "objects": 52_000,
    "prefixes": 16,
    "checkpoint_mode": "sync",
    "checkpoint_interval": 560,
    "checkpoints_kept": 4,
    "epochs": 1,
    "run_hours": 1300,
    "region": "us-east-1",
}
LINK = Link("/data", "s3://your-bucket/data/", "AVAILABLE", ("NEW",), ("NEW", "CHANGED"))
#: 4,800 GiB at 125 MB/s per TiB: 0.6 GB/s, 12,000 files/s, 696 USD per month (4,800 × 0.145).
FILE_SYSTEM = FileSystem(
    id="fs-0123456789abcdef0",
    region="us-east-1",
    lifecycle="AVAILABLE",
    deployment_type="PERSISTENT_2",
    storage_type="SSD",
    capacity_gib=4800.0,
    mb_per_s_per_tib=125.0,
    metadata_mode="AUTOMATIC",
    metadata_iops=6000.0,
    links=(LINK,),
)


def configured_at(name: str, capacity_gib: float, need: Need, region: str = "us-east-1") -> Configuration:
    """The file system of one type at one capacity, over EFA where the clients and the type can."""
    section = load().fsx[name]
    iops, ordered = metadata_iops(section, capacity_gib, need.opens_per_s, load())
    efa = need.efa and bool(section.get_value("efa"))
    return configured(Order(name, capacity_gib, iops, ordered, efa), region, load(), need)
