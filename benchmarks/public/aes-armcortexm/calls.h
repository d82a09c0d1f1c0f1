/* calls.h: the functions of aes-armcortexm, which has no header. */
#ifndef PUBLIC_AES_ARMCORTEXM_CALLS_H
#define PUBLIC_AES_ARMCORTEXM_CALLS_H

#include <stdint.h>

void AES_128_keyschedule(const uint8_t *key, uint8_t *rounds);
void AES_128_keyschedule_dec(const uint8_t *key, uint8_t *rounds);
void AES_128_encrypt(const uint8_t *rounds, const uint8_t *in, uint8_t *out);
void AES_128_decrypt(const uint8_t *rounds, const uint8_t *in, uint8_t *out);

#define AES_ENCRYPT AES_128_encrypt
#define AES_DECRYPT AES_128_decrypt
#define DECRYPT_ROUNDS(key) ((key)->decrypt)
#define CALL(function, rounds, in, out) function((const uint8_t *)(rounds), in, out)

#endif
