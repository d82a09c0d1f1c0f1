/* What of Mbed TLS the file firmware has. AES with tables in ROM and SHA-512 unrolled are Mbed OS's choices
 * (its importer's adjust-config.sh sets the first and leaves MBEDTLS_SHA512_SMALLER alone). */
#ifndef MBEDTLS_FILES_H
#define MBEDTLS_FILES_H

#define MBEDTLS_AES_C
#define MBEDTLS_AES_ROM_TABLES
#define MBEDTLS_CIPHER_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_WITH_PADDING
#define MBEDTLS_CIPHER_PADDING_PKCS7
#define MBEDTLS_MD_C
#define MBEDTLS_SHA512_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_HKDF_C
#define MBEDTLS_GCM_C
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_CHACHAPOLY_C

#endif
