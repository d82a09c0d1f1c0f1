/* aes_masked.c: what the masked AES (aes_masked.h) does not do in assembly: it touches nothing secret. */
#include "aes_masked.h"
#include "block.h"

enum { KEY_BYTES = 16, PAGE_BYTES = 256 };

/* Split a key into masked bytes and masks, and expand it. */
void aes_masked_expand(struct block_key *key, const uint8_t *bytes);
/* Encrypt one block in place with the random bytes in `key`. */
void aes_masked_encrypt(struct block_key *key, uint8_t *block);

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != KEY_BYTES)
        return CIPHER_BAD_KEY;
#ifdef __AVR__
    uintptr_t place = (uintptr_t)key;
    /* the stack and malloc do not keep the alignment that the type states */
    __asm__ volatile("" : "+r"(place));
    if (place & (PAGE_BYTES - 1))
        return CIPHER_NOT_ALIGNED;
#endif
    if (random_start() != 0)
        return CIPHER_NO_SEED;
    random_block((uint8_t *)&key->random);
    for (uint8_t i = 0; i < sizeof key->order; i++)
        key->order[i] = i;
    aes_masked_expand(key, bytes);
    return CIPHER_OK;
}

/* Every block changes the masks in the key, which modes only read. */
void block_encrypt(const struct block_key *key, uint8_t *block) {
    struct block_key *own = (struct block_key *)(uintptr_t)key;
    random_block((uint8_t *)&own->random);
    aes_masked_encrypt(own, block);
}
