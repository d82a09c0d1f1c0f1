"""What public-key operations cost: recorded rows, what others published, and the page of both. Pure: it reads
its data files and measures nothing."""
