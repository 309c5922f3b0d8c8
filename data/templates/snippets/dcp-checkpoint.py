# PyTorch 2.3 and newer, distributed checkpoint onto a mounted file system.  Source: pytorch-dcp-guide
# Replace /mnt/training; every rank runs this.  number: of the save, from 0.  last: the job's last, which always goes
# where it is copied: nothing may be deleted before that copy is proven.
import torch.distributed.checkpoint as dcp

EVERY = @every@  # one save in so many goes under /checkpoints, @linked@


def path(step, number, last=False):
    return f"/mnt/training/{'checkpoints' if last or number % EVERY == 0 else 'not-exported'}/step-{step}"


def save(state_dict, step, number, last=False):
    return dcp.@save@(state_dict, checkpoint_id=path(step, number, last))


def load(state_dict, step, number, last=False):
    dcp.load(state_dict, checkpoint_id=path(step, number, last))
