# A checkpoint that one rank saves for all, as a file on a mounted file system.  Sources: pytorch-save, pytorch-dcp-guide
# Replace /mnt/training; every rank runs this.  number: of the save, from 0.  last: the job's last, which always goes
# where it is copied: nothing may be deleted before that copy is proven.
# state_dict is whole on rank 0: with FSDP, get_model_state_dict with StateDictOptions(full_state_dict=True) on every rank.
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
import torch.distributed as dist

EVERY = @every@  # one save in so many goes under /checkpoints, @linked@
background = ThreadPoolExecutor(max_workers=1)


def path(step, number, last=False):
    return Path(f"/mnt/training/{'checkpoints' if last or number % EVERY == 0 else 'not-exported'}/step-{step}.pt")


def write(saved, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(saved)


def save(state_dict, step, number, last=False):
    if dist.is_initialized() and dist.get_rank() != 0:
        return None
    saved = io.BytesIO()  # in host memory, where training no longer changes it
    torch.save(state_dict, saved)
    return background.submit(write, saved.getbuffer(), path(step, number, last))@result@


def load(step, number, last=False):
    return torch.load(path(step, number, last), map_location="cpu")
