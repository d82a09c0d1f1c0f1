"""What commands print of results, as text and tables: pure views that print nothing themselves."""
