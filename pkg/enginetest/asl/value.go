package asl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode reads one JSON value. Numbers stay as they are written (json.Number).
// The values of a running machine are never changed in place, so they may be shared.
func Decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("asl: JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("asl: JSON: more than one value")
	}
	return v, nil
}

// mostCounted is where size stops counting. A value may hold another many
// times over, and would take far longer to count than it took to make.
const mostCounted = 64 * MaxPayload

// size is how many bytes Encode would write for v, without writing them; of a
// value of more than mostCounted bytes, some number that is more.
func size(v any) int {
	n := 0
	weigh(v, &n)
	return n
}

// weigh adds the size of v to n.
func weigh(v any, n *int) {
	if *n > mostCounted {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		*n += 2 + max(0, len(v)-1)
		for k, e := range v {
			*n += textSize(k) + 1
			weigh(e, n)
		}
	case []any:
		*n += 2 + max(0, len(v)-1)
		for _, e := range v {
			weigh(e, n)
		}
	case string:
		*n += textSize(v)
	case json.Number:
		*n += len(v)
	case bool:
		*n += len(strconv.FormatBool(v))
	default:
		*n += len("null")
	}
}

func textSize(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, width := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && width == 1, r == '\u2028', r == '\u2029':
				n += len(`\u2028`) - width
			}
			i += width
			continue
		}
		switch {
		case c == '"' || c == '\\' || strings.IndexByte("\b\f\n\r\t", c) >= 0:
			n++
		case c < ' ':
			n += len(`\u0000`) - 1
		}
		i++
	}
	return n
}

// number reads a JSON number, in whichever of Go's types it comes.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// whole reads a JSON number that has no fraction and fits an int.
func whole(v any) (int, bool) {
	f, ok := number(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<52 {
		return 0, false
	}
	return int(f), true
}
