"""File formats: the modern container, and Mbed TLS's crypt_and_hash for compatibility.

container.encrypt_file, container.decrypt_file            what one uses today
crypt_and_hash.encrypt_file, crypt_and_hash.decrypt_file  the published format, for its files only
"""

from motecrypt.link.files.container import Secret, is_container

__all__ = ["Secret", "is_container"]
