"""Pages about one thing each: a profile, an audit, a history, a radio. One file, offline, for any browser."""
