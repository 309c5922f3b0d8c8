# A checkpoint that one rank saves for all, straight to S3: pip install s3torchconnector.
# Sources: s3-connector-pytorch, pytorch-save, pytorch-dcp-guide.  Replace PREFIX/ and BUCKET; every rank runs this.
# BUCKET is @saves_in@.
# state_dict is whole on rank 0: with FSDP, get_model_state_dict with StateDictOptions(full_state_dict=True) on every rank.
# part_size is what the rate and the requests of saves and restores are counted with.
import io
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist
from s3torchconnector import S3Checkpoint, S3ClientConfig

checkpoint = S3Checkpoint(region="@region@", s3client_config=S3ClientConfig(@target@part_size=@save_part@))
background = ThreadPoolExecutor(max_workers=1)


def path(step):
    return f"s3://BUCKET/PREFIX/step-{step}.pt"


def write(saved, step):
    with checkpoint.writer(path(step)) as writer:
        writer.write(saved)


def save(state_dict, step):
    if dist.is_initialized() and dist.get_rank() != 0:
        return None
    saved = io.BytesIO()  # in host memory, where training no longer changes it
    torch.save(state_dict, saved)
    return background.submit(write, saved.getbuffer(), step)@result@


def load(step):
    with checkpoint.reader(path(step)) as reader:
        return torch.load(reader, map_location="cpu")
