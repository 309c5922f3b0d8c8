# FSx for Lustre, client 2.15.  Sources: fsx-mounting, fsx-preload, fsx-efa
# A file system with EFA needs EFA set up on each client first (fsx-efa).
# Set first: DNS_NAME and MOUNT_NAME (outputs of the template), MOUNT (an empty directory).
sudo mount -t lustre -o relatime,flock "$DNS_NAME@tcp:/$MOUNT_NAME" "$MOUNT"
# Bring the data set in before the GPUs are billed: the first read of each file comes from S3 otherwise.
nohup find "$MOUNT/data" -type f -print0 | xargs -0 -n 1 sudo lfs hsm_restore &
# A file has arrived when this says NOOP:
sudo lfs hsm_action "$MOUNT/data/path/to/a/file"
