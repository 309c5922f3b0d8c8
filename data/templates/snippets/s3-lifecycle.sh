# For a bucket that is there already: parts of uploads that nobody finished are billed and never listed.  Source: s3-multipart
# The second command REPLACES every rule the bucket has: look at them with the first one, and put yours in as well.
aws s3api get-bucket-lifecycle-configuration --bucket "$BUCKET"
aws s3api put-bucket-lifecycle-configuration --bucket "$BUCKET" --lifecycle-configuration \
  '{"Rules": [{"ID": "abort-incomplete-multipart-uploads", "Status": "Enabled", "Filter": {"Prefix": ""}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": @abort_days@}}]}'
