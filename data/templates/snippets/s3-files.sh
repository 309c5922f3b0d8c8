# Amazon S3 Files, amazon-efs-utils 3.0.0 and newer.  Sources: efs-utils, s3-files-prerequisites
# Set first: FILE_SYSTEM_ID (output of the template), MOUNT (an empty directory).  The bucket has versioning on.
sudo mount -t s3files "$FILE_SYSTEM_ID" "$MOUNT"
