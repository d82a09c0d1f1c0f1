"""Models of what happens between two nodes: radios, channel, energy, WLAN, times of the link."""
