package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// Transport is an http.RoundTripper that calls a handler of this process. It needs no socket, so it also works inside a
// testing/synctest bubble, where waiting takes no time.
type Transport struct {
	Handler http.Handler
	// Latency, if set, is how long a request takes to the handler.
	Latency func(*http.Request) time.Duration
}

// RoundTrip passes the request to the handler. As a connection would, it returns as soon as the request's context ends;
// the handler gets the same context and may continue.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	body, err := drain(r)
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	in, err := asServer(r, body)
	if err != nil {
		return nil, err
	}
	if err := t.delay(ctx, r); err != nil {
		return nil, err
	}
	type outcome struct {
		rec *Recorder
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		growStack()
		rec := &Recorder{}
		done <- outcome{rec, serve(t.Handler, rec, in)}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return response(o.rec, r), nil
	}
}

// deepen makes room on the stack at once for what a handler needs: grown bit by bit, it is copied again and again.
//
//go:noinline
func growStack() {
	var room [9 << 10]byte
	runtime.KeepAlive(&room)
}

func (t Transport) delay(ctx context.Context, r *http.Request) error {
	if t.Latency == nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(t.Latency(r))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// drain reads the whole body, because the caller may use it again as soon as RoundTrip has returned.
func drain(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if closing := r.Body.Close(); err == nil {
		err = closing
	}
	return body, err
}

// asServer is the request as a server sees it.
func asServer(r *http.Request, body []byte) (*http.Request, error) {
	in := r.Clone(r.Context())
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	in.RequestURI = r.URL.RequestURI()
	u, err := url.ParseRequestURI(in.RequestURI)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", r.URL, err)
	}
	in.URL = u
	in.RemoteAddr = "127.0.0.1:0"
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.ContentLength = int64(len(body))
	if len(body) > 0 || r.Method == http.MethodPut || r.Method == http.MethodPost {
		in.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return in, nil
}

// serve turns a panic into an error with its stack; a server would only close the connection.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

func response(rec *Recorder, r *http.Request) *http.Response {
	header := rec.Sent()
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	body := rec.Body.Bytes()
	length := int64(len(body))
	if r.Method == http.MethodHead {
		body = nil
		if n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64); err == nil {
			length = n
		}
	} else {
		header.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", rec.Status, http.StatusText(rec.Status)), StatusCode: rec.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length, Request: r,
	}
}
