/* suite_ccm.c: suite 1 of the link: AES-128-CCM (NIST SP 800-38C) and AES-CMAC (SP 800-38B) over any block
 * cipher of 16 bytes (block.h). For the link alone: its nonces, messages in place, CMAC of whole blocks.
 */
#include "parts.h"

#include "block.h"

#include <string.h>

#if BLOCK_BYTES != 16
#error "CCM is defined for blocks of 16 bytes"
#endif

#if defined(LINK_AVR) && defined(BLOCK_KEY_IS_BYTES)

#include "suite_ccm_avr.h"

#else

/* The block cipher's key, expanded unless the key's bytes are used directly. */
#ifdef BLOCK_KEY_IS_BYTES
#define KEY_ALONE
#define BLOCK_KEY(name, from) const struct block_key *const name = (const struct block_key *)(from)
#else
#define KEY_ALONE NOINLINE /* one schedule on the stack at a time */
#define BLOCK_KEY(name, from)                                                                                \
    struct block_key schedule;                                                                               \
    const struct block_key *const name = (block_setup(&schedule, from, BLOCK_BYTES), &schedule)
#endif

static void add(uint8_t *to, const uint8_t *from, uint8_t bytes) {
    for (; bytes > 0; bytes--) {
        *to++ ^= *from++;
    }
}

/* Add the encrypted block to the data. */
static NOINLINE void add_encrypted(const struct block_key *key, uint8_t *data, const uint8_t *block,
                                   uint8_t bytes) {
    uint8_t stream[BLOCK_BYTES];

    memcpy(stream, block, sizeof stream);
    block_encrypt(key, stream);
    add(data, stream, bytes);
}

static KEY_ALONE uint8_t crypt(const uint8_t *from, uint8_t *buffer, link_size bytes, uint8_t tag_bytes,
                               uint8_t decrypting) {
    uint8_t block[BLOCK_BYTES], *data = buffer + LINK_HEAD, *mac = buffer, difference = 0;
    link_size left = bytes;
    BLOCK_KEY(key, from);

    /* SP 800-38C, A.2.1: flags, nonce, length of the message. In A.3, with other flags, its block's number. */
    memset(block, 0, sizeof block);
    block[0] = (uint8_t)(4 * tag_bytes - 7);
    memcpy(block + 1, buffer + AT_NONCE, NONCE_BYTES);
#ifdef MC_FAULT_SHARED_KEY
    block[1] &= 0xc0;
#endif
    block[14] = (uint8_t)((uint16_t)bytes >> 8);
    block[15] = (uint8_t)bytes;
    memcpy(mac, block, sizeof block);
    block[0] = 1;
    block[14] = block[15] = 0;
    for (;;) {
        uint8_t part = left < BLOCK_BYTES ? (uint8_t)left : BLOCK_BYTES;

        block_encrypt(key, mac);
        if (part == 0) {
            break;
        }
        block[15]++; /* a message has fewer than 256 blocks */
        if (!decrypting) {
            add(mac, data, part);
        }
        add_encrypted(key, data, block, part);
        if (decrypting) {
            add(mac, data, part);
        }
        data += part;
        left = (link_size)(left - part);
    }
    block[15] = 0;
    add_encrypted(key, mac, block, BLOCK_BYTES);
    for (; tag_bytes > 0; tag_bytes--) {
        difference |= (uint8_t)(*data ^ *mac);
        *data++ = *mac++;
    }
    if (!decrypting || difference == 0) {
        return 1;
    }
    memset(buffer, 0, (size_t)(data - buffer));
    return 0;
}

NOINLINE uint8_t link_crypt(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id,
                            uint8_t decrypting) {
    link_key(link, id);
    return crypt(link->key, buffer, bytes, id & TAG_BYTES, decrypting);
}

void link_prf(const uint8_t *from, uint8_t *data, uint8_t bytes) {
    uint8_t subkey[BLOCK_BYTES], carry = 0;
    BLOCK_KEY(key, from);

    if (bytes > BLOCK_BYTES) {
        add_encrypted(key, data + BLOCK_BYTES, data, BLOCK_BYTES);
        data += BLOCK_BYTES;
    }
    memset(subkey, 0, sizeof subkey);
    block_encrypt(key, subkey);
    for (uint8_t i = BLOCK_BYTES; i-- > 0;) { /* doubled in GF(2^128) */
        uint8_t byte = subkey[i];

        subkey[i] = (uint8_t)(byte << 1 | carry);
        carry = byte >> 7;
    }
    subkey[BLOCK_BYTES - 1] = (uint8_t)(subkey[BLOCK_BYTES - 1] ^ (0x87 & -carry));
    add(data, subkey, BLOCK_BYTES);
    block_encrypt(key, data);
}

#endif
