package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quiverspark/quiver/native/codec"
	"github.com/quiverspark/quiver/native/ipc"
)

// Options are an encoder's settings.
type Options struct {
	Codec     string // one of ipc's codec names
	ZstdLevel int    // 1 to 22, used by zstd only
	inject    string // failure to inject; test builds only
}

// OptionError is a wrong or unknown option; its message lists the right values.
type OptionError struct{ What string }

func (e *OptionError) Error() string { return e.What }

// ParseOptions reads key=value lines: codec, zstd.level. Missing keys have defaults.
func ParseOptions(text string) (Options, error) {
	o := Options{Codec: ipc.CodecPack, ZstdLevel: 1}
	for key, value := range Lines(text) {
		switch key {
		case "codec":
			o.Codec = value
		case "zstd.level":
			n, err := strconv.Atoi(value)
			if err != nil {
				return o, &OptionError{fmt.Sprintf("zstd level %q is not a number; it must be 1 to 22", value)}
			}
			o.ZstdLevel = n
		case "inject":
			if !injectable {
				return o, &OptionError{"option inject exists in test builds only"}
			}
			o.inject = value
		default:
			return o, &OptionError{fmt.Sprintf("unknown encoder option %q; the options are codec and zstd.level", key)}
		}
	}
	if _, ok := ipc.KnownCodec(o.Codec); !ok {
		return o, &OptionError{fmt.Sprintf("unknown codec %q; the codecs are %s", o.Codec, strings.Join(ipc.CodecNames(), ", "))}
	}
	if o.ZstdLevel < 1 || o.ZstdLevel > 22 {
		return o, &OptionError{fmt.Sprintf("zstd level %d is out of range; it must be 1 to 22", o.ZstdLevel)}
	}
	return o, nil
}

// newCodec returns the buffer codec, nil for none and pack.
func (o Options) newCodec() (codec.Codec, error) {
	if o.Codec == ipc.CodecNone || o.Codec == ipc.CodecPack {
		return nil, nil
	}
	return codec.New(o.Codec, o.ZstdLevel)
}

// Lines yields the key=value pairs of text, one a line, blank lines skipped.
func Lines(text string) func(yield func(key, value string) bool) {
	return func(yield func(string, string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			key, value, _ := strings.Cut(line, "=")
			if !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}
