package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	accounts "github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A session is a connection to an installation: on AWS, at a server on the laptop, or
// at a server that runs only during this command.
type session struct {
	site
	call       *call
	connection *connection // leads to the server of a data folder; nil otherwise
	to         installation
	places     *accounts.Accounts // reaches the accounts of targets, with the user's own permissions
	readOnly   bool               // the host does not continue runs
	changes    bool               // the plan that was printed has changes
	denied     bool               // policies deny the plan that was printed
	lost       time.Time          // since when the server does not answer
}

// An installation is what commands read and steer.
type installation interface {
	reader
	starter
	registry

	// Caller names the user as the installation does.
	Caller(ctx context.Context) string
}

// A reader reads what an installation has recorded. Projects are named as in "shop@prod".
type reader interface {
	report.Runs

	// Projects lists the projects that the user may read, sorted.
	Projects(ctx context.Context) ([]string, error)

	// List returns the newest runs of a project, newest first, without steps; 0 is all.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// ListRuns returns the newest selected runs of the projects that the user may read, newest first, without steps; 0 is all.
	ListRuns(ctx context.Context, f report.RunFilter, most int) ([]run.Run, error)

	// ListEnvironments returns the environments that the user may read and that live, sorted.
	ListEnvironments(ctx context.Context, s report.Scope) ([]report.LivingEnvironment, error)

	// ListEvents returns selected events of the projects that the user may read, of the newest run first, and the runs of which there are more; 0 is all.
	ListEvents(ctx context.Context, f report.EventFilter, most int) (events []report.EventOfRun, cut []string, err error)

	// Follow returns a run with its steps, or an error of kind Missing. To follow a run again costs little.
	Follow(ctx context.Context, id string) (run.Run, error)

	// Changes returns what the plan of a run would change, as JSON of plan.Changes.
	Changes(ctx context.Context, r run.Run) ([]byte, error)

	// Execution returns the status of the newest execution of a run.
	Execution(ctx context.Context, r run.Run) (engine.ExecutionStatus, error)

	// Records returns the records of a project by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)

	// Audited returns the changes that were requested for a project, newest first.
	Audited(ctx context.Context, project string) ([]report.AuditEntry, error)

	// AuditedAll returns the changes that were requested for all projects and for the installation, as far as the caller may read
	// them, newest first.
	AuditedAll(ctx context.Context) ([]report.AuditEntry, error)

	// History returns the steps that changed a stack, or tried to, newest first.
	History(ctx context.Context, project, stack string) ([]report.PastStep, error)

	revisions

	// Schedules lists the schedules of a project, sorted by name.
	Schedules(ctx context.Context, project string) ([]project.Scheduled, error)
}

// revisions reads the revisions of projects. A word names one as run.History.Revision finds it.
type revisions interface {
	// Revisions lists the revisions of a project, newest first, each configuration once.
	Revisions(ctx context.Context, project string) ([]report.Revision, error)

	// Revision returns the revision that a word names, or an error of kind Missing, or Refused if the word may mean several.
	Revision(ctx context.Context, project, word string) (report.Revision, error)

	// Snapshots lists the snapshots of a project, newest first.
	Snapshots(ctx context.Context, project string) ([]report.Snapshot, error)

	// Difference returns what differs between the files that two words name.
	Difference(ctx context.Context, project, from, to string) (report.Difference, error)
}

// A starter starts and steers runs. An archive is a ZIP file with the files of a project.
type starter interface {
	// Deploy uploads an archive, which starts a run that supersedes older uploads, and returns the run's ID.
	Deploy(ctx context.Context, project string, archive []byte) (id string, err error)

	// Store uploads an archive that a request then names.
	Store(ctx context.Context, project string, archive []byte) (run.Source, error)

	// Request starts a run, and returns its ID.
	Request(ctx context.Context, q run.Request) (id string, err error)

	// Command gives the command of q to a run. A refusal is an error of kind Refused, or the ID of a run that will
	// be refused instead.
	Command(ctx context.Context, q run.Request) (refusal string, err error)
}

// A registry has the registered targets.
type registry interface {
	// Targets returns the registered targets by name.
	Targets(ctx context.Context) (map[string]project.Access, error)

	// Access returns a registered target, or an error of kind Missing.
	Access(ctx context.Context, name string) (project.Access, error)

	// UnitAccounts lists the accounts of a target of an organizational unit.
	UnitAccounts(ctx context.Context, name string) (report.UnitAccountPage, error)

	// AddTarget registers a target, or changes one, and returns it with its external ID.
	AddTarget(ctx context.Context, a project.Access) (project.Access, error)

	// RemoveTarget removes a target that has no stacks.
	RemoveTarget(ctx context.Context, name string) error

	// Purge deletes some of what is old, or says what it would delete.
	Purge(ctx context.Context, q report.PurgeRequest) (report.Purged, error)
}

// open connects to the installation that the call names, or to the server at its
// endpoint, or to the server that has the data folder. If no server has the data
// folder, open hosts one, which continues the unfinished runs of the folder.
func (c *call) open(ctx context.Context) (*session, error) { return c.openSession(ctx, false) }

// openReadOnly is open for commands that only read: a server that it hosts is
// paused, so that reading changes nothing.
func (c *call) openReadOnly(ctx context.Context) (*session, error) { return c.openSession(ctx, true) }

func (c *call) openSession(ctx context.Context, readOnly bool) (*session, error) {
	switch {
	case c.flags.onAWS():
		there, err := c.site(ctx)
		if err == nil {
			err = c.confirmPlace(there)
		}
		return c.connect(there), err
	case c.flags.endpoint != "":
		there := c.siteAt(c.flags.endpoint)
		return c.connect(there), c.confirmPlace(there)
	}
	if err := c.confirmPlace(c.siteAt("")); err != nil {
		return nil, err
	}
	d, err := c.openConnection(ctx, readOnly)
	if err != nil {
		return nil, err
	}
	at := c.siteAt(d.url())
	at.config.HTTPClient = d.client()
	s := c.connect(at)
	s.connection, s.readOnly = d, readOnly
	return s, nil
}

// connect returns a session with a site. It sends no request.
func (c *call) connect(at site) *session {
	s := &session{site: at, call: c}
	s.to = at.api
	if at.api == nil {
		s.to = directly(at, s.who)
	}
	s.places = accounts.New(at.config, at.home, s.to)
	return s
}

// retryable returns errGap for an error that may pass: the installation does not
// answer. After two minutes the error is a lostError. Other errors it returns as they are.
func (s *session) retryable(err error) error {
	if s.host() != nil || !isUnreachable(err) {
		s.lost = time.Time{}
		return err
	}
	if s.lost.IsZero() {
		s.lost = time.Now()
	}
	if time.Since(s.lost) > answerTimeout {
		return &lostError{s.label, rootOf(err).Error()}
	}
	return errGap
}

// isUnreachable reports whether an error says that the server or the network does not
// answer, or that a service is throttling.
func isUnreachable(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) ||
		fault.Is(err, fault.Unavailable, fault.Throttled)
}

// in calls f with a session that enter opens, and then ends the server of this process. If
// another run is still in progress there, a background process continues it.
func (c *call) in(ctx context.Context, enter func(context.Context) (*session, error), f func(*session) (int, error)) (int, error) {
	s, err := enter(ctx)
	if err != nil {
		return ExitFailed, err
	}
	code, err := f(s)
	switch {
	case s.host() == nil:
		return code, err
	case s.readOnly:
		if !s.host().Idle(ctx) {
			fmt.Fprintf(c.Err, "%s in data folder %s, and no server goes on with it: run %s\n", s.interrupted(ctx), c.flags.data, c.commandLine("serve"))
		}
	case ctx.Err() == nil && !waitUntilIdle(ctx, s.host()):
		return code, errors.Join(err, s.continueInBackground(ctx))
	}
	return code, errors.Join(err, s.end())
}

// interrupted says what no server continues: runs, but not those that wait for a person, or the delivery of events.
func (s *session) interrupted(ctx context.Context) string {
	runs, err := s.runs(ctx)
	if err != nil {
		return "runs may be in progress" // the command has succeeded
	}
	runs = slices.DeleteFunc(runs, func(r run.Run) bool { return r.State.Over() || r.State == run.StateWaiting })
	switch len(runs) {
	case 0:
		return "events are not delivered"
	case 1:
		return "run " + described(runs[0]) + " is in progress"
	}
	return fmt.Sprintf("%d runs are in progress", len(runs))
}

// end ends the server of this process.
func (s *session) end() error { return s.connection.end() }

// host returns the server of this process, or nil.
func (s *session) host() Host { return s.connection.hosted() }

// callerTimeout is how long to wait for STS to identify the caller.
const callerTimeout = 5 * time.Second

// who names the requester. On AWS it is the caller's ARN. On a laptop, or if STS
// does not answer, it is the user of this machine: a request must not fail because
// its requester is known less exactly.
func (s *session) who(ctx context.Context) string {
	if s.call.requester != "" {
		return s.call.requester
	}
	s.call.requester = s.call.user()
	if !s.call.flags.onAWS() {
		return s.call.requester
	}
	ctx, cancel := context.WithTimeout(ctx, callerTimeout)
	defer cancel()
	if arn, err := accounts.CallerARN(ctx, s.config); err == nil {
		s.call.requester = arn
	}
	return s.call.requester
}

// user is the user of this machine: "ann@laptop".
func (c *call) user() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	for _, v := range []string{"USER", "LOGNAME", "USERNAME"} {
		if user := c.Getenv(v); user != "" {
			return user + "@" + host
		}
	}
	return "somebody@" + host
}

// hosting says how the call hosts a laptop's installation.
func (c *call) hosting(address string, readOnly bool) Hosting {
	console := c.console()
	if readOnly {
		console = ""
	}
	return Hosting{
		Console: console, Data: c.flags.data, Functions: c.flags.functions, Seconds: c.flags.seconds, Getenv: c.Getenv, Web: c.Web,
		Address: address, Exposed: c.flags.exposed, ReadOnly: readOnly,
	}
}

// console is where the call serves the page: unless the user says where, a command does so if it draws on a terminal, as a
// person who can open the page is there.
func (c *call) console() string {
	switch {
	case c.flags.console == "off":
		return ""
	case c.flags.console == "" && (c.flags.open || c.drawsTree()):
		return "auto"
	}
	return c.flags.console
}

// showPage prints the address of the page, if it is served, and opens it if the user wants that.
func (c *call) showPage(h Host) {
	if h.Page() == "" {
		return
	}
	fmt.Fprintf(c.Err, "in a browser: %s\n", h.Page())
	if c.flags.open {
		c.openPage(h.Page())
	}
}

// openPage opens the page in the user's browser. A machine without one is no reason to stop.
func (c *call) openPage(url string) {
	browse := c.Browse
	if browse == nil {
		browse = openInBrowser
	}
	if err := browse(url); err != nil {
		fmt.Fprintf(c.Err, "no browser was opened: %v\n", err)
	}
}

// openInBrowser opens a URL with the program that the system has for that.
func openInBrowser(url string) error {
	opener := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	cmd := exec.Command(opener[0], append(opener[1:], url)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// waitUntilIdle reports whether all runs have ended or wait. It waits a moment for the
// last execution, because the end of a run is written before its execution ends.
func waitUntilIdle(ctx context.Context, h Host) bool {
	for range 100 {
		if h.Idle(ctx) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(firstPoll):
		}
	}
	return false
}
