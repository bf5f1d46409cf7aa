package gateway

import (
	"bytes"
	"net/http"
)

// Recorder is an http.ResponseWriter that keeps the answer, so that it can be inspected before it is sent. The zero
// value is ready; an answer without WriteHeader has Status 0, which Replay sends as 200.
type Recorder struct {
	Status int
	Body   bytes.Buffer
	header http.Header
	sent   http.Header
}

// Header is the header to be sent.
func (rec *Recorder) Header() http.Header {
	if rec.header == nil {
		rec.header = http.Header{}
	}
	return rec.header
}

// WriteHeader keeps the first status and the header as it is now, as a server does.
func (rec *Recorder) WriteHeader(status int) {
	if rec.Status != 0 {
		return
	}
	rec.Status, rec.sent = status, rec.Header().Clone()
}

// Write keeps the body.
func (rec *Recorder) Write(b []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	return rec.Body.Write(b)
}

// OK reports whether the answer is a success.
func (rec *Recorder) OK() bool { return rec.Status == 0 || rec.Status/100 == 2 }

// Sent is the header as it was when the first byte was written; Replay sends what is changed in it.
func (rec *Recorder) Sent() http.Header {
	rec.WriteHeader(http.StatusOK)
	return rec.sent
}

// Replay sends the answer.
func (rec *Recorder) Replay(w http.ResponseWriter) {
	for name, values := range rec.Sent() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Status)
	_, _ = w.Write(rec.Body.Bytes()) // the caller is gone if this fails
}
