/* What of Mbed TLS is compiled: the least that the measured ciphers need. */
#ifndef MBEDTLS_SETTINGS_H
#define MBEDTLS_SETTINGS_H

#define MBEDTLS_AES_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_CTR

#ifdef SETTINGS_CCM
#define MBEDTLS_CIPHER_C
#define MBEDTLS_CCM_C
#endif

#endif
