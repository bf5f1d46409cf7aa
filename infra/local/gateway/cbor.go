package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// CBOR reports whether a request has the RPC protocol with CBOR, as the SDK's requests to CloudWatch.
// https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html
func CBOR(r *http.Request) bool { return r.Header.Get("Smithy-Protocol") == "rpc-v2-cbor" }

// cborOperation is the operation of a request to /service/NAME/operation/NAME.
func cborOperation(r *http.Request) string {
	return r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
}

// WriteCBOR answers a request that has CBOR. The answer consists of texts, times, lists and maps.
func WriteCBOR(w http.ResponseWriter, status int, answer map[string]any) {
	w.Header().Set("Content-Type", "application/cbor")
	w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
	w.WriteHeader(status)
	_, _ = w.Write(cbor.Encode(valueOf(answer))) // the client is gone if it fails
}

func valueOf(v any) cbor.Value {
	switch v := v.(type) {
	case string:
		return cbor.String(v)
	case time.Time: // https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#timestamp-type-serialization
		return &cbor.Tag{ID: 1, Value: cbor.Float64(float64(v.UnixMilli()) / 1000)}
	case []any:
		all := make(cbor.List, 0, len(v))
		for _, one := range v {
			all = append(all, valueOf(one))
		}
		return all
	case map[string]any:
		all := make(cbor.Map, len(v))
		for key, one := range v {
			all[key] = valueOf(one)
		}
		return all
	}
	panic(fmt.Sprintf("an answer in CBOR has a %T", v))
}
