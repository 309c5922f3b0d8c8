# Bring the data set in before the GPUs are billed: the first read of each file comes from S3 otherwise.  Source: fsx-preload
# Set first: MOUNT (where the file system is mounted, see fsx.sh).
nohup find "$MOUNT/data" -type f -print0 | xargs -0 -n 1 sudo lfs hsm_restore &
# A file has arrived when this says NOOP:
sudo lfs hsm_action "$MOUNT/data/path/to/a/file"
