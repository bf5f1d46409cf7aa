package cloudwatch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// maxBody bounds the body of a request.
const maxBody = 1 << 20

// decode reads the input of a request, in CBOR as the SDK for Go sends it, or in JSON as the AWS CLI does.
// https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html
func decode(r *http.Request, in *input) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return err
	}
	if gateway.CBOR(r) {
		value, err := cbor.Decode(body)
		if err != nil {
			return fmt.Errorf("the body is no CBOR: %w", err)
		}
		if body, err = json.Marshal(plain(value)); err != nil { // texts, numbers, lists and maps of both are alike
			return err
		}
	}
	return json.Unmarshal(body, in)
}

// plain is a value without tags: a time is a tagged number of seconds.
func plain(v cbor.Value) any {
	switch v := v.(type) {
	case *cbor.Tag:
		return plain(v.Value)
	case cbor.List:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = plain(one)
		}
		return all
	case cbor.Map:
		all := make(map[string]any, len(v))
		for key, one := range v {
			all[key] = plain(one)
		}
		return all
	}
	return v
}

// encode writes an answer in the protocol of its request.
func encode(w http.ResponseWriter, r *http.Request, answer map[string]any) {
	if !gateway.CBOR(r) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_ = json.NewEncoder(w).Encode(inJSON(answer)) // the client is gone if it fails
		return
	}
	gateway.WriteCBOR(w, http.StatusOK, answer)
}

// inJSON returns an answer as JSON has it: times are seconds since 1970.
// https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
func inJSON(v any) any {
	switch v := v.(type) {
	case time.Time:
		return float64(v.UnixMilli()) / 1000
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = inJSON(one)
		}
		return all
	case map[string]any:
		all := make(map[string]any)
		for key, one := range v {
			all[key] = inJSON(one)
		}
		return all
	}
	return v
}
