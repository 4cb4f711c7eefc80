// libpq, PostgreSQL's client library, opened at the first use of a store: the functions have its names after `sluice_`
// and its meanings, and may be called after `sluice_open_libpq` has returned true.
#ifndef SLUICE_POSTGRES_H
#define SLUICE_POSTGRES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;

typedef void (*PQnoticeProcessor)(void *argument, const char *text);

typedef struct {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

// libpq prints the server's notices on standard error; this connection's are dropped.
void sluice_drop_notices(PGconn *conn);

// Returns false if there is no libpq, or one before version 14.
bool sluice_open_libpq(void);

#define SLUICE_LIBPQ(FUNCTION) \
    FUNCTION(PQconninfoOption *, PQconninfoParse, (const char *text, char **error), (text, error)) \
    FUNCTION(PQconninfoOption *, PQconninfo, (PGconn *conn), (conn)) \
    FUNCTION(void, PQconninfoFree, (PQconninfoOption *options), (options)) \
    FUNCTION(PGconn *, PQconnectStartParams, (const char *const *keys, const char *const *values, int expand), \
             (keys, values, expand)) \
    FUNCTION(int, PQconnectPoll, (PGconn *conn), (conn)) \
    FUNCTION(int, PQstatus, (const PGconn *conn), (conn)) \
    FUNCTION(int, PQsocket, (const PGconn *conn), (conn)) \
    FUNCTION(char *, PQerrorMessage, (const PGconn *conn), (conn)) \
    FUNCTION(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn *conn, PQnoticeProcessor call, void *argument), \
             (conn, call, argument)) \
    FUNCTION(void, PQfinish, (PGconn *conn), (conn)) \
    FUNCTION(int, PQsetnonblocking, (PGconn *conn, int on), (conn, on)) \
    FUNCTION(int, PQenterPipelineMode, (PGconn *conn), (conn)) \
    FUNCTION(int, PQexitPipelineMode, (PGconn *conn), (conn)) \
    FUNCTION(int, PQpipelineSync, (PGconn *conn), (conn)) \
    FUNCTION(int, PQsetSingleRowMode, (PGconn *conn), (conn)) \
    FUNCTION(int, PQsendQueryParams, \
             (PGconn *conn, const char *sql, int count, const unsigned *types, const char *const *values, \
              const int *lengths, const int *formats, int resultFormat), \
             (conn, sql, count, types, values, lengths, formats, resultFormat)) \
    FUNCTION(int, PQflush, (PGconn *conn), (conn)) \
    FUNCTION(int, PQconsumeInput, (PGconn *conn), (conn)) \
    FUNCTION(int, PQisBusy, (PGconn *conn), (conn)) \
    FUNCTION(PGresult *, PQgetResult, (PGconn *conn), (conn)) \
    FUNCTION(int, PQresultStatus, (const PGresult *result), (result)) \
    FUNCTION(char *, PQresultErrorField, (const PGresult *result, int field), (result, field)) \
    FUNCTION(int, PQntuples, (const PGresult *result), (result)) \
    FUNCTION(int, PQnfields, (const PGresult *result), (result)) \
    FUNCTION(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column)) \
    FUNCTION(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column)) \
    FUNCTION(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column)) \
    FUNCTION(void, PQclear, (PGresult *result), (result)) \
    FUNCTION(void, PQfreemem, (void *memory), (memory)) \
    FUNCTION(PGcancel *, PQgetCancel, (PGconn *conn), (conn)) \
    FUNCTION(int, PQcancel, (PGcancel *cancel, char *error, int size), (cancel, error, size)) \
    FUNCTION(void, PQfreeCancel, (PGcancel *cancel), (cancel))

#define SLUICE_DECLARE(type, name, parameters, arguments) type sluice_##name parameters;
SLUICE_LIBPQ(SLUICE_DECLARE)
#undef SLUICE_DECLARE

#endif
