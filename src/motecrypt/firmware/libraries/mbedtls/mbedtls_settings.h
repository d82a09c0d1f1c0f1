/* What of Mbed TLS is compiled: the least that the measured ciphers need. */
#ifndef MBEDTLS_SETTINGS_H
#define MBEDTLS_SETTINGS_H

#ifdef SETTINGS_CHACHAPOLY
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_CHACHAPOLY_C
#else
#define MBEDTLS_AES_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_CTR
#endif

#ifdef SETTINGS_CCM
#define MBEDTLS_CIPHER_C
#define MBEDTLS_CCM_C
/* The cipher layer asks a heap for one AES context: ccm.c gives it the room in ours. */
#include <stddef.h>
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY
#define MBEDTLS_PLATFORM_CALLOC_MACRO adapter_calloc
#define MBEDTLS_PLATFORM_FREE_MACRO adapter_free
void *adapter_calloc(size_t count, size_t bytes);
void adapter_free(void *room);
#endif

#endif
