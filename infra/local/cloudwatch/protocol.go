package cloudwatch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

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
		if body, err = json.Marshal(value); err != nil { // texts, lists and maps of both are alike
			return err
		}
	}
	return json.Unmarshal(body, in)
}

// encode writes an answer in the protocol of its request.
func encode(w http.ResponseWriter, r *http.Request, answer map[string]any) {
	if !gateway.CBOR(r) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_ = json.NewEncoder(w).Encode(answer) // the client is gone if it fails
		return
	}
	gateway.WriteCBOR(w, http.StatusOK, answer)
}
