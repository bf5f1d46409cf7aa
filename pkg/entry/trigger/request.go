package trigger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// body is what a request object says.
type body struct {
	Operation string `json:"operation"`
	Key       string `json:"key"`     // of the configuration
	Version   string `json:"version"` // of that object
	Options   struct {
		Run   string `json:"run"`   // that it is about
		Force bool   `json:"force"` // retry, though something newer was deployed since; cancel updates too
		Who   string `json:"who"`   // asks

		Reason   string `json:"reason"`   // why it is wished
		Rollback bool   `json:"rollback"` // a deploy that fails, or is cancelled, is followed by a rollback
		Refuse   bool   `json:"refuse"`   // rather than wait while another run holds the lock

		Only         []string `json:"only"`          // names of the stacks that it is about
		MaxDeletions *int     `json:"max_deletions"` // how many stacks may be deleted for good
	} `json:"options"`
}

// What operations are about: a configuration, or a run.
var (
	ofConfiguration = []string{"deploy", "plan"}
	ofRun           = []string{"retry", "pause", "continue", "cancel", "unlock"}
	ofRecords       = []string{"destroy", "refresh"}
)

// Operations that some options are for.
var (
	steering = []string{"pause", "continue", "cancel", "unlock"}
	writing  = []string{"deploy", "destroy", "refresh", "retry"}
	backable = []string{"deploy", "retry", "cancel"}
	forcible = []string{"retry", "cancel"}
)

// selective are the operations that may be about some stacks only.
var selective = []string{"deploy", "plan", "destroy", "refresh"}

// guarded are the operations that may delete only so many stacks.
var guarded = []string{"deploy", "plan", "retry"}

// unknown is the operation of a request that does not say it.
const unknown = "unknown"

// The sizes of a request object and of one text in it, in bytes. S3's keys have
// no more than that, and a run keeps its texts in one item.
const (
	mostBody = 64 << 10
	mostText = 1 << 10
)

// fill completes a request with what its object says.
func fill(ctx context.Context, q run.Request, c created, objects Objects) (run.Request, error) {
	q.Operation = unknown
	text, err := objects.Object(ctx, c.Object.Key, c.Object.Version)
	switch {
	case fault.Is(err, fault.Missing, fault.Invalid, fault.Denied): // asking again is no use
		q.Problems = []string{fmt.Sprintf("the request cannot be read: %v", err)}
		return q, nil
	case err != nil:
		return q, fmt.Errorf("read request %s: %w", c.Object.Key, err)
	}
	asked := ParseRequest(q.Project, text)
	asked.ID, asked.Who = q.ID, cmp.Or(asked.Who, q.Who)
	return asked, nil
}

// Asked returns what the text of a request object asks for of a project. It has
// no ID, and Who is empty unless the text says who asks. What is wrong with it is
// in its Problems.
func ParseRequest(project string, text []byte) run.Request {
	q := run.Request{Project: project, Operation: unknown}
	b, err := decode[body](text)
	if b.Operation != "" {
		q.Operation = short(b.Operation)
	}
	if err != nil {
		q.Problems = []string{"the request is not understood: " + short(err.Error())}
		return q
	}
	if q.Problems = tooLong(b); len(q.Problems) > 0 {
		return q
	}
	q.Source = run.Source{Key: b.Key, Version: b.Version}
	q.Of, q.Force, q.MaxDeletions, q.Only = b.Options.Run, b.Options.Force, b.Options.MaxDeletions, b.Options.Only
	q.Reason, q.Rollback, q.Refuse = b.Options.Reason, b.Options.Rollback, b.Options.Refuse
	q.Who = b.Options.Who
	q.Problems = problems(project, b)
	return q
}

// decode reads one JSON object, with known keys only.
func decode[T any](text []byte) (T, error) {
	var b T
	if len(text) > mostBody {
		return b, fmt.Errorf("it has %d bytes, of at most %d", len(text), mostBody)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		if errors.Is(err, io.EOF) {
			return b, errors.New("it is empty")
		}
		return b, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return b, errors.New("something follows its closing brace")
	}
	if name, err := twice(json.NewDecoder(bytes.NewReader(text))); name != "" || err != nil {
		return b, cmp.Or(err, fmt.Errorf("%q stands there twice", name))
	}
	return b, nil
}

// tooLong tells which texts of a request are longer than any need be.
func tooLong(b body) []string {
	var all []string
	for _, x := range []struct{ name, text string }{
		{"operation", b.Operation}, {"key", b.Key}, {"version", b.Version},
		{"options.run", b.Options.Run}, {"options.who", b.Options.Who}, {"options.reason", b.Options.Reason},
	} {
		if len(x.text) > mostText {
			all = append(all, fmt.Sprintf("%s: it has %d bytes, of at most %d", x.name, len(x.text), mostText))
		}
	}
	return all
}

// short cuts what is too long for a message.
func short(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// runID is what engine.RunID makes.
var runID = regexp.MustCompile(`^[a-z2-7]{20}$`)

// problems tells all that is wrong with a request about a project.
func problems(project string, b body) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	known := slices.Concat(ofConfiguration, ofRecords, ofRun)
	switch {
	case b.Operation == "":
		add("operation: missing: say one of %s", strings.Join(known, ", "))
	case !slices.Contains(known, b.Operation):
		add("operation: there is no %q yet: say one of %s", b.Operation, strings.Join(known, ", "))
	}
	if slices.Contains(ofConfiguration, b.Operation) && b.Key == "" {
		add("key: missing: a %s needs the key of the configuration's object", b.Operation)
	}
	if b.Key != "" {
		if of, ok := belongs(b.Key); !ok {
			add("key: %q is no configuration: it is projects/<project>/<environment>.zip or revisions/<project>/<environment>/<name>.zip (or .tar.gz, .yaml, .yml)", b.Key)
		} else if of != project {
			add("key: %q belongs to %s, and the request to %s: ask for it there", b.Key, of, project)
		}
		if b.Version == "" {
			add("version: missing: say which version of %s is meant", b.Key)
		}
	}
	if b.Version != "" && b.Key == "" {
		add("version: it is the version of no key: say the key too")
	}
	about := slices.Contains(ofRun, b.Operation)
	switch {
	case about && b.Options.Run == "":
		add("options.run: missing: say which run to %s", b.Operation)
	case about && !runID.MatchString(b.Options.Run):
		add("options.run: %q is no run: its ID has 20 lower-case letters and digits", b.Options.Run)
	case !about && b.Options.Run != "" && slices.Contains(known, b.Operation):
		add("options.run: a %s is not about a run: leave it out", b.Operation)
	}
	return append(all, misplaced(b)...)
}

// misplaced tells which options of a request make no sense with its operation.
func misplaced(b body) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	only := func(option string, given bool, operations []string) {
		if given && !slices.Contains(operations, b.Operation) {
			add("options.%s: it is for %s: leave it out", option, strings.Join(operations, ", "))
		}
	}
	only("force", b.Options.Force, forcible)
	only("reason", b.Options.Reason != "", steering)
	only("rollback", b.Options.Rollback, backable)
	only("refuse", b.Options.Refuse, writing)
	only("only", len(b.Options.Only) > 0, selective)
	if slices.Contains(b.Options.Only, "") {
		add("options.only: it has an empty name: leave that out")
	}
	only("max_deletions", b.Options.MaxDeletions != nil, guarded)
	if b.Operation == "unlock" && b.Options.Reason == "" {
		add("options.reason: missing: say why the lock is taken away, for the record")
	}
	if n := b.Options.MaxDeletions; n != nil && *n < 0 {
		add("options.max_deletions: %d: it is a number of stacks, 0 or more", *n)
	}
	return all
}

// belongs returns the project that a configuration's object is of.
func belongs(key string) (string, bool) {
	if p, ok := upload(key); ok {
		return p, true
	}
	return revision(key)
}
