/*
 * C ABI of libquiver.
 *
 * Conventions
 *  - Functions that can fail take a quiver_error (never NULL) and return QUIVER_OK or the error's code; those that
 *    return a handle or an address return 0 on failure. A failed call changes nothing; the next call works.
 *  - A handle (encoder or decoder) is used by one thread at a time. Handles are never reused.
 *  - Memory named "of the encoder/decoder" is valid until the next call with that handle.
 *  - Strings are passed with their length and need no terminating zero. JSON is UTF-8.
 *  - What is passed to be filled need not be initialized, and is only read once it was filled.
 *  - Nothing is retained of what a caller passes once the call has returned.
 */
#ifndef QUIVER_H
#define QUIVER_H

#include <stdint.h>

#define QUIVER_ABI_VERSION 6

struct ArrowArray; /* Arrow C Data Interface */
struct ArrowSchema;

enum quiver_code {
  QUIVER_OK = 0,
  QUIVER_INVALID = 1,     /* a wrong argument or option */
  QUIVER_CORRUPT = 2,     /* stored bytes that do not add up */
  QUIVER_MEMORY = 3,      /* the native memory limit */
  QUIVER_CLOSED = 4,      /* the handle is closed or was never given out */
  QUIVER_UNSUPPORTED = 5, /* a type that cannot be stored */
  QUIVER_INTERNAL = 6     /* a bug: a Go panic, caught */
};

typedef struct {
  int32_t code;
  char message[2044]; /* UTF-8, zero-terminated, cut if longer */
} quiver_error;

typedef struct {
  uint8_t *data;
  int64_t length; /* bytes */
} quiver_bytes;

/* One encoded batch; memory of the encoder. */
typedef struct {
  int64_t rows;
  int64_t decoded_size; /* bytes, as Spark's column statistics count them */
  quiver_bytes header;  /* Arrow IPC encapsulated message, without the body */
  quiver_bytes stats;   /* UnsafeRow: lower, upper, null count, count, size of each column */
  int64_t num_segments;
  quiver_bytes *segments; /* concatenated they are the message's body */
  quiver_bytes checksums; /* CRC32C, 4 bytes each: of all of the above but the segments, then of each segment */
} quiver_batch;

/* How the projected columns of a batch will be read. */
enum quiver_read {
  QUIVER_READ_VECTORS = 0, /* quiver_decode_vectors */
  QUIVER_READ_ROWS = 1,    /* quiver_decode_rows, quiver_next_rows */
  QUIVER_READ_ARROW = 2,   /* quiver_decode_columns */
  QUIVER_READ_TOTALS = 3   /* quiver_decode_totals */
};

/* Bytes of one projected column that have to be at hand, of which a column may have several; memory of the decoder. */
typedef struct {
  int32_t first_segment; /* index of the column's first segment */
  int32_t num_segments;  /* at least 1 */
  int64_t length;        /* bytes that these segments have together, by the header */
  int64_t skip;          /* how many of them come before those wanted */
  int64_t wanted;        /* how many of the following ones to copy to data */
  uint8_t *data;         /* where to */
  int64_t present;       /* the caller puts the bytes that the segments really have here */
} quiver_need;

/* A buffer of a decoded vector. */
typedef struct {
  int32_t source;  /* 0 absent, 1 data, 2 the segment itself at the offset that layout gives */
  int32_t segment; /* index of that segment */
  uint8_t *data;
  int64_t length; /* bytes */
} quiver_buffer;

/* Decoded columns for heap-backed vectors; memory of the decoder. */
typedef struct {
  int64_t rows;
  int64_t bytes_read; /* stored bytes of the projected columns, without what is left out */
  int64_t nanos;      /* time spent decoding */
  int64_t kept;       /* rows that the decoder's filter has left */
  int64_t num_nodes;
  int64_t *layout;        /* 4 + 8 * num_nodes: rows, bytes_read, nanos, kept; then for each node length, null count,
                             and offset and length of nulls, first and second buffer */
  quiver_buffer *buffers; /* 3 * num_nodes: nulls (one byte a slot, 1 = null), first, second */
} quiver_vectors;

/* What is done with the values of a column that are not null, see total.Op in native/total. */
enum quiver_op {
  QUIVER_COUNT = 0,
  QUIVER_SUM = 1,         /* of integers and of decimals up to 18 digits, in 64 bits, wraps around */
  QUIVER_CHECKED_SUM = 2, /* the same up to the first value with which it would not fit */
  QUIVER_DOUBLE_SUM = 3,  /* of these and of floating-point numbers, as doubles, in the order of rows */
  QUIVER_DECIMAL_SUM = 4, /* in 128 bits, wraps around */
  QUIVER_LENGTHS = 5      /* of strings in characters, of binary in bytes */
};

/* A column, or a field of structs, that is added up. */
typedef struct {
  int32_t node; /* Arrow field node, counted in pre-order over the projected columns */
  int32_t op;   /* quiver_op */
} quiver_term;

/* The state of a sum, zero at first. */
typedef struct {
  int64_t values; /* that are not null */
  int64_t low;    /* the sum, its low half, or the bits of a double */
  int64_t high;   /* its high half; of a checked sum 1 once it has overflowed */
  int64_t excess; /* the value with which a checked sum, which has stayed as it was, would overflow */
} quiver_total;

int32_t quiver_abi_version(void);

/* Writes "version build-id toolchain" and a zero to dst and returns its length. */
int64_t quiver_version(char *dst, int64_t capacity);

/* Process-wide settings, key=value lines: threads, memory.limit. */
int32_t quiver_configure(char *options, int64_t length, quiver_error *error);

/* Bytes of native memory in use. */
int64_t quiver_native_bytes(void);

/* Counted, zeroed, 64-byte aligned memory. Growing keeps the content and moves. */
void *quiver_alloc(int64_t bytes, quiver_error *error);
void *quiver_realloc(void *address, int64_t old_bytes, int64_t new_bytes, quiver_error *error);
void quiver_free(void *address, int64_t bytes);

/* QUIVER_OK, or QUIVER_UNSUPPORTED with the reason. schema is Spark's StructType.json(). */
int32_t quiver_check_schema(uint8_t *schema, int64_t schema_length, quiver_error *error);

/* Whether encoder options (key=value lines: codec, zstd.level) are right. */
int32_t quiver_check_options(char *options, int64_t length, quiver_error *error);

int64_t quiver_encoder_new(uint8_t *schema, int64_t schema_length, char *options, int64_t options_length, quiver_error *error);

/* rows: concatenated UnsafeRows; ends: end offset of each of n rows. */
int32_t quiver_encode_rows(int64_t encoder, uint8_t *rows, int64_t rows_length, int64_t *ends, int64_t n, quiver_batch *out,
                           quiver_error *error);

/* Consumes a struct array whose children are the columns, and its schema (NULL: the encoder's own Arrow types). */
int32_t quiver_encode_columns(int64_t encoder, struct ArrowArray *array, struct ArrowSchema *schema, quiver_batch *out,
                              quiver_error *error);

/*
 * A decoder for n columns. filter, of conditions that rows have to meet (syntax: filter.Parse in native/filter), lets it leave out rows
 * that do not, but not all of these; NULL and length 0: none. Arrow columns are not filtered.
 * unread, rising, are nodes of the projected columns, counted in pre-order as Arrow's field nodes, that are left out: fields of structs,
 * which are decoded as Arrow's null type, one node whatever was below.
 */
int64_t quiver_decoder_new(uint8_t *schema, int64_t schema_length, int32_t *projection, int64_t n, int32_t *unread, int64_t num_unread,
                           char *filter, int64_t filter_length, quiver_error *error);

/* QUIVER_OK, or QUIVER_CORRUPT where anything but the segments is not as it was encoded. */
int32_t quiver_check_head(int64_t rows, int64_t columns, int64_t decoded_size, uint8_t *header, int64_t header_length, uint8_t *stats,
                          int64_t stats_length, int64_t num_segments, uint8_t *checksums, int64_t checksums_length, quiver_error *error);

/*
 * First step of reading a batch: what is needed of which segments. The caller copies it and fills in `present`. With the
 * batch's checksums the second step checks the segments that it decodes; NULL (and length 0): it does not.
 */
int32_t quiver_decode_plan(int64_t decoder, int32_t read, uint8_t *header, int64_t header_length, int64_t num_segments, uint8_t *checksums,
                           int64_t checksums_length, quiver_need **needs, int64_t *n, quiver_error *error);

/* Second step, one of four. */
int32_t quiver_decode_vectors(int64_t decoder, quiver_vectors *out, quiver_error *error);
int32_t quiver_decode_rows(int64_t decoder, quiver_vectors *out, quiver_error *error); /* fills rows … kept */
int32_t quiver_decode_columns(int64_t decoder, struct ArrowArray *array, struct ArrowSchema *schema, quiver_error *error);

/* Adds n terms to as many totals, in spite of a filter; where it fails, none has changed. Fills rows … kept of out. */
int32_t quiver_decode_totals(int64_t decoder, quiver_term *terms, quiver_total *totals, int64_t n, quiver_vectors *out,
                             quiver_error *error);

/* Next block of UnsafeRows: at least one row, until target bytes or capacity rows; *n = 0 after the last. */
int32_t quiver_next_rows(int64_t decoder, int64_t target, int64_t capacity, quiver_bytes *out, int32_t **ends, int64_t *n,
                         quiver_error *error);

/* Frees an encoder or decoder and its memory; waits for a call that is under way. Any number of times. */
void quiver_close(int64_t handle);

#endif
