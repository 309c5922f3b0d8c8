# PyTorch 2.3 and newer, distributed checkpoint straight to S3: pip install 's3torchconnector[dcp]'.
# Sources: s3-connector-pytorch, pytorch-dcp-guide, pytorch-dcp-writer.  Replace PREFIX/ and BUCKET; every rank runs this.
# BUCKET is @saves_in@.
# Not through a mount by Mountpoint: PyTorch's writer for files renames one of them, which a general purpose bucket cannot.
# part_size is what the rate and the requests of saves and restores are counted with.
import torch.distributed.checkpoint as dcp
from s3torchconnector import S3ClientConfig
from s3torchconnector.dcp import HexPrefixStrategy, S3StorageReader, S3StorageWriter

config = S3ClientConfig(@target@part_size=@save_part@)


def save(state_dict, step):
    writer = S3StorageWriter(
        region="@region@",
        path=f"s3://BUCKET/PREFIX/step-{step}/",
        s3client_config=config,
        thread_count=@threads@,
        # Spreads the ranks over key prefixes.  The plan counts on one: S3 splits them in time, after 503s.
        prefix_strategy=HexPrefixStrategy(),
    )
    return dcp.@save@(state_dict, storage_writer=writer)


def load(state_dict, step):
    reader = S3StorageReader(region="@region@", path=f"s3://BUCKET/PREFIX/step-{step}/", s3client_config=config)
    dcp.load(state_dict, storage_reader=reader)
