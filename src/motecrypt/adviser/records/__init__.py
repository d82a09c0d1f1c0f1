"""Records: the fastest and the smallest implementations of a cipher on a device, ours and public ones.

`plan` says what is compared, `needs` what to measure for it, `rows` makes one row of an implementation's
measurements and judges it, `stored` keeps rows in figures.jsonl, `page` writes docs/records.md.
"""
