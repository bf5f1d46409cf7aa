package download

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
)

// An Answer is what a server answers.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // the first bytes of it
}

// Post sends a body to an https URL, once, and returns the answer with the first most bytes of its body. It follows no redirect. The
// error is ErrFinal if nothing was sent and another attempt changes nothing.
func (c Client) Post(ctx context.Context, to string, header http.Header, body []byte, most int) (Answer, error) {
	limit := c.Time
	if limit == 0 {
		limit = MaxTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil || r.URL.Scheme != "https" {
		return Answer{}, final{errors.New("the URL is no https URL")}
	}
	r.GetBody = nil // without it, net/http sends no request again
	maps.Copy(r.Header, header)
	r.Header.Set("User-Agent", "Stackwright")
	client := c.client()
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Answer{}, fmt.Errorf("there is no answer within %s", limit)
	case err != nil && untrusted(err):
		return Answer{}, final{clean(err)}
	case err != nil:
		return Answer{}, clean(err)
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return Answer{}, errors.New("the connection ended before the answer was complete")
	}
	return Answer{answer.StatusCode, answer.Header, said}, nil
}

// untrusted reports whether the certificate of a server was not valid for it.
func untrusted(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}
