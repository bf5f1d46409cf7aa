package download

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
)

// Post sends a body to an https URL, once, and returns the status of the answer. It follows no redirect, and reads no more of
// the answer than its headers. The error is ErrFinal if nothing was sent and another attempt changes nothing.
func (c Client) Post(ctx context.Context, to string, header http.Header, body []byte) (status int, err error) {
	limit := c.Time
	if limit == 0 {
		limit = MaxTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil || r.URL.Scheme != "https" {
		return 0, final{errors.New("the URL is no https URL")}
	}
	r.GetBody = nil // without it, net/http sends no request again
	maps.Copy(r.Header, header)
	r.Header.Set("User-Agent", "Stackwright")
	client := c.client()
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return 0, fmt.Errorf("there is no answer within %s", limit)
	case err != nil && untrusted(err):
		return 0, final{clean(err)}
	case err != nil:
		return 0, clean(err)
	}
	return answer.StatusCode, answer.Body.Close()
}

// untrusted reports whether the certificate of a server was not valid for it.
func untrusted(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}
