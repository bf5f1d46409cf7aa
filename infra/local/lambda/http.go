package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// invoker is what the API needs of Functions or Binaries.
type invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
	Names() []string
}

// API is an http.Handler that speaks Lambda's REST protocol: Invoke and ListFunctions. Use NewAPI.
type API struct {
	functions invoker
	host      Host
}

// NewAPI is the API of the functions.
func NewAPI(functions invoker, host Host) *API {
	return &API{functions: functions, host: host.shared()}
}

const functionsPath = "/2015-03-31/functions"

// ServeHTTP answers POST /2015-03-31/functions/{name or ARN}/invocations and GET /2015-03-31/functions.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, functionsPath)
	function, invoke := strings.CutSuffix(strings.TrimPrefix(rest, "/"), "/invocations")
	switch {
	case ok && invoke && r.Method == http.MethodPost:
		a.invoke(w, r, function)
	case ok && strings.Trim(rest, "/") == "" && r.Method == http.MethodGet:
		a.list(w)
	default:
		gateway.Refuse(w, r, http.StatusNotFound, gateway.Fault{Code: "UnknownOperationException", Message: "the local emulator of Lambda has no " + r.Method + " " + r.URL.Path})
	}
}

func (a *API) list(w http.ResponseWriter) {
	list := []map[string]string{}
	for _, name := range a.functions.Names() {
		list = append(list, map[string]string{"FunctionName": name, "FunctionArn": a.host.ARN(name), "Runtime": "provided.al2023", "Handler": "bootstrap"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"Functions": list}) // the caller is gone if this fails
}

func (a *API) invoke(w http.ResponseWriter, r *http.Request, function string) {
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if err != nil {
		gateway.Refuse(w, r, http.StatusRequestEntityTooLarge, gateway.Fault{Code: "RequestTooLargeException", Message: err.Error()})
		return
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	if kind := r.Header.Get("X-Amz-Invocation-Type"); kind != "" && kind != "RequestResponse" {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidParameterValueException", Message: "the local emulator of Lambda has no invocations of type " + kind})
		return
	}
	answer, err := a.functions.Invoke(r.Context(), function, payload)
	a.reply(w, r, answer, err)
}

func (a *API) reply(w http.ResponseWriter, r *http.Request, answer []byte, err error) {
	var failed *FunctionError
	var missing *NotFound
	switch {
	case errors.As(err, &failed):
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer = failed.Payload
	case errors.As(err, &missing):
		gateway.Refuse(w, r, http.StatusNotFound, gateway.Fault{Code: "ResourceNotFoundException", Message: err.Error()})
		return
	case err != nil:
		gateway.Refuse(w, r, http.StatusInternalServerError, gateway.Fault{Code: "ServiceException", Message: err.Error()})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amz-Executed-Version", "$LATEST")
	_, _ = w.Write(answer) // the caller is gone if this fails
}
