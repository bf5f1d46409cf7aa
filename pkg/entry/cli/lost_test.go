package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	emulator "github.com/stackwright/stackwright/infra/local/dynamodb"
	"github.com/stackwright/stackwright/pkg/run"
)

// A network leads to an emulator of DynamoDB. It refuses connections from one
// time to another.
type network struct {
	tables   http.Handler
	from, to time.Time
}

// Do is aws.HTTPClient.
func (n *network) Do(r *http.Request) (*http.Response, error) {
	if now := time.Now(); !now.Before(n.from) && now.Before(n.to) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	answer := httptest.NewRecorder()
	n.tables.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// createTable creates the table of an installation.
func createTable(t *testing.T, at site) {
	t.Helper()
	var attributes []types.AttributeDefinition
	for _, name := range []string{"PK", "SK"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	_, err := dynamodb.NewFromConfig(at.config).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &at.table, BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: attributes,
		KeySchema: []types.KeySchemaElement{{AttributeName: attributes[0].AttributeName, KeyType: types.KeyTypeHash}, {AttributeName: attributes[1].AttributeName, KeyType: types.KeyTypeRange}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// watched returns a session with a server in this process, what writes the server's runs, the session's way to the server, and
// a pending run with the ID "one".
func watched(t *testing.T, out, errors io.Writer) (*session, direct, *network, run.Run) {
	t.Helper()
	watcher := &call{
		Shell: Shell{Out: out, Err: errors, Self: "stackwright", Getenv: func(string) string { return "" }},
		flags: flags{endpoint: "http://server", output: "text", given: map[string]bool{"endpoint": true}},
	}
	tables, err := emulator.Open("")
	if err != nil {
		t.Fatal(err)
	}
	server, client, way := watcher.siteAt("http://server"), watcher.siteAt("http://server"), &network{tables: tables}
	server.config.HTTPClient, client.config.HTTPClient = &network{tables: tables}, way
	createTable(t, server)
	runs := watcher.connect(server).to.(direct)
	r, _, err := runs.CreateRun(t.Context(), run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy", Who: "ann", Source: run.Source{Key: "projects/shop/prod.zip", Version: "v1"}},
		Version: run.Version, Command: run.Continue, State: run.StatePending, Requested: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return watcher.connect(client), runs, way, r
}

// A breaker lets a network refuse connections for ten seconds as soon as something is written.
type breaker struct {
	way     *network
	written strings.Builder
}

// Write is io.Writer.
func (b *breaker) Write(p []byte) (int, error) {
	if b.written.Len() == 0 {
		b.way.from, b.way.to = time.Now(), time.Now().Add(10*time.Second)
	}
	return b.written.Write(p)
}

// A server may go away as soon as a run has ended, before its rollback is read: the next server is then read.
func TestTheServerGoesAwayAsTheRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		out := &breaker{}
		watcher, runs, way, r := watched(t, out, &said)
		out.way = way
		r.State = run.StateCancelled
		if err := runs.End(t.Context(), r, run.Exit{From: run.StatePending, Unchanged: true}); err != nil {
			t.Fatal(err)
		}
		startedAt := time.Now()
		code, err := watcher.watch(t.Context(), watch{run: "one", success: run.StateCancelled})
		if code != ExitOK || err != nil {
			t.Errorf("code %d, %v: %s", code, err, said.String())
		}
		if out.written.Len() == 0 || time.Since(startedAt) < 10*time.Second {
			t.Errorf("the server did not go away: it took %s and says %q", time.Since(startedAt), out.written.String())
		}
	})
}

// A run of a moment is shown as ended at once, a long one is polled at the pace of its site.
func TestPollsOfAFollowedRunBecomeRarer(t *testing.T) {
	s := site{pace: 2 * time.Second}
	for _, c := range []struct{ followed, want time.Duration }{
		{0, firstPoll}, {time.Second, pollInterval}, {5 * time.Second, time.Second}, {time.Hour, 2 * time.Second},
	} {
		if got := s.until(c.followed); got != c.want {
			t.Errorf("after %v the next poll comes in %v, not in %v", c.followed, got, c.want)
		}
	}
}

// A command that follows a run tries for two minutes to reach a server that does
// not answer. If the server answers in that time, the command goes on following
// the run. If not, the command exits with code 6.
func TestFollowTriesForTwoMinutesToReachTheServer(t *testing.T) {
	const (
		refused = "http://server does not answer (connection refused): trying again for two minutes\n"
		limit   = 2 * time.Minute
	)
	for _, c := range []struct {
		name   string
		outage time.Duration
		ends   time.Duration // when the run waits for a person
		code   int
		says   string
	}{
		{"the server returns", limit - 10*time.Second, limit + 20*time.Second, ExitWaiting, refused + "http://server answers again\n"},
		{"the run ends meanwhile", limit - 10*time.Second, time.Minute, ExitWaiting, refused + "http://server answers again\n"},
		{"the server stays away", time.Hour, limit + 20*time.Second, ExitLost, refused + "http://server has not answered for two minutes: connection refused\n" +
			"run one continues; this command no longer follows it. To follow it again:\n  stackwright status one --follow --endpoint http://server\nTo stop it:\n  stackwright cancel one --endpoint http://server\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				watcher, runs, client, r := watched(t, io.Discard, &said)
				client.from, client.to = time.Now().Add(5*time.Second), time.Now().Add(5*time.Second+c.outage)
				end := time.AfterFunc(c.ends, func() {
					if err := runs.MarkWaiting(t.Context(), r); err != nil {
						t.Error(err)
					}
				})
				defer end.Stop()
				startedAt := time.Now()
				code, err := watcher.watch(t.Context(), watch{run: "one"})
				if err != nil {
					code = watcher.call.reportError(err)
				}
				if code != c.code {
					t.Errorf("code %d, want %d", code, c.code)
				}
				if said.String() != c.says {
					t.Errorf("it says\n%swant\n%s", said.String(), c.says)
				}
				if took := time.Since(startedAt); took < min(c.outage, limit) || took > limit+30*time.Second {
					t.Errorf("it followed the run for %s", took)
				}
			})
		})
	}
}
