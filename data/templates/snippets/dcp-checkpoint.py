# PyTorch 2.3 and newer, distributed checkpoint onto a mounted file system.  Source: pytorch-dcp-guide
# Replace /mnt/training; every rank runs this.
import torch.distributed.checkpoint as dcp


def save(state_dict, step):
    return dcp.@save@(state_dict, checkpoint_id=f"/mnt/training/checkpoints/step-{step}")


def load(state_dict, step):
    dcp.load(state_dict, checkpoint_id=f"/mnt/training/checkpoints/step-{step}")
