package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/cli/httpapi"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A Laptop hosts installations in this process, on emulators of AWS.
type Laptop interface {
	// Start hosts the installation of a data folder. The error is Busy
	// if another process hosts it.
	Start(context.Context, Hosting) (Host, error)

	// Serve is Start for the serve command. If a command uses the folder, Serve waits
	// a moment for it. A background process that hosts the folder hands it over.
	Serve(context.Context, Hosting) (Host, error)

	// Holder reports whether a process hosts a data folder, and its URL, which
	// is empty as long as the process opens or closes the folder.
	Holder(data string) (url string, held bool, err error)

	// Invoke sends the event in a file to the binary of the function that the
	// file is named after, at an installation of its own. failed reports that the
	// answer is the function's error.
	Invoke(ctx context.Context, file string, log io.Writer) (answer []byte, failed bool, err error)
}

// A Hosting says how a laptop's installation is to be hosted.
type Hosting struct {
	Data      string  // folder with its state; "" is memory
	Address   string  // to listen at
	Exposed   bool    // other machines may reach the address
	Console   string  // to serve the page at, auto for the usual one; "" is no page
	Functions string  // inprocess or binaries
	Seconds   float64 // that an operation on a stack takes
	Getenv    func(string) string
	Web       remote.Web     // gets files from web servers; nil is the Internet
	Servers   notify.Servers // that events are delivered to; nil is the Internet
	Log       io.Writer      // nil is a file in the data folder
	OnEvent   func(Event)    // is called with each event, in their order; may be nil
	ReadOnly  bool           // runs do not continue, and no data folder is made
	HandsOver bool           // hands the folder over to a server that asks for it
}

// An Event is one of the laptop's event bus, as EventBridge has it.
type Event struct {
	Source, DetailType string
	Time               time.Time
	Detail             []byte // JSON
}

// A Host is an installation that this process hosts.
type Host interface {
	URL() string
	Page() string              // the URL of the page, "" if it is not served
	Idle(context.Context) bool // no run is in progress, and no event waits for delivery
	Delivering() bool          // an event waits for a function to take it
	Failed() <-chan error      // receives the error that ended the server
	Close() error              // runs in progress continue when the folder is hosted again
}

// The installation on a laptop.
const (
	Account = "000000000000"
	Region  = "us-east-1"
	Name    = "stackwright" // of the bucket, the table, the state machine and the schedule group
)

// MachineARN is the ARN of a laptop's state machine, which identifies the installation.
func MachineARN() string {
	return fmt.Sprintf("arn:aws:states:%s:%s:stateMachine:%s", Region, Account, Name)
}

// A site is an installation and how to reach it: a laptop's emulators, or an
// account and region of AWS.
type site struct {
	label    string // for people: its URL, or the installation's name and place
	emulated string // of a laptop: the folder of its emulators, or their URL; "" is an installation on AWS
	config   aws.Config

	bucket, table string
	group         string // of schedules; "" if it is not known
	machine       string // ARN of the state machine, which names the installation
	home          project.Access
	stack         string // the installation's name
	owner         access.Owner
	accounts      []string     // the other accounts whose roles it may assume; nil is all
	organization  string       // how it asks AWS Organizations, as the setting says: a role, or own; "" if it does not
	api           *httpapi.API // its HTTP API; nil if it is reached directly

	pace    time.Duration // the longest time between two polls of a run
	timeout time.Duration // how long to wait for a run to be recorded, and for an installation to answer again
	silence string        // what to check if no function starts a run
}

// siteAt is the site at a URL, which emulators or other servers serve.
func (c *call) siteAt(url string) site {
	return site{
		label: url, emulated: cmp.Or(c.flags.endpoint, c.flags.data),
		config: aws.Config{
			Region:        Region,
			BaseEndpoint:  aws.String(strings.TrimSuffix(url, "/")),
			Credentials:   credentials.NewStaticCredentialsProvider(c.keys()),
			ConfigSources: []any{endpoints(c.Getenv)},
		},
		bucket: Name, table: Name, group: Name, machine: MachineARN(), home: home(), stack: Name, organization: "own",
		pace: pollInterval, timeout: recordTimeout,
		silence: "see stackwright.log in the data folder of serve; at another endpoint, check that uploads start functions there",
	}
}

// home is the laptop's own account and region. Every project may use it.
func home() project.Access {
	return project.Access{Target: project.Target{Name: project.DefaultTarget, Account: Account, Region: Region}, Projects: Projects()}
}

// Projects are the projects that may use the target default of a laptop.
func Projects() project.Grants { return project.Grants{"*@*"} }

// keys are the user's, for endpoints of the user's own; the emulators accept any.
func (c *call) keys() (id, secret, token string) {
	id, secret = c.Getenv("AWS_ACCESS_KEY_ID"), c.Getenv("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		return "local", "local", ""
	}
	return id, secret, c.Getenv("AWS_SESSION_TOKEN")
}

// endpoints gives the SDK the variables AWS_ENDPOINT_URL_<SERVICE>, and no others
// of the environment.
type endpoints func(string) string

// GetServiceBaseEndpoint is what the SDK asks its configuration sources for.
func (e endpoints) GetServiceBaseEndpoint(_ context.Context, sdkID string) (string, bool, error) {
	url := e("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(sdkID), " ", "_"))
	return url, url != "", nil
}

// until is how long to wait before the next poll of a run that the command has followed
// for the given time. Short runs are polled often, so that the command ends when they end;
// long runs seldom, to save requests.
func (s site) until(followed time.Duration) time.Duration {
	return min(max(followed/5, firstPoll), s.pace)
}

// invoke sends an event to a function's binary, and shows what it answers. An
// error of the function is an answer too.
func invoke(ctx context.Context, c *call) (int, error) {
	answer, failed, err := c.Laptop.Invoke(ctx, c.args[0], c.Err)
	if err != nil {
		return ExitFailed, err
	}
	if _, err := fmt.Fprintln(c.Out, strings.TrimSpace(string(answer))); err != nil || failed {
		return ExitFailed, err
	}
	return ExitOK, nil
}
