/* What of wolfCrypt is compiled: the least that the measured ciphers need, for one thread and no system. */
#ifndef WOLFSSL_SETTINGS_H
#define WOLFSSL_SETTINGS_H

#define WOLFCRYPT_ONLY
#define SINGLE_THREADED
#define NO_FILESYSTEM
#define NO_WRITEV
#define NO_MAIN_DRIVER
#define NO_ERROR_STRINGS
#define NO_INLINE
#define NO_ASN
#define NO_CERTS
#define NO_RSA
#define NO_DH
#define NO_DSA
#define NO_DES3
#define NO_RC4
#define NO_MD4
#define NO_MD5
#define NO_SHA
#define NO_SHA256
#define NO_HMAC
#define NO_PWDBASED
#define NO_PKCS7
#define NO_PKCS12
#define NO_SESSION_CACHE
#define NO_SIG_WRAPPER
#define WC_NO_RNG
#define WC_NO_HASHDRBG
#define WC_NO_HARDEN
#define NO_DEV_RANDOM
#define WOLFSSL_GENERAL_ALIGNMENT 0
#define WOLFSSL_NO_ATOMICS
#define USER_TICKS

#ifdef SETTINGS_CHACHAPOLY
#define NO_AES
#define HAVE_CHACHA
#define HAVE_POLY1305
#else
#define HAVE_AES_CBC
#define HAVE_AES_DECRYPT
#endif

#ifdef SETTINGS_CCM
#define HAVE_AESCCM
#define WOLFSSL_AES_DIRECT
#endif

#ifdef __AVR__
#define WC_16BIT_CPU
#endif

#endif
