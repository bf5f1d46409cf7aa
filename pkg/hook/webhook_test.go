package hook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// A server is a web server and the secret that it shares with hooks.
type server struct {
	secret string
	status int
	fails  error
	header map[string]string
	body   string
	times  int
}

func (s *server) SecretValue(context.Context, project.Target, string) ([]byte, error) {
	return []byte(s.secret), nil
}

func (s *server) Post(_ context.Context, _ string, header map[string]string, body []byte) (int, error) {
	s.header, s.body, s.times = header, string(body), s.times+1
	return s.status, s.fails
}

func (s *server) call(t *testing.T, c hook.Call) error {
	t.Helper()
	all := hook.Services{Secrets: s, Webhooks: s, Allowed: hook.Allowed{"https://hooks.example.com/*", secret, strings.Replace(secret, "us-east-1", "*", 1)}}
	started, err := all.Call(t.Context(), c)
	if started != "" {
		t.Errorf("started %q", started)
	}
	return err
}

const shared = "0123456789abcdef-shared"

// The request is the message with the token and a signature of the time and the body, made with the secret, which is nowhere in it.
func TestWebhookIsSigned(t *testing.T) {
	s := &server{secret: shared, status: 202}
	c := call("webhook", site)
	c.Now = time.Unix(1900000000, 0)
	c.Message.Payload = map[string]string{"endpoint": "db.example.com"}
	if err := s.call(t, c); err != nil {
		t.Fatal(err)
	}
	if token(([]byte)(s.body)) != "t" || !strings.Contains(s.body, `"payload":{"endpoint":"db.example.com"}`) {
		t.Errorf("the body is %s", s.body)
	}
	mac := hmac.New(sha256.New, []byte(shared))
	fmt.Fprintf(mac, "1900000000.%s", s.body)
	want := map[string]string{"Content-Type": "application/json", "Idempotency-Key": "t", "Stackwright-Signature": fmt.Sprintf("t=1900000000,v1=%x", mac.Sum(nil))}
	if fmt.Sprint(s.header) != fmt.Sprint(want) {
		t.Errorf("the headers are %v, want %v", s.header, want)
	}
	if strings.Contains(fmt.Sprint(s.header, s.body), shared) {
		t.Error("the request contains the secret")
	}
}

// A server that answers with success has got the message. One that is busy, or that does not answer, gets it again; one that refuses
// it does not. One call sends one request, and no message contains the secret.
func TestAnswersOfWebhooks(t *testing.T) {
	for _, c := range []struct {
		status int
		fails  error
		want   fault.Kind
		says   string
	}{
		{status: 200}, {status: 204}, {status: 299},
		{status: 429, want: fault.Unavailable, says: "the server answers 429"}, {status: 500, want: fault.Unavailable, says: "the server answers 500"}, {status: 599, want: fault.Unavailable, says: "the server answers 599"},
		{status: 302, want: fault.Refused, says: "302, and redirects are not followed: write the last URL"}, {status: 199, want: fault.Refused}, {status: 400, want: fault.Refused}, {status: 403, want: fault.Refused, says: "403: see its log"},
		{fails: fault.New(fault.Unavailable, "it is down"), want: fault.Unavailable, says: "it is down"}, {fails: fault.New(fault.Refused, "it is private"), want: fault.Refused, says: "it is private"},
	} {
		s := &server{secret: shared, status: c.status, fails: c.fails}
		err := s.call(t, call("webhook", site))
		if fault.KindOf(err) != c.want || s.times != 1 {
			t.Errorf("%d, %v: %v after %d requests", c.status, c.fails, err, s.times)
		}
		if err != nil && (!strings.Contains(err.Error(), "post to "+site+": ") || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), shared)) {
			t.Errorf("%d: %v", c.status, err)
		}
	}
}

// Nothing is sent to what is not a plain https URL of a host with a name, and the message does not repeat what may be a password.
func TestWrongWebhooks(t *testing.T) {
	for on, want := range map[string]string{
		"":                                      "it is no https URL",
		"ftp://hunter2@hooks.example.com/a":     "it is no https URL",
		"hooks.example.com/hunter2":             "it is no https URL",
		"http://hooks.example.com/hunter2":      "write https://",
		"https://u:hunter2@hooks.example.com/a": "it contains a user name or a password",
		"https://hooks.example.com/a?b=hunter2": "the URL has a query",
		"https://hooks.example.com/a?":          "the URL has a query",
		"https://hooks.example.com/a#b":         "it contains #",
		"https://hooks.example.com/a/../b":      "its path contains the segment",
		"https://hooks.example.com:8443/a":      "it has a port",
		"https://10.0.0.1/a":                    "its host is an IP address",
		"https://[::1]/a":                       "its host is an IP address",
		"https://169.254.169.254/latest":        "its host is an IP address",
		"https://localhost/a":                   "its host is no full DNS name",
		"https://hooks.example.com":             "write the URL as https://hooks.example.com/",
		"https://HOOKS.example.com/a":           "write the URL as https://hooks.example.com/a",
	} {
		s := &server{secret: shared, status: 200}
		err := s.call(t, call("webhook", on))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || s.times > 0 || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v after %d requests", on, err, s.times)
		}
	}
}

// A secret is named by its whole ARN, is listed, is where the hook is called, and is long enough.
func TestSecretsOfWebhooks(t *testing.T) {
	for _, c := range []struct {
		arn, value string
		want       fault.Kind
	}{
		{strings.TrimSuffix(secret, "-AbCdEf"), shared, fault.Invalid}, {"shared", shared, fault.Invalid}, {"", shared, fault.Invalid},
		{strings.Replace(secret, "hook-a", "bank", 1), shared, fault.Denied}, {strings.Replace(secret, "us-east-1", "eu-west-1", 1), shared, fault.Invalid},
		{secret, "short", fault.Refused}, {secret, "", fault.Refused}, {secret, shared[:16], ""},
	} {
		s := &server{secret: c.value, status: 200}
		n := call("webhook", site)
		n.Values["secret"] = c.arn
		if err := s.call(t, n); fault.KindOf(err) != c.want || (s.times == 1) != (c.want == "") || c.value != "" && err != nil && strings.Contains(err.Error(), `"`+c.value) {
			t.Errorf("%s, %d bytes: %v", c.arn, len(c.value), err)
		}
	}
}
