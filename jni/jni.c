/*
 * Java_io_github_quiverspark_nativelib_Native_*: see Native.java for what each does. No logic here: arguments
 * are passed on to the functions of quiver.h, bytes are copied between Java arrays and native memory, and a
 * quiver_error becomes an exception. A pending Java exception (an array that could not be allocated, an index
 * out of bounds) ends a function at once.
 */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "quiver.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_io_github_quiverspark_nativelib_Native_##name

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  (void)vm;
  (void)reserved;
  return JNI_VERSION_1_8;
}

/* A string of UTF-8 text. NewStringUTF and ThrowNew read Java's modified UTF-8, in which the same character may be other bytes. */
static jstring new_text(JNIEnv *env, const char *text) {
  jstring result = NULL;
  jsize n = (jsize)strlen(text);
  jclass c = (*env)->FindClass(env, "java/lang/String");
  jmethodID make = c == NULL ? NULL : (*env)->GetMethodID(env, c, "<init>", "([BLjava/lang/String;)V");
  jbyteArray bytes = make == NULL ? NULL : (*env)->NewByteArray(env, n);
  jstring charset = bytes == NULL ? NULL : (*env)->NewStringUTF(env, "UTF-8");
  if (charset != NULL) {
    (*env)->SetByteArrayRegion(env, bytes, 0, n, (const jbyte *)text);
    result = (*env)->NewObject(env, c, make, bytes, charset);
  }
  if (charset != NULL) (*env)->DeleteLocalRef(env, charset);
  if (bytes != NULL) (*env)->DeleteLocalRef(env, bytes);
  if (c != NULL) (*env)->DeleteLocalRef(env, c);
  return result;
}

static void throw_new(JNIEnv *env, const char *class_name, const char *message) {
  jclass c = (*env)->FindClass(env, class_name);
  jmethodID make = c == NULL ? NULL : (*env)->GetMethodID(env, c, "<init>", "(Ljava/lang/String;)V");
  jstring text = make == NULL ? NULL : new_text(env, message);
  jthrowable e = text == NULL ? NULL : (*env)->NewObject(env, c, make, text);
  if (e != NULL) {
    (*env)->Throw(env, e);
    (*env)->DeleteLocalRef(env, e);
  }
  if (text != NULL) (*env)->DeleteLocalRef(env, text);
  if (c != NULL) (*env)->DeleteLocalRef(env, c);
}

/* Whether an argument is there; an exception is pending otherwise. JNI functions do not survive a null array. */
static int given(JNIEnv *env, jobject argument, const char *name) {
  if (argument == NULL) throw_new(env, "java/lang/NullPointerException", name);
  return argument != NULL;
}

static void throw_error(JNIEnv *env, const quiver_error *e) {
  switch (e->code) {
    case QUIVER_INVALID:
      throw_new(env, "java/lang/IllegalArgumentException", e->message);
      break;
    case QUIVER_CORRUPT:
      throw_new(env, "io/github/quiverspark/CorruptBatchException", e->message);
      break;
    case QUIVER_CLOSED:
      throw_new(env, "java/lang/IllegalStateException", e->message);
      break;
    default:
      throw_new(env, "io/github/quiverspark/QuiverException", e->message);
  }
}

/* A copy of a Java array's or string's bytes in C memory; NULL with an exception pending on failure. */
static uint8_t *copy_in(JNIEnv *env, jbyteArray array, int64_t *length) {
  if (!given(env, array, "array")) return NULL;
  jsize n = (*env)->GetArrayLength(env, array);
  uint8_t *p = malloc(n > 0 ? (size_t)n : 1);
  if (p == NULL) {
    throw_new(env, "java/lang/OutOfMemoryError", "malloc");
    return NULL;
  }
  (*env)->GetByteArrayRegion(env, array, 0, n, (jbyte *)p);
  *length = n;
  return p;
}

/* A copy of a Java array's numbers in C memory, of none where it is null; NULL with an exception pending on failure. */
static jint *copy_ints(JNIEnv *env, jintArray array, jsize *length) {
  *length = array == NULL ? 0 : (*env)->GetArrayLength(env, array);
  jint *p = malloc(((size_t)*length + 1) * sizeof(jint));
  if (p == NULL) {
    throw_new(env, "java/lang/OutOfMemoryError", "malloc");
  } else if (array != NULL) {
    (*env)->GetIntArrayRegion(env, array, 0, *length, p);
  }
  return p;
}

/* The same for longs, of an array that is there. */
static jlong *copy_longs(JNIEnv *env, jlongArray array, jsize *length) {
  *length = (*env)->GetArrayLength(env, array);
  jlong *p = malloc(((size_t)*length + 1) * sizeof(jlong));
  if (p == NULL) {
    throw_new(env, "java/lang/OutOfMemoryError", "malloc");
  } else {
    (*env)->GetLongArrayRegion(env, array, 0, *length, p);
  }
  return p;
}

static char *copy_text(JNIEnv *env, jstring text, int64_t *length) {
  if (!given(env, text, "text")) return NULL;
  jsize units = (*env)->GetStringLength(env, text);
  jsize n = (*env)->GetStringUTFLength(env, text);
  char *p = malloc((size_t)n + 1);
  if (p == NULL) {
    throw_new(env, "java/lang/OutOfMemoryError", "malloc");
    return NULL;
  }
  (*env)->GetStringUTFRegion(env, text, 0, units, p);
  *length = n;
  return p;
}

static jbyteArray copy_out(JNIEnv *env, const uint8_t *data, int64_t length) {
  if (length > INT32_MAX) {
    throw_new(env, "io/github/quiverspark/QuiverException", "a buffer is longer than a Java array can be; cache smaller batches");
    return NULL;
  }
  jbyteArray a = (*env)->NewByteArray(env, (jsize)length);
  if (a != NULL && length > 0) (*env)->SetByteArrayRegion(env, a, 0, (jsize)length, (const jbyte *)data);
  return a;
}

/*
 * A copy in spare[i], if that is an array of so many bytes, or in a new array, which is put there. In spare, no array means that the
 * copy must not be shared, one that is too short that it may.
 */
static jbyteArray copy_to_spare(JNIEnv *env, jobjectArray spare, jsize i, const uint8_t *data, int64_t length) {
  jbyteArray old = spare == NULL ? NULL : (*env)->GetObjectArrayElement(env, spare, i);
  if (old == NULL || length == 0 || length > INT32_MAX / 8 * 7) return copy_out(env, data, length);
  jbyteArray a = old;
  if ((*env)->GetArrayLength(env, old) < length) {
    (*env)->DeleteLocalRef(env, old);
    a = (*env)->NewByteArray(env, (jsize)(length + length / 8));
    if (a == NULL) return NULL;
    (*env)->SetObjectArrayElement(env, spare, i, a);
  }
  (*env)->SetByteArrayRegion(env, a, 0, (jsize)length, (const jbyte *)data);
  return a;
}

NATIVE(jint, abiVersion)(JNIEnv *env, jclass cls) {
  (void)env;
  (void)cls;
  return quiver_abi_version();
}

NATIVE(jstring, version)(JNIEnv *env, jclass cls) {
  (void)cls;
  char text[256];
  quiver_version(text, sizeof text);
  return (*env)->NewStringUTF(env, text);
}

NATIVE(void, configure)(JNIEnv *env, jclass cls, jstring options) {
  (void)cls;
  quiver_error e;
  int64_t n;
  char *text = copy_text(env, options, &n);
  if (text == NULL) return;
  if (quiver_configure(text, n, &e) != QUIVER_OK) throw_error(env, &e);
  free(text);
}

NATIVE(jlong, nativeBytes)(JNIEnv *env, jclass cls) {
  (void)env;
  (void)cls;
  return quiver_native_bytes();
}

NATIVE(jlong, allocate)(JNIEnv *env, jclass cls, jlong bytes) {
  (void)cls;
  quiver_error e;
  void *p = quiver_alloc(bytes, &e);
  if (p == NULL) throw_error(env, &e);
  return (jlong)(intptr_t)p;
}

NATIVE(jlong, reallocate)(JNIEnv *env, jclass cls, jlong address, jlong old_bytes, jlong new_bytes) {
  (void)cls;
  quiver_error e;
  void *p = quiver_realloc((void *)(intptr_t)address, old_bytes, new_bytes, &e);
  if (p == NULL) throw_error(env, &e);
  return (jlong)(intptr_t)p;
}

NATIVE(void, free)(JNIEnv *env, jclass cls, jlong address, jlong bytes) {
  (void)env;
  (void)cls;
  quiver_free((void *)(intptr_t)address, bytes);
}

NATIVE(jstring, unsupportedReason)(JNIEnv *env, jclass cls, jbyteArray schema) {
  (void)cls;
  quiver_error e;
  int64_t n;
  uint8_t *json = copy_in(env, schema, &n);
  if (json == NULL) return NULL;
  int32_t code = quiver_check_schema(json, n, &e);
  free(json);
  if (code == QUIVER_UNSUPPORTED) return new_text(env, e.message);
  if (code != QUIVER_OK) throw_error(env, &e);
  return NULL;
}

NATIVE(void, checkOptions)(JNIEnv *env, jclass cls, jstring options) {
  (void)cls;
  quiver_error e;
  int64_t n;
  char *text = copy_text(env, options, &n);
  if (text == NULL) return;
  if (quiver_check_options(text, n, &e) != QUIVER_OK) throw_error(env, &e);
  free(text);
}

NATIVE(jlong, newEncoder)(JNIEnv *env, jclass cls, jbyteArray schema, jstring options) {
  (void)cls;
  quiver_error e;
  int64_t n, m, handle = 0;
  uint8_t *json = copy_in(env, schema, &n);
  char *text = json == NULL ? NULL : copy_text(env, options, &m);
  if (text != NULL) {
    handle = quiver_encoder_new(json, n, text, m, &e);
    if (handle == 0) throw_error(env, &e);
  }
  free(text);
  free(json);
  return handle;
}

/* The batch as byte[][]: header, statistics, checksums, segments. */
static jobjectArray batch_out(JNIEnv *env, const quiver_batch *b, jlongArray info) {
  if (!given(env, info, "info")) return NULL;
  jlong numbers[2] = {b->rows, b->decoded_size};
  (*env)->SetLongArrayRegion(env, info, 0, 2, numbers);
  if ((*env)->ExceptionCheck(env)) return NULL;
  jclass bytes = (*env)->FindClass(env, "[B");
  if (bytes == NULL) return NULL;
  jobjectArray out = (*env)->NewObjectArray(env, (jsize)(b->num_segments + 3), bytes, NULL);
  (*env)->DeleteLocalRef(env, bytes);
  if (out == NULL) return NULL;
  const quiver_bytes *first[3] = {&b->header, &b->stats, &b->checksums};
  for (int64_t i = 0; i < b->num_segments + 3; i++) {
    const quiver_bytes *p = i < 3 ? first[i] : &b->segments[i - 3];
    jbyteArray a = copy_out(env, p->data, p->length);
    if (a == NULL) return NULL;
    (*env)->SetObjectArrayElement(env, out, (jsize)i, a);
    (*env)->DeleteLocalRef(env, a);
  }
  return out;
}

NATIVE(jobjectArray, encodeRows)(JNIEnv *env, jclass cls, jlong encoder, jlong rows, jlong length, jlong ends, jint n, jlongArray info) {
  (void)cls;
  quiver_error e;
  quiver_batch b;
  if (quiver_encode_rows(encoder, (uint8_t *)(intptr_t)rows, length, (int64_t *)(intptr_t)ends, n, &b, &e) != QUIVER_OK) {
    throw_error(env, &e);
    return NULL;
  }
  return batch_out(env, &b, info);
}

NATIVE(jobjectArray, encodeColumns)(JNIEnv *env, jclass cls, jlong encoder, jlong array, jlong schema, jlongArray info) {
  (void)cls;
  quiver_error e;
  quiver_batch b;
  if (quiver_encode_columns(encoder, (struct ArrowArray *)(intptr_t)array, (struct ArrowSchema *)(intptr_t)schema, &b, &e) != QUIVER_OK) {
    throw_error(env, &e);
    return NULL;
  }
  return batch_out(env, &b, info);
}

/* The release callback of the Arrow C Data Interface for memory that stays the caller's; first five fields of ArrowArray
   are int64, then two pointers, then dictionary and release. */
struct released_array {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct released_array **children;
  struct released_array *dictionary;
  void (*release)(struct released_array *);
  void *private_data;
};

static void noop_release(struct released_array *a) {
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release != NULL) a->children[i]->release(a->children[i]);
  }
  if (a->dictionary != NULL && a->dictionary->release != NULL) a->dictionary->release(a->dictionary);
  a->release = NULL;
}

NATIVE(jlong, noopRelease)(JNIEnv *env, jclass cls) {
  (void)env;
  (void)cls;
  return (jlong)(intptr_t)noop_release;
}

NATIVE(jlong, newDecoder)(JNIEnv *env, jclass cls, jbyteArray schema, jintArray projection, jintArray unread, jbyteArray filter) {
  (void)cls;
  quiver_error e;
  int64_t n, conditions_length = 0, handle = 0;
  uint8_t *conditions = NULL;
  if (!given(env, projection, "projection")) return 0;
  uint8_t *json = copy_in(env, schema, &n);
  if (json == NULL) return 0;
  if (filter != NULL && (conditions = copy_in(env, filter, &conditions_length)) == NULL) {
    free(json);
    return 0;
  }
  jsize columns = 0, nodes = 0;
  jint *p = copy_ints(env, projection, &columns);
  jint *q = p == NULL ? NULL : copy_ints(env, unread, &nodes);
  if (q != NULL) {
    handle = quiver_decoder_new(json, n, p, columns, q, nodes, (char *)conditions, conditions_length, &e);
    if (handle == 0) throw_error(env, &e);
  }
  free(q);
  free(p);
  free(conditions);
  free(json);
  return handle;
}

/* Copies what is wanted of one column's segments, and counts what is there. */
static int fill(JNIEnv *env, jobjectArray segments, quiver_need *need) {
  int64_t done = 0, skip = need->skip;
  need->present = 0;
  for (int32_t i = 0; i < need->num_segments; i++) {
    jbyteArray a = (*env)->GetObjectArrayElement(env, segments, need->first_segment + i);
    if (a == NULL) {
      if (!(*env)->ExceptionCheck(env))
        throw_new(env, "io/github/quiverspark/CorruptBatchException", "corrupt batch: a segment is missing");
      return 0;
    }
    int64_t length = (*env)->GetArrayLength(env, a);
    int64_t from = skip < length ? skip : length;
    int64_t part = need->wanted - done < length - from ? need->wanted - done : length - from;
    if (part > 0) (*env)->GetByteArrayRegion(env, a, (jsize)from, (jsize)part, (jbyte *)need->data + done);
    skip -= from;
    done += part;
    need->present += length;
    (*env)->DeleteLocalRef(env, a);
  }
  return 1;
}

NATIVE(void, checkHead)
(JNIEnv *env, jclass cls, jlong rows, jlong columns, jlong size, jbyteArray header, jbyteArray stats, jlong segments,
 jbyteArray checksums) {
  (void)cls;
  quiver_error e;
  int64_t h, s, c;
  uint8_t *head = copy_in(env, header, &h);
  uint8_t *row = head == NULL ? NULL : copy_in(env, stats, &s);
  uint8_t *sums = row == NULL ? NULL : copy_in(env, checksums, &c);
  if (sums != NULL && quiver_check_head(rows, columns, size, head, h, row, s, segments, sums, c, &e) != QUIVER_OK) throw_error(env, &e);
  free(sums);
  free(row);
  free(head);
}

/* First step of a read: plan, then copy in what the plan wants. Returns 0 with an exception pending on failure. */
static int plan(JNIEnv *env, jlong decoder, int32_t read, jbyteArray header, jobjectArray segments, jbyteArray checksums) {
  quiver_error e;
  quiver_need *needs;
  int64_t length, sums_length = 0, n = 0;
  uint8_t *sums = NULL;
  if (!given(env, segments, "segments")) return 0;
  uint8_t *head = copy_in(env, header, &length);
  if (head == NULL) return 0;
  if (checksums != NULL && (sums = copy_in(env, checksums, &sums_length)) == NULL) {
    free(head);
    return 0;
  }
  int32_t code = quiver_decode_plan(decoder, read, head, length, (*env)->GetArrayLength(env, segments), sums, sums_length, &needs, &n, &e);
  free(sums);
  free(head);
  if (code != QUIVER_OK) {
    throw_error(env, &e);
    return 0;
  }
  for (int64_t i = 0; i < n; i++) {
    if (!fill(env, segments, &needs[i])) return 0;
  }
  return 1;
}

NATIVE(void, decodeVectors)
(JNIEnv *env, jclass cls, jlong decoder, jbyteArray header, jobjectArray segments, jbyteArray checksums, jlongArray layout,
 jobjectArray buffers, jobjectArray spare) {
  (void)cls;
  quiver_error e;
  quiver_vectors v;
  if (!given(env, layout, "layout") || !given(env, buffers, "buffers")) return;
  if (!plan(env, decoder, QUIVER_READ_VECTORS, header, segments, checksums)) return;
  if (quiver_decode_vectors(decoder, &v, &e) != QUIVER_OK) {
    throw_error(env, &e);
    return;
  }
  (*env)->SetLongArrayRegion(env, layout, 0, (jsize)(4 + 8 * v.num_nodes), v.layout);
  if ((*env)->ExceptionCheck(env)) return;
  for (int64_t i = 0; i < 3 * v.num_nodes; i++) {
    const quiver_buffer *b = &v.buffers[i];
    jobject a = NULL;
    if (b->source == 1) {
      a = copy_to_spare(env, spare, (jsize)i, b->data, b->length);
      if (a == NULL || (*env)->ExceptionCheck(env)) return;
    } else if (b->source == 2) {
      a = (*env)->GetObjectArrayElement(env, segments, b->segment);
    }
    (*env)->SetObjectArrayElement(env, buffers, (jsize)i, a);
    if (a != NULL) (*env)->DeleteLocalRef(env, a);
  }
}

NATIVE(void, decodeRows)
(JNIEnv *env, jclass cls, jlong decoder, jbyteArray header, jobjectArray segments, jbyteArray checksums, jlongArray layout) {
  (void)cls;
  quiver_error e;
  quiver_vectors v;
  if (!given(env, layout, "layout")) return;
  if (!plan(env, decoder, QUIVER_READ_ROWS, header, segments, checksums)) return;
  if (quiver_decode_rows(decoder, &v, &e) != QUIVER_OK) {
    throw_error(env, &e);
    return;
  }
  jlong numbers[4] = {v.rows, v.bytes_read, v.nanos, v.kept};
  (*env)->SetLongArrayRegion(env, layout, 0, 4, numbers);
}

NATIVE(void, decodeTotals)
(JNIEnv *env, jclass cls, jlong decoder, jbyteArray header, jobjectArray segments, jbyteArray checksums, jintArray terms, jlongArray totals,
 jlongArray layout) {
  (void)cls;
  quiver_error e;
  quiver_vectors v;
  jsize numbers, longs;
  if (!given(env, terms, "terms") || !given(env, totals, "totals") || !given(env, layout, "layout")) return;
  if (!plan(env, decoder, QUIVER_READ_TOTALS, header, segments, checksums)) return;
  jint *t = copy_ints(env, terms, &numbers);
  jlong *sums = t == NULL ? NULL : copy_longs(env, totals, &longs);
  if (sums != NULL && (numbers % 2 != 0 || longs != 2 * numbers)) {
    throw_new(env, "java/lang/IllegalArgumentException", "two numbers a term, four a total");
  } else if (sums != NULL && quiver_decode_totals(decoder, (quiver_term *)t, (quiver_total *)sums, numbers / 2, &v, &e) != QUIVER_OK) {
    throw_error(env, &e);
  } else if (sums != NULL) {
    jlong read[4] = {v.rows, v.bytes_read, v.nanos, v.kept};
    (*env)->SetLongArrayRegion(env, totals, 0, longs, sums);
    (*env)->SetLongArrayRegion(env, layout, 0, 4, read);
  }
  free(sums);
  free(t);
}

NATIVE(jbyteArray, nextRows)(JNIEnv *env, jclass cls, jlong decoder, jintArray ends, jint target, jbyteArray spare) {
  (void)cls;
  quiver_error e;
  quiver_bytes block;
  int32_t *row_ends;
  int64_t n = 0;
  if (!given(env, ends, "ends")) return NULL;
  jsize capacity = (*env)->GetArrayLength(env, ends) - 1;
  if (quiver_next_rows(decoder, target, capacity, &block, &row_ends, &n, &e) != QUIVER_OK) {
    throw_error(env, &e);
    return NULL;
  }
  jint rows = (jint)n;
  (*env)->SetIntArrayRegion(env, ends, 0, 1, &rows);
  if (n == 0 || (*env)->ExceptionCheck(env)) return NULL;
  (*env)->SetIntArrayRegion(env, ends, 1, rows, row_ends);
  if (spare == NULL || (*env)->GetArrayLength(env, spare) < block.length) return copy_out(env, block.data, block.length);
  (*env)->SetByteArrayRegion(env, spare, 0, (jsize)block.length, (const jbyte *)block.data);
  return spare;
}

NATIVE(void, decodeArrow)
(JNIEnv *env, jclass cls, jlong decoder, jbyteArray header, jobjectArray segments, jbyteArray checksums, jlong array, jlong schema) {
  (void)cls;
  quiver_error e;
  if (!plan(env, decoder, QUIVER_READ_ARROW, header, segments, checksums)) return;
  if (quiver_decode_columns(decoder, (struct ArrowArray *)(intptr_t)array, (struct ArrowSchema *)(intptr_t)schema, &e) != QUIVER_OK) {
    throw_error(env, &e);
  }
}

NATIVE(void, close)(JNIEnv *env, jclass cls, jlong handle) {
  (void)env;
  (void)cls;
  quiver_close(handle);
}
