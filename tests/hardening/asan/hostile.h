/* What the parts of the program hostile share. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stddef.h>
#include <stdint.h>

#include "quiver.h"

typedef struct {
  uint8_t *data;
  int32_t length;
} bytes;

/* What a way of reading has given. */
typedef struct {
  uint64_t hash;
  int64_t kept;   /* rows that the filter has left */
  uint64_t *each; /* reading rows: the hash of each, NULL for none */
  int64_t rows, room;
  bytes *bytes, *ends; /* where rows go that the caller wants to have; NULL */
} answer;

typedef struct {
  bytes text, meets;
  uint64_t answers[3];
} filter;

typedef struct {
  int64_t rows, decoded_size;
  int32_t columns, num_filters;
  bytes schema, header, stats, checksums;
  bytes *segments;
  filter *filters; /* the first has no text: all rows meet it */
  uint64_t *each_row;
  bytes row_bytes, row_ends; /* the rows as UnsafeRows, and an int64 for the end of each */
} batch;

enum check { ALL, NOTHING, SEGMENTS, CHECKS };

enum outcome { SAME, OTHER, CORRUPT_NAMED, LIMIT, REFUSED, STORED, OUTCOMES };

uint64_t next_random(void);
int64_t below(int64_t n);
void give_up(const char *what, const quiver_error *e);
void *reserve(size_t n);
bytes copy(bytes b);
void damage(bytes *b);
void free_parts(batch *b);

/*
 * What is in memory that the library is to fill, such as a struct on a stack that Go ran on before: addresses in Go's heap where there is
 * nothing. The library must not look at them. (Go does, for a store of pointer type while it collects garbage, and ends the process.)
 */
void stale(void *out, size_t size);
#define STALE(out) stale(&(out), sizeof(out))

int64_t open_decoder(const batch *b, bytes text, quiver_error *e);
void close_handle(int64_t handle);
int32_t decode(int64_t decoder, const batch *b, enum check check, int read, answer *a, quiver_error *e);

/* Damaged rows, to be stored. */
void learn_rows(batch *b);
enum outcome rows_round(const batch *good);

#endif
