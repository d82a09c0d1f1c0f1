/* hctr2.h: the mode HCTR2 (Crowley, Huckleberry, Biggers, ePrint 2021/1441) over a block cipher of 16
 * bytes: a wide block. The ciphertext is as long as the message, and every bit of it depends on every bit
 * of the message, in both directions.
 *
 * Messages of 16 bytes and more; a shorter one gives CIPHER_BAD_LENGTH. The nonce is the tweak, 0 to 255
 * bytes: it may repeat, but then equal messages give equal ciphertexts. There is no tag: a changed
 * ciphertext decrypts to noise, which only a check of the message's own redundancy can notice.
 *
 * HCTR2 and not Adiantum, since Adiantum's hash key alone takes 1,072 bytes of the 2,048 of an ATmega328P.
 */
#ifndef MOTECRYPT_MODE_HCTR2_H
#define MOTECRYPT_MODE_HCTR2_H

#include "block.h"

struct cipher_context {
    struct block_key key;
    uint32_t hash_key[4];
    uint8_t whitening[BLOCK_BYTES]; /* L in the paper */
};

#endif
