# Amazon S3 Connector for PyTorch 1.5: pip install s3torchconnector.  Source: s3-connector-pytorch
# Replace PREFIX/ and BUCKET, @reads_in@.
# The target is that of one loader worker: together they have the network card.
from s3torchconnector import S3ClientConfig, S3IterableDataset

dataset = S3IterableDataset.from_prefix(
    "s3://BUCKET/PREFIX/",
    region="@region@",
    enable_sharding=True,  # each worker of each node reads its own part
    s3client_config=S3ClientConfig(@read_target@part_size=@part@),
)
