# Amazon S3 Connector for PyTorch 1.5: pip install s3torchconnector.  Source: s3-connector-pytorch
# Replace PREFIX/ and BUCKET, @reads_in@.
# Small reads inside large objects: one ranged GET for each, and no more than it asks for.
# The target is that of one loader worker: together they have the network card.
from s3torchconnector import S3ClientConfig, S3MapDataset, S3ReaderConstructor

objects = S3MapDataset.from_prefix(
    "s3://BUCKET/PREFIX/",
    region="@region@",
    reader_constructor=S3ReaderConstructor.range_based(buffer_size=@request@),
    s3client_config=S3ClientConfig(@read_target@part_size=@part@),
)


def read(index, offset, size):
    reader = objects[index]
    reader.seek(offset)
    return reader.read(size)
