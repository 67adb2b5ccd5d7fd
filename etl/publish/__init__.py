"""What is made from the database for others: exports, pages, statistics."""
