// Command quiver is the native library of Quiver, built with -buildmode=c-shared:
// the C ABI declared in jni/quiver.h. The functions here check, guard and
// delegate; the work is in package engine.
package main

// #include "jni/quiver.h"
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/cdata"

	"github.com/quiverspark/quiver/jni"
	"github.com/quiverspark/quiver/native/abi"
	"github.com/quiverspark/quiver/native/cmem"
	"github.com/quiverspark/quiver/native/engine"
	"github.com/quiverspark/quiver/native/schema"
	"github.com/quiverspark/quiver/native/total"
)

// Set by build.sh.
var (
	version = "dev"
	buildID = "unknown"
)

var handles abi.Handles

// The structs of quiver.h and of package abi have the same sizes.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(abi.Error{})-C.sizeof_quiver_error]
	_ = [1]struct{}{}[unsafe.Sizeof(abi.Batch{})-C.sizeof_quiver_batch]
	_ = [1]struct{}{}[unsafe.Sizeof(abi.Vectors{})-C.sizeof_quiver_vectors]
	_ = [1]struct{}{}[abi.SizeOfNeed-C.sizeof_quiver_need]
	_ = [1]struct{}{}[unsafe.Sizeof(total.Total{})-C.sizeof_quiver_total]
	_ = [1]struct{}{}[unsafe.Sizeof(engine.Term{})-C.sizeof_quiver_term]
	_ = [1]struct{}{}[abi.SizeOfBuffer-C.sizeof_quiver_buffer]
)

func main() {}

func guard(e *C.quiver_error, f func() error) C.int32_t {
	return C.int32_t(abi.Guard((*abi.Error)(unsafe.Pointer(e)), f))
}

//export quiver_abi_version
func quiver_abi_version() C.int32_t { return C.QUIVER_ABI_VERSION }

//export quiver_version
func quiver_version(dst *C.char, capacity C.int64_t) C.int64_t {
	text := version + " " + buildID + " " + runtime.Version()
	return C.int64_t(abi.PutText(unsafe.Slice((*byte)(unsafe.Pointer(dst)), int(max(capacity, 0))), text))
}

//export quiver_configure
func quiver_configure(options *C.char, length C.int64_t, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		if jni.SignalChainPreloaded() {
			return invalid("libjsig is preloaded: Go's own signal handling does not work behind it. Start the JVM without LD_PRELOAD=libjsig.so")
		}
		return configure(text(options, length))
	})
}

func configure(options string) error {
	for key, value := range engine.Lines(options) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return invalid("setting %s=%q is not a whole number from 0 up", key, value)
		}
		switch key {
		case "threads":
			// A thread that enters Go waits while all of Go's processors are busy.
			if int(n) > runtime.GOMAXPROCS(0) {
				runtime.GOMAXPROCS(int(min(n, 1024)))
			}
		case "memory.limit":
			cmem.Default.SetLimit(n)
		default:
			return invalid("unknown setting %q; the settings are threads and memory.limit", key)
		}
	}
	return nil
}

//export quiver_native_bytes
func quiver_native_bytes() C.int64_t { return C.int64_t(cmem.Default.InUse()) }

//export quiver_alloc
func quiver_alloc(bytes C.int64_t, e *C.quiver_error) (p unsafe.Pointer) {
	guard(e, func() error {
		if bytes <= 0 {
			return invalid("allocation of %d bytes", bytes)
		}
		b, err := cmem.Default.Alloc(int(bytes))
		p = unsafe.Pointer(unsafe.SliceData(b))
		return err
	})
	return p
}

//export quiver_realloc
func quiver_realloc(address unsafe.Pointer, oldBytes, newBytes C.int64_t, e *C.quiver_error) (p unsafe.Pointer) {
	guard(e, func() error {
		if address == nil || oldBytes <= 0 || newBytes < oldBytes {
			return invalid("reallocation of %d bytes to %d", oldBytes, newBytes)
		}
		b, err := cmem.Default.Alloc(int(newBytes))
		if err != nil {
			return err
		}
		old := unsafe.Slice((*byte)(address), int(oldBytes))
		copy(b, old)
		cmem.Default.Free(old)
		p = unsafe.Pointer(unsafe.SliceData(b))
		return nil
	})
	return p
}

//export quiver_free
func quiver_free(address unsafe.Pointer, bytes C.int64_t) {
	if address != nil && bytes > 0 {
		cmem.Default.Free(unsafe.Slice((*byte)(address), int(bytes)))
	}
}

//export quiver_check_schema
func quiver_check_schema(json *C.uint8_t, length C.int64_t, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		_, err := schema.Cached(raw(json, length))
		return err
	})
}

//export quiver_check_options
func quiver_check_options(options *C.char, length C.int64_t, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		_, err := engine.ParseOptions(text(options, length))
		return err
	})
}

//export quiver_encoder_new
func quiver_encoder_new(json *C.uint8_t, length C.int64_t, options *C.char, optionsLength C.int64_t, e *C.quiver_error) (h C.int64_t) {
	guard(e, func() error {
		s, err := schema.Cached(raw(json, length))
		if err != nil {
			return err
		}
		o, err := engine.ParseOptions(text(options, optionsLength))
		if err != nil {
			return err
		}
		enc, err := engine.NewEncoder(s, o, &cmem.Default)
		if err != nil {
			return err
		}
		h = C.int64_t(handles.Add(&abi.Handle{Encoder: enc}, &cmem.Default))
		return nil
	})
	return h
}

//export quiver_encode_rows
func quiver_encode_rows(encoder C.int64_t, rows *C.uint8_t, length C.int64_t, ends *C.int64_t, n C.int64_t,
	out *C.quiver_batch, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Encoder(int64(encoder), func(h *abi.Handle) error {
			b, err := h.Encoder.EncodeRows(raw(rows, length), view[int64](unsafe.Pointer(ends), n))
			if err != nil {
				return err
			}
			h.PutBatch((*abi.Batch)(unsafe.Pointer(out)), b)
			return nil
		})
	})
}

//export quiver_encode_columns
func quiver_encode_columns(encoder C.int64_t, array *C.struct_ArrowArray, sch *C.struct_ArrowSchema,
	out *C.quiver_batch, e *C.quiver_error) C.int32_t {
	arr := (*cdata.CArrowArray)(unsafe.Pointer(array))
	csch := (*cdata.CArrowSchema)(unsafe.Pointer(sch))
	code := guard(e, func() error {
		return handles.Encoder(int64(encoder), func(h *abi.Handle) error {
			if array == nil || released(unsafe.Pointer(arr), unsafe.Sizeof(*arr)) {
				return invalid("no array, or one that was released")
			}
			if sch != nil && released(unsafe.Pointer(csch), unsafe.Sizeof(*csch)) {
				return invalid("a schema that was released")
			}
			rec, err := importRecord(arr, csch, h.Encoder.ArrowSchema())
			if err != nil {
				return err
			}
			defer rec.Release()
			b, err := h.Encoder.EncodeRecord(rec)
			if err != nil {
				return err
			}
			h.PutBatch((*abi.Batch)(unsafe.Pointer(out)), b)
			return nil
		})
	})
	// Both are consumed on failure too; what was imported is marked as released.
	guard(new(C.quiver_error), func() error {
		if array != nil {
			cdata.ReleaseCArrowArray(arr)
		}
		if sch != nil {
			cdata.ReleaseCArrowSchema(csch)
		}
		return nil
	})
	return code
}

// released tells whether an ArrowArray or ArrowSchema of that size was released: arrow-go's C code would end the process. The callback
// is the last but one of its pointers.
func released(p unsafe.Pointer, size uintptr) bool {
	return *(*uintptr)(unsafe.Add(p, size-2*unsafe.Sizeof(size))) == 0
}

// importRecord takes over the array and the schema, which arrow-go checks, in part by panics.
func importRecord(arr *cdata.CArrowArray, csch *cdata.CArrowSchema, own *arrow.Schema) (rec arrow.RecordBatch, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = invalid("the Arrow array cannot be imported: %v", r)
		}
	}()
	if csch != nil {
		s, err := cdata.ImportCArrowSchema(csch)
		if err != nil {
			return nil, invalid("the Arrow schema cannot be imported: %v", err)
		}
		own = s
	}
	if nulls := view[int64](unsafe.Pointer(arr), 2)[1]; nulls > 0 {
		return nil, invalid("the Arrow array is no record batch: its struct has %d nulls of its own", nulls)
	}
	if rec, err = cdata.ImportCRecordBatchWithSchema(arr, own); err != nil {
		return nil, invalid("the Arrow array cannot be imported: %v", err)
	}
	return rec, nil
}

//export quiver_decoder_new
func quiver_decoder_new(json *C.uint8_t, length C.int64_t, projection *C.int32_t, n C.int64_t,
	unread *C.int32_t, numUnread C.int64_t, conditions *C.char, conditionsLength C.int64_t, e *C.quiver_error) (h C.int64_t) {
	guard(e, func() error {
		s, err := schema.Cached(raw(json, length))
		if err != nil {
			return err
		}
		dec, err := engine.NewPartialDecoder(s, ints(projection, n), ints(unread, numUnread), &cmem.Default)
		if err != nil {
			return err
		}
		if conditionsLength != 0 {
			if err := dec.SetFilter(text(conditions, conditionsLength)); err != nil {
				dec.Close()
				return err
			}
		}
		h = C.int64_t(handles.Add(&abi.Handle{Decoder: dec}, &cmem.Default))
		return nil
	})
	return h
}

//export quiver_check_head
func quiver_check_head(rows, columns, decodedSize C.int64_t, header *C.uint8_t, headerLength C.int64_t,
	stats *C.uint8_t, statsLength, segments C.int64_t, checksums *C.uint8_t, checksumsLength C.int64_t, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return engine.CheckHead(int64(rows), int64(columns), int64(decodedSize), raw(header, headerLength), raw(stats, statsLength),
			int(segments), raw(checksums, checksumsLength))
	})
}

//export quiver_decode_plan
func quiver_decode_plan(decoder C.int64_t, read C.int32_t, header *C.uint8_t, length, segments C.int64_t,
	checksums *C.uint8_t, checksumsLength C.int64_t, out **C.quiver_need, n *C.int64_t, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Decoder(int64(decoder), func(h *abi.Handle) error {
			if read < C.QUIVER_READ_VECTORS || read > C.QUIVER_READ_TOTALS || segments < 0 {
				return invalid("read mode %d, %d segments", read, segments)
			}
			needs, err := h.Decoder.Plan(engine.Read(read), raw(header, length), int(segments), raw(checksums, checksumsLength))
			if err != nil {
				return err
			}
			h.PutNeeds(unsafe.Pointer(out), needs)
			*n = C.int64_t(len(needs))
			return nil
		})
	})
}

//export quiver_decode_vectors
func quiver_decode_vectors(decoder C.int64_t, out *C.quiver_vectors, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Decoder(int64(decoder), func(h *abi.Handle) error {
			h.TakePresent()
			v, err := h.Decoder.Vectors()
			if err != nil {
				return err
			}
			h.PutVectors((*abi.Vectors)(unsafe.Pointer(out)), v)
			return nil
		})
	})
}

//export quiver_decode_rows
func quiver_decode_rows(decoder C.int64_t, out *C.quiver_vectors, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Decoder(int64(decoder), func(h *abi.Handle) error {
			h.TakePresent()
			s, err := h.Decoder.Rows()
			if err != nil {
				return err
			}
			abi.PutStats((*abi.Vectors)(unsafe.Pointer(out)), s)
			return nil
		})
	})
}

//export quiver_next_rows
func quiver_next_rows(decoder, target, capacity C.int64_t, out *C.quiver_bytes, ends **C.int32_t, n *C.int64_t, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Decoder(int64(decoder), func(h *abi.Handle) error {
			if capacity < 1 || capacity > math.MaxInt32 {
				return invalid("room for %d rows", capacity)
			}
			room := h.Ends(int(capacity))
			block, rows, err := h.Decoder.NextRows(int(target), room)
			if err != nil {
				return err
			}
			*(*abi.Bytes)(unsafe.Pointer(out)) = abi.NewBytes(block)
			abi.PutAddress(unsafe.Pointer(ends), room)
			*n = C.int64_t(rows)
			return nil
		})
	})
}

//export quiver_decode_columns
func quiver_decode_columns(decoder C.int64_t, array *C.struct_ArrowArray, sch *C.struct_ArrowSchema, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Decoder(int64(decoder), func(h *abi.Handle) error {
			if array == nil {
				return invalid("no array to export to")
			}
			h.TakePresent()
			rec, err := h.Decoder.Record()
			if err != nil {
				return err
			}
			defer rec.Release()
			arr, csch := (*cdata.CArrowArray)(unsafe.Pointer(array)), (*cdata.CArrowSchema)(unsafe.Pointer(sch))
			abi.ClearPointers(arr)
			abi.ClearPointers(csch)
			cdata.ExportArrowRecordBatch(rec, arr, csch)
			return nil
		})
	})
}

//export quiver_decode_totals
func quiver_decode_totals(decoder C.int64_t, terms *C.quiver_term, totals *C.quiver_total, n C.int64_t,
	out *C.quiver_vectors, e *C.quiver_error) C.int32_t {
	return guard(e, func() error {
		return handles.Decoder(int64(decoder), func(h *abi.Handle) error {
			h.TakePresent()
			s, err := h.Decoder.Totals(view[engine.Term](unsafe.Pointer(terms), n), view[total.Total](unsafe.Pointer(totals), n))
			if err != nil {
				return err
			}
			abi.PutStats((*abi.Vectors)(unsafe.Pointer(out)), s)
			return nil
		})
	})
}

//export quiver_close
func quiver_close(h C.int64_t) {
	guard(new(C.quiver_error), func() error { handles.Close(int64(h)); return nil })
}

// view is n values of the caller's memory. What cannot be any panics with an *abi.ArgumentError, which the guard answers with.
func view[T any](p unsafe.Pointer, n C.int64_t) []T {
	var t T
	if n < 0 || n > math.MaxInt64/C.int64_t(unsafe.Sizeof(t)) || p == nil && n > 0 {
		panic(&abi.ArgumentError{Message: fmt.Sprintf("%d values at address %#x", n, uintptr(p))})
	}
	return unsafe.Slice((*T)(p), int(n))
}

// raw views n bytes of the caller's memory.
func raw(p *C.uint8_t, n C.int64_t) []byte { return view[byte](unsafe.Pointer(p), n) }

// maxInts bounds what a wrong length costs of the Go heap, which has no limit.
const maxInts = 1 << 22

// ints copies n numbers of the caller's.
func ints(p *C.int32_t, n C.int64_t) []int {
	values := view[int32](unsafe.Pointer(p), n)
	if len(values) > maxInts {
		panic(&abi.ArgumentError{Message: fmt.Sprintf("a list of %d numbers, of %d at most", n, maxInts)})
	}
	out := make([]int, len(values))
	for i, v := range values {
		out[i] = int(v)
	}
	return out
}

func text(p *C.char, n C.int64_t) string { return string(view[byte](unsafe.Pointer(p), n)) }

func invalid(format string, args ...any) error { return fmt.Errorf(format, args...) }
