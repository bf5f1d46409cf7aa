package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
)

// answer is the response of a function in payload format 2.0.
type answer struct {
	StatusCode      int            `json:"statusCode"`
	Headers         map[string]any `json:"headers"`
	Cookies         []string       `json:"cookies"`
	Body            string         `json:"body"`
	IsBase64Encoded bool           `json:"isBase64Encoded"`
}

// reply sends the response of a function. A response without a status code is JSON that is sent as a whole. If the
// response cannot be read, reply writes nothing and returns an error.
func reply(w http.ResponseWriter, payload []byte) error {
	var known struct{ StatusCode any }
	if err := json.Unmarshal(payload, &known); err != nil || known.StatusCode == nil {
		return validEvent(w, payload)
	}
	var said answer
	if err := json.Unmarshal(payload, &said); err != nil {
		return fmt.Errorf("the answer of the function is malformed: %w", err)
	}
	if said.StatusCode < 200 || said.StatusCode > 599 {
		return fmt.Errorf("the answer of the function has the status %d", said.StatusCode)
	}
	body := []byte(said.Body)
	if said.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(said.Body); err != nil {
			return fmt.Errorf("the answer of the function is not in base64: %w", err)
		}
	}
	w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	for name, value := range said.Headers {
		w.Header().Set(name, fmt.Sprint(value))
	}
	for _, c := range said.Cookies {
		w.Header().Add("Set-Cookie", c)
	}
	w.WriteHeader(said.StatusCode)
	_, _ = w.Write(body) // the caller is gone if this fails
	return nil
}

// validEvent sends a response that is only a body: JSON, or the content of a JSON string.
func validEvent(w http.ResponseWriter, payload []byte) error {
	if !json.Valid(payload) {
		return fmt.Errorf("the answer of the function is no JSON: %.100q", payload)
	}
	var text string
	if err := json.Unmarshal(payload, &text); err == nil {
		payload = []byte(text)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(payload) // the caller is gone if this fails
	return nil
}
