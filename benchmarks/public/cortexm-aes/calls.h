/* calls.h: the functions of cortexm-AES that a variant names as AES_ENCRYPT and AES_DECRYPT, with one interface. */
#ifndef PUBLIC_CORTEXM_AES_CALLS_H
#define PUBLIC_CORTEXM_AES_CALLS_H

#include <CM0.h>
#include <CM3.h>

#define ROUNDS 10

#ifdef UNROLLED /* the functions for one length of key take no number of rounds */
#define CALL(function, rounds, in, out) function((const uint8_t *)(rounds), in, out)
#else
#define CALL(function, rounds, in, out) function((const uint8_t *)(rounds), in, out, ROUNDS)
#endif

#ifdef EXPAND_DECRYPT
#define DECRYPT_ROUNDS(key) ((key)->decrypt)
#else
#define DECRYPT_ROUNDS(key) ((key)->encrypt)
#endif

#endif
