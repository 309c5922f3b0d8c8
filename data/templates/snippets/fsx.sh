# FSx for Lustre, client 2.15.  Sources: fsx-mounting, fsx-efa
# A file system with EFA needs EFA set up on each client first (fsx-efa).
# Set first: DNS_NAME and MOUNT_NAME (outputs of the template), MOUNT (an empty directory).
sudo mount -t lustre -o relatime,flock "$DNS_NAME@tcp:/$MOUNT_NAME" "$MOUNT"
