select count(mfu_reported) from mfu_comparable
