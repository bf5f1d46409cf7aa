package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Destination is where events of runs are delivered to. The owner of the installation lists all of them. It is written as
//
//	ops;webhook=https://ops.example.com/stackwright;secret=arn:…;projects=*@prod+shop@*;states=failed+waiting
//
// with one of the formats as a key, whose value says where to.
type Destination struct {
	Name     string
	Format   string         // the name of a row of formats
	To       string         // a URL, a channel or a host: see the format
	Secret   string         // ARN of a secret of Secrets Manager, in the account and region of the installation; "" if the format needs none
	Projects project.Grants // whose runs; none is all
	States   []run.State    // of which events; none is those of the format
}

// Destinations are all of an installation.
type Destinations []Destination

// MaxSetting is how many characters the destinations of an installation may have: they are in the environment of a function, for
// which Lambda has 4 KB.
const MaxSetting = 2000

var (
	nameForm   = pattern.New(`^[a-z][a-z0-9-]{0,31}$`)
	secretForm = pattern.New(`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]{1,512}-[A-Za-z0-9]{6}$`)
)

// states are those of events.
var states = []run.State{
	run.StateQueued, run.StateRunning, run.StateWaiting, run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateSuperseded, run.StateRefused,
}

// Parse reads destinations that are separated by commas. The error is of kind Invalid and lists everything that is wrong. It does not
// repeat a URL, because somebody may have written a credential into it.
func Parse(text string) (Destinations, error) {
	var all Destinations
	var wrong []string
	if len(text) > MaxSetting {
		wrong = append(wrong, fmt.Sprintf("the destinations have more than %d characters: shorten them, or make two installations", MaxSetting))
	}
	for n, entry := range project.Listed(text) {
		d, faults := parse(entry)
		if slices.ContainsFunc(all, func(other Destination) bool { return other.Name == d.Name }) {
			faults = append(faults, "another destination has this name: choose another one")
		}
		for _, f := range faults {
			wrong = append(wrong, fmt.Sprintf("destination %d, %s: %s", n+1, d.Name, f))
		}
		all = append(all, d)
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "notify: %s", strings.Join(wrong, "; "))
	}
	return all, nil
}

// parse reads one destination.
func parse(entry string) (d Destination, wrong []string) {
	fields := strings.Split(entry, ";")
	if d.Name = fields[0]; !nameForm.MatchString(d.Name) {
		d.Name = "which has no name"
		wrong = append(wrong, "begin it with a name of up to 32 lower-case letters, digits and hyphens, such as ops;webhook=https://…")
	}
	seen := make(map[string]bool)
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		if seen[key] {
			wrong = append(wrong, key+" is written twice: remove one")
		}
		seen[key] = true
		if err := d.set(key, value); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if d.Format == "" {
		wrong = append(wrong, "it does not say where to: add one of "+formatNames()+", with = and a value")
	}
	switch f, _ := formatOf(d.Format); {
	case f.inside && d.Secret != "":
		wrong = append(wrong, "it needs no secret: remove it")
	case !f.inside && d.Secret == "":
		wrong = append(wrong, "it has no secret: add secret= and the ARN of a secret of Secrets Manager, with the six characters at its end")
	}
	return d, wrong
}

// set sets a field.
func (d *Destination) set(key, value string) (err error) {
	switch key {
	case "secret":
		if d.Secret = value; !secretForm.MatchString(value) {
			return fault.New(fault.Invalid, "secret is not the ARN of a secret of Secrets Manager, with the six characters at its end")
		}
	case "projects":
		d.Projects, err = project.ParseGrants(strings.ReplaceAll(value, "+", ","))
		if err == nil && len(d.Projects) == 0 {
			err = fault.New(fault.Invalid, "projects is empty: write patterns such as shop@prod+team-*@*, or leave it out for all")
		}
		return err
	case "states":
		for one := range strings.SplitSeq(value, "+") {
			if !slices.Contains(states, run.State(one)) {
				return fault.New(fault.Invalid, "%q is no state of an event: the states are %s", one, join(states))
			}
			d.States = append(d.States, run.State(one))
		}
	default:
		f, ok := formatOf(key)
		switch {
		case !ok && !nameForm.MatchString(key): // perhaps a URL
			return fault.New(fault.Invalid, "it has a part that is no key: the keys are %s, secret, projects and states", formatNames())
		case !ok:
			return fault.New(fault.Invalid, "%q is no key: the keys are %s, secret, projects and states", key, formatNames())
		case d.Format != "":
			return fault.New(fault.Invalid, "it has the formats %s and %s: make two destinations", d.Format, key)
		}
		d.Format, d.To = key, value
		return f.check(value)
	}
	return nil
}

// String returns the destination as Parse reads it.
func (d Destination) String() string {
	all := []string{d.Name, d.Format + "=" + d.To}
	if d.Secret != "" {
		all = append(all, "secret="+d.Secret)
	}
	if d.Projects != nil {
		all = append(all, "projects="+strings.Join(d.Projects, "+"))
	}
	if d.States != nil {
		all = append(all, "states="+strings.ReplaceAll(join(d.States), ", ", "+"))
	}
	return strings.Join(all, ";")
}

// String returns the destinations with commas, as Parse reads them.
func (all Destinations) String() string {
	var texts []string
	for _, d := range all {
		texts = append(texts, d.String())
	}
	return strings.Join(texts, ",")
}

// Secrets lists the ARNs of the secrets, each once, sorted.
func (all Destinations) Secrets() []string {
	var arns []string
	for _, d := range all {
		if d.Secret != "" {
			arns = append(arns, d.Secret)
		}
	}
	slices.Sort(arns)
	return slices.Compact(arns)
}

// Has reports whether a destination has a format.
func (all Destinations) Has(format string) bool {
	return slices.ContainsFunc(all, func(d Destination) bool { return d.Format == format })
}

// wants reports whether an event is delivered to d.
func (d Destination) wants(e Event) bool {
	of := d.States
	if of == nil {
		f, _ := formatOf(d.Format)
		of = f.states
	}
	return slices.Contains(of, e.State) && (d.Projects == nil || d.Projects.Allow(e.Project))
}

func join(all []run.State) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, string(s))
	}
	return strings.Join(texts, ", ")
}

// A format is a kind of destination: a row of formats, in a file of its own.
type format struct {
	name   string                   // the key of a destination, whose value says where to
	check  func(value string) error // what is wrong with that value
	states []run.State              // the events that a destination gets which names none
	inside bool                     // it is in the installation, and needs no secret

	// send delivers one event, and returns the thread that the next event of the run continues; "" for none.
	send func(ctx context.Context, by *Deliverer, to Destination, m message) (thread string, err error)
}

// formats lists the formats.
func formats() []format {
	return []format{webhookFormat(), slackFormat(), teamsFormat(), reportFormat()}
}

func formatOf(name string) (format, bool) {
	for _, f := range formats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
