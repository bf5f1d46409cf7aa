package cli

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/project"
)

// A site is an installation and how to reach it: a laptop's emulators, or an
// account and region of AWS.
type site struct {
	label  string // for people: its URL, or the installation's name and place
	config aws.Config

	bucket, table string
	group         string // of schedules; "" if it is not known
	machine       string // ARN of the state machine, which names the installation
	home          project.Access

	pace    time.Duration // the longest time between two polls of a run
	patient time.Duration // how long to wait for a run to be recorded, and for an installation to answer again
	silence string        // what to check if no function starts a run
}

// at is the site at a URL, which emulators or other servers serve.
func (c *call) at(url string) site {
	return site{
		label: url,
		config: aws.Config{
			Region:        Region,
			BaseEndpoint:  aws.String(strings.TrimSuffix(url, "/")),
			Credentials:   credentials.NewStaticCredentialsProvider(c.keys()),
			ConfigSources: []any{endpoints(c.Getenv)},
		},
		bucket: Name, table: Name, group: Name, machine: MachineARN(), home: home(),
		pace: glance, patient: patient,
		silence: "see stackwright.log in the data folder of serve; at another endpoint, check that uploads start functions there",
	}
}

// home is the laptop's own account and region.
func home() project.Access {
	return project.Access{Target: project.Target{Name: project.DefaultTarget, Account: Account, Region: Region}}
}

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

// until is how long to wait before the next poll of a run that has been followed
// for the given time: short runs are polled often, and long ones seldom, which
// saves requests.
func (s site) until(followed time.Duration) time.Duration {
	return min(max(followed/10, glance), s.pace)
}
