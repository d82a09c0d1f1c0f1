"""Report, pages, comparisons and bundles of stored results."""
