# A directory bucket lies in one zone: copy each save into the general purpose bucket as soon as it is written, and the
# final model.  The plan bills for it.  Source: s3-express-copy
# Set first: DIRECTORY_BUCKET (NAME--ZONE-ID--x-s3), BUCKET (general purpose), SAVE (the prefix of one save, PREFIX/step-1/).
# The plan's time of this copy is that of all instances at once: let each copy the files of its own ranks if one is too slow.
# The plan's time and its bill are of parts of so many bytes.  Source: aws-cli-s3-config
aws configure set s3.multipart_chunksize @copy_part@
aws s3 cp "s3://$DIRECTORY_BUCKET/$SAVE" "s3://$BUCKET/$SAVE" --recursive
# The counts and the bytes are the same on both sides.  Only then may the save in the directory bucket go.
aws s3 ls "s3://$DIRECTORY_BUCKET/$SAVE" --recursive --summarize | tail -n 2
aws s3 ls "s3://$BUCKET/$SAVE" --recursive --summarize | tail -n 2
