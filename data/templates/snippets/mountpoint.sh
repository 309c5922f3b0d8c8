# Mountpoint for Amazon S3, 1.23 and newer.  Sources: mountpoint-configuration, mountpoint-semantics
# Set first: BUCKET (@mount_of@), PREFIX (it ends with a slash), MOUNT (an empty directory).
# Throughput follows the instance's network by itself; with several mounts on one instance divide it with
# --maximum-throughput-gbps.  A local cache (--cache DIRECTORY) pays when one instance reads the same data again.
# A file that is written may have up to @largest@, 10,000 parts; a larger one needs a larger --write-part-size.
mount-s3 "$BUCKET" "$MOUNT" --prefix "$PREFIX" @flags@
