/* half_key.h: an SIV key is two AES keys; what a round-key schedule has to hold is one of them.
 *
 * Included ahead of a block cipher's header by half_small.h, half_fast.h, half_sliced.h and half_tables.h.
 */
#ifndef MOTECRYPT_AES_SIV_HALF_KEY_H
#define MOTECRYPT_AES_SIV_HALF_KEY_H

#include "cipher.h"

#if CIPHER_KEY_BYTES_MAX == 32
#undef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 16
#elif CIPHER_KEY_BYTES_MAX == 48
#undef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 24
#elif CIPHER_KEY_BYTES_MAX == 64
#undef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32
#else
#error "AES-SIV takes keys of 32, 48 or 64 bytes"
#endif

#endif
