#ifndef SLUICE_COpenSSL_SHIM_H
#define SLUICE_COpenSSL_SHIM_H

#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ocsp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// OpenSSL offers much of its interface as macros, which Swift cannot call. Each function below is one of them,
// named after it.

// Connections and their contexts.

static inline long sluice_SSL_CTX_set_min_proto_version(SSL_CTX *ctx, int version) {
    return SSL_CTX_set_min_proto_version(ctx, version);
}
static inline long sluice_SSL_set_min_proto_version(SSL *ssl, int version) {
    return SSL_set_min_proto_version(ssl, version);
}
static inline long sluice_SSL_set_max_proto_version(SSL *ssl, int version) {
    return SSL_set_max_proto_version(ssl, version);
}
static inline long sluice_SSL_CTX_set_session_cache_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_session_cache_mode(ctx, mode);
}
static inline long sluice_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) { return SSL_CTX_set_mode(ctx, mode); }
static inline long sluice_SSL_CTX_set_dh_auto(SSL_CTX *ctx, int isOn) { return SSL_CTX_set_dh_auto(ctx, isOn); }
static inline long sluice_SSL_CTX_ticket_key_length(SSL_CTX *ctx) {
    return SSL_CTX_get_tlsext_ticket_keys(ctx, NULL, 0);
}
static inline long sluice_SSL_CTX_set_ticket_keys(SSL_CTX *ctx, const void *keys, size_t length) {
    return SSL_CTX_set_tlsext_ticket_keys(ctx, (void *)keys, (long)length);
}
static inline long sluice_SSL_set_host_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name); }
static inline int sluice_SSL_add1_chain_cert(SSL *ssl, X509 *certificate) {
    return (int)SSL_add1_chain_cert(ssl, certificate);
}

static const uint64_t sluice_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t sluice_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t sluice_OP_LEGACY_SERVER_CONNECT = SSL_OP_LEGACY_SERVER_CONNECT;
static const uint64_t sluice_OP_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA;
static const long sluice_MODE_CONNECTION =
    SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY;
static const long sluice_CACHE_CLIENT_EXTERNAL = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL;
// RFC 2253, but with characters outside ASCII left as they are.
static const unsigned long sluice_NAME_ONE_LINE = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
static const unsigned long sluice_VERIFY_PARTIAL_CHAIN = X509_V_FLAG_PARTIAL_CHAIN;

// Stapled answers about revocation (RFC 6066 section 8).

static inline long sluice_SSL_request_staple(SSL *ssl) {
    return SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp);
}
/// The stapled answer in DER form, which belongs to the connection; its length, or -1 where there is none.
static inline long sluice_SSL_get_staple(SSL *ssl, const unsigned char **staple) {
    *staple = NULL;
    return SSL_get_tlsext_status_ocsp_resp(ssl, staple);
}
static inline long sluice_SSL_CTX_set_staple_callback(SSL_CTX *ctx, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(ctx, callback);
}

// Basic input and output.

static inline void sluice_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void sluice_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline long sluice_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// Stacks and memory.

static inline int sluice_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *sluice_sk_X509_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline void sluice_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline int sluice_sk_X509_NAME_num(const STACK_OF(X509_NAME) *stack) { return sk_X509_NAME_num(stack); }
static inline X509_NAME *sluice_sk_X509_NAME_value(const STACK_OF(X509_NAME) *stack, int index) {
    return sk_X509_NAME_value(stack, index);
}
static inline int sluice_sk_GENERAL_NAME_num(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *sluice_sk_GENERAL_NAME_value(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
static inline int sluice_sk_GENERAL_NAME_push(GENERAL_NAMES *names, GENERAL_NAME *name) {
    return sk_GENERAL_NAME_push(names, name);
}
static inline int sluice_sk_SSL_CIPHER_num(const STACK_OF(SSL_CIPHER) *stack) { return sk_SSL_CIPHER_num(stack); }
static inline const SSL_CIPHER *sluice_sk_SSL_CIPHER_value(const STACK_OF(SSL_CIPHER) *stack, int index) {
    return sk_SSL_CIPHER_value(stack, index);
}
static inline int sluice_sk_ACCESS_DESCRIPTION_num(const AUTHORITY_INFO_ACCESS *stack) {
    return sk_ACCESS_DESCRIPTION_num(stack);
}
static inline ACCESS_DESCRIPTION *sluice_sk_ACCESS_DESCRIPTION_value(const AUTHORITY_INFO_ACCESS *stack, int index) {
    return sk_ACCESS_DESCRIPTION_value(stack, index);
}
static inline void sluice_free(void *memory) { OPENSSL_free(memory); }

// Keys, lookups, times.

static inline const char *sluice_getenv(const char *name) { return getenv(name); }
static inline EVP_PKEY *sluice_generate_P256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *sluice_generate_RSA(size_t bits) { return EVP_RSA_gen(bits); }
// The key again, in the representation of OpenSSL 1.1, or NULL. OpenSSL 3.0 puts such a public key into a certificate
// in 3 us instead of 150.
static inline EVP_PKEY *sluice_copy_as_EC_KEY(EVP_PKEY *key) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EC_KEY *ec = EVP_PKEY_get1_EC_KEY(key);
    EVP_PKEY *copy = ec ? EVP_PKEY_new() : NULL;
    if (copy && EVP_PKEY_set1_EC_KEY(copy, ec) != 1) {
        EVP_PKEY_free(copy);
        copy = NULL;
    }
    EC_KEY_free(ec);
    return copy;
#pragma GCC diagnostic pop
}
static inline int sluice_X509_LOOKUP_add_dir(X509_LOOKUP *lookup, const char *path) {
    return X509_LOOKUP_add_dir(lookup, path, X509_FILETYPE_PEM);
}
static inline int64_t sluice_now(void) { return (int64_t)time(NULL); }
static inline int64_t sluice_seconds(const ASN1_TIME *time) {
    struct tm fields;
    return ASN1_TIME_to_tm(time, &fields) == 1 ? (int64_t)timegm(&fields) : 0;
}
static inline int64_t sluice_general_seconds(const ASN1_GENERALIZEDTIME *time) {
    return time ? sluice_seconds((const ASN1_TIME *)time) : 0;
}
/// Writes `YYYY-MM-DD` and a final NUL into `text`, which has room for 32 bytes.
static inline void sluice_date(int64_t seconds, char *text) {
    time_t time = (time_t)seconds;
    struct tm fields;
    if (!gmtime_r(&time, &fields) || !strftime(text, 32, "%Y-%m-%d", &fields)) text[0] = 0;
}

#endif
