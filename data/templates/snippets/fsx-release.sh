# Before the file system goes: prove that every checkpoint is in S3.  Sources: fsx-delete-api, fsx-metrics
# Set first: FILE_SYSTEM_ID, BUCKET, CHECKPOINT_PREFIX (it ends with a slash), MOUNT, START and END (UTC, the last ten minutes).
# 1. Nothing waits for automatic export: every value is 0.  (An export task can prove it instead, but not while automatic
#    export is on.)
aws cloudwatch get-metric-statistics --namespace AWS/FSx --metric-name AgeOfOldestQueuedMessage \
  --dimensions "Name=FileSystemId,Value=$FILE_SYSTEM_ID" Name=Publisher,Value=AutoExport \
  --statistics Maximum --period 60 --start-time "$START" --end-time "$END"
# 2. The counts and the bytes are the same on both sides.
find "$MOUNT/checkpoints" -type f -printf '%s\n' | awk '{bytes += $1} END {print NR " files, " bytes " bytes"}'
aws s3 ls "s3://$BUCKET/$CHECKPOINT_PREFIX" --recursive --summarize | tail -n 2
#    What lies here was never exported, and goes with the file system: copy what is newer than the last one above.
[ ! -d "$MOUNT/not-exported" ] || find "$MOUNT/not-exported" -type f | wc -l
# 3. Only then, and only where a copy in S3 is enough:
# aws fsx delete-file-system --file-system-id "$FILE_SYSTEM_ID"
