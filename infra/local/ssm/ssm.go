// Package ssm emulates the parameter store of Systems Manager on this machine as far as a plan uses it: it reads the parameters
// that stacks have created.
package ssm

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// maxNames is how many parameters a request may name.
const maxNames = 10

// A Parameter is one of the parameter store.
type Parameter struct{ Type, Value string }

// Service is an http.Handler that speaks the JSON protocol of Systems Manager. Find returns a parameter of the account and region of a
// request. It has one version, the first.
type Service struct {
	Find func(r *http.Request, name string) (Parameter, bool)
}

// ServeHTTP answers GetParameters.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html
func (s Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	operation := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]
	if operation != "GetParameters" {
		refuse("UnknownOperationException", "the local emulator of Systems Manager has no "+operation)
		return
	}
	var in struct{ Names []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse("SerializationException", err.Error())
		return
	}
	if len(in.Names) == 0 || len(in.Names) > maxNames {
		refuse("ValidationException", "Member must have length less than or equal to 10, and greater than or equal to 1")
		return
	}
	type parameter struct {
		Name, Type, Value string
		Selector          string `json:",omitempty"`
		Version           int
	}
	found, invalid := []parameter{}, []string{}
	for _, name := range in.Names {
		plain, version, has := strings.Cut(name, ":")
		p, ok := s.Find(r, plain)
		if !ok || has && version != "1" {
			invalid = append(invalid, name)
			continue
		}
		found = append(found, parameter{plain, p.Type, p.Value, name[len(plain):], 1})
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]any{"Parameters": found, "InvalidParameters": invalid}) // the client is gone if it fails
}
