# PyTorch 2.3 and newer, distributed checkpoint onto a mounted file system.  Source: pytorch-dcp-guide
# Replace /mnt/training; every rank runs this.  number: of the save, from 0.
import torch.distributed.checkpoint as dcp

EVERY = @every@  # one save in so many goes under /checkpoints, @linked@


def path(step, number):
    return f"/mnt/training/{'checkpoints' if number % EVERY == 0 else 'not-exported'}/step-{step}"


def save(state_dict, step, number):
    return dcp.@save@(state_dict, checkpoint_id=path(step, number))


def load(state_dict, step, number):
    dcp.load(state_dict, checkpoint_id=path(step, number))
