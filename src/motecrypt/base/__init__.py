"""Used by all packages: the catalog's records, errors, paths, processes, text."""
