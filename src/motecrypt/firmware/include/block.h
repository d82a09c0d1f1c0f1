/* block.h: the contract between a block cipher and the modes of operation in firmware/modes.
 *
 * A block cipher's header, which its descriptor names (`block_header`) and the build passes as
 * BLOCK_HEADER, defines BLOCK_BYTES and `struct block_key`; its source defines these functions. A
 * mode then makes a cipher (cipher.h) of it: `struct cipher_context` holds the block_key.
 */
#ifndef MOTECRYPT_BLOCK_H
#define MOTECRYPT_BLOCK_H

#include "cipher.h"
#include BLOCK_HEADER

/* Expand a key. Returns CIPHER_OK or CIPHER_BAD_KEY. */
uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes);

/* Encrypt or decrypt one block of BLOCK_BYTES in place. */
void block_encrypt(const struct block_key *key, uint8_t *block);
void block_decrypt(const struct block_key *key, uint8_t *block);

#endif
