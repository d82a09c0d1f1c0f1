"""TFTP between nodes and UDP (docs/tftp.md): the proxy, and files of folders for nodes."""
