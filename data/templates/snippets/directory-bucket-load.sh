# The reads are on a directory bucket: copy the data set into it before the GPUs are billed.  Source: s3-express-copy
# Set first: BUCKET (the general purpose bucket), DIRECTORY_BUCKET (NAME--ZONE-ID--x-s3), PREFIX (it ends with a slash).
aws s3 cp "s3://$BUCKET/$PREFIX" "s3://$DIRECTORY_BUCKET/$PREFIX" --recursive
# It has arrived when the counts and the bytes are the same on both sides.
aws s3 ls "s3://$BUCKET/$PREFIX" --recursive --summarize | tail -n 2
aws s3 ls "s3://$DIRECTORY_BUCKET/$PREFIX" --recursive --summarize | tail -n 2
