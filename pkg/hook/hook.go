// Package hook has the types of hooks: how each is written in files, and how it is called.
package hook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// CallTime is the longest time that one call may take: a function of Stackwright must end before its step can be
// started again.
const CallTime = 25 * time.Second

// A Type is a type of hooks: a row of All, in a file of its own. All other code reads the columns of the row and never
// its name.
type Type struct {
	Name    string          // the key in files, whose value says what is called
	What    string          // what that value is, for messages
	Form    pattern.Pattern // of that value
	Keys    []Key           // other keys of hooks of the type
	Payload bool            // it passes the message on, so that hooks may have a payload
	Local   bool            // it reaches nothing, so that the installation has nothing to list
	Files   bool            // the value is the path of files of the project, which are stored with the templates of stacks: only for stacks
	Loses   string          // what it deletes, for plans; "" if it deletes no data

	Resource string // the resource type of what the value names, for which it may be OfStack: nothing outlasts a call; "" if it may not

	Moments []project.Moment                                // at which alone it may be called; nil for all
	Awaits  func(on string, now time.Time) Awaited          // what it waits for; nil if it does not wait
	Check   func(on string) error                           // what Form cannot say of that value; nil for nothing
	ARN     func(in project.Target, on string) (arn string) // what that value names, if it is no ARN or URL itself; nil if it is

	Caller // calls it
}

// Awaited is what a hook waits for.
type Awaited struct {
	What  string    // for messages
	Opens time.Time // when it is there at the earliest; zero if nobody knows
}

// String says what it is, and when it is there.
func (a Awaited) String() string {
	if a.Opens.IsZero() {
		return a.What
	}
	return a.What + ", which opens next at " + a.Opens.UTC().Format(time.RFC3339)
}

// A Key is a key of hooks of a type.
type Key struct {
	Name  string
	What  string          // what the value is; "" for any text
	Form  pattern.Pattern // of a value that is not any text
	Plain bool            // the value names nothing that the hook reaches, so that the installation does not list it

	Optional bool   // a hook may lack it
	Loses    string // what a hook deletes whose value is true

	arn func(in project.Target, value string) string
}

// Reaches returns the ARN or the URL of what a value of the key names in a target.
func (k Key) Reaches(in project.Target, value string) string {
	if k.arn == nil {
		return value
	}
	return k.arn(in, value)
}

// OtherKeys lists the names of the keys besides that of the type.
func (t Type) OtherKeys() []string {
	var names []string
	for _, k := range t.Keys {
		names = append(names, k.Name)
	}
	return names
}

// Reached lists the keys whose values have a form. They name what hooks of the type reach, unless they are plain. The first is that of
// the type.
func (t Type) Reached() []Key {
	all := []Key{{Name: t.Name, What: t.What, Form: t.Form, Plain: t.Files, arn: t.ARN}}
	for _, k := range t.Keys {
		if k.What != "" {
			all = append(all, k)
		}
	}
	return all
}

// A Caller calls hooks of one type.
type Caller interface {
	// Call calls the hook once, and returns what it has started, if anything outlasts the call. Repeated with the same
	// token, it starts nothing new where the service can tell. The error is of kind Throttled if the call had certainly no
	// effect and can be repeated, Unavailable if nobody knows, and any other kind if the hook has failed.
	Call(context.Context, Services, Call) (started string, err error)

	// Ended reports whether what Call has started is over, with an error of kind Refused if it has failed.
	Ended(context.Context, Services, Call) (bool, error)

	// Stop stops what Call has started.
	Stop(context.Context, Services, Call) error
}

// instant is the rest of a Caller if nothing outlasts a call.
type instant struct{}

// Ended reports that the call is over.
func (instant) Ended(context.Context, Services, Call) (bool, error) { return true, nil }

// Stop does nothing.
func (instant) Stop(context.Context, Services, Call) error { return nil }

// All lists the types of this version.
func All() []Type {
	return []Type{invokeType(), startType(), eventType(), publishType(), parameterType(), windowType(), webhookType(), alarmType(), emptyType(), uploadType(), suspendType(), resumeType()}
}

// Named returns the type of the given name. It reports false if there is none.
func Named(name string) (Type, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Type{}, false
}

// Names lists the names of the types.
func Names() []string {
	var names []string
	for _, t := range All() {
		names = append(names, t.Name)
	}
	return names
}

// Services are what hooks call, each in the account and region of a target and with its role. The errors are of the
// kinds that Type.Call says.
type Services struct {
	Functions  Functions
	Machines   Machines
	Buses      Buses
	Topics     Topics
	Parameters Parameters
	Secrets    Secrets
	Webhooks   Webhooks
	Alarms     Alarms
	Buckets    Buckets
	Objects    Objects
	Files      Files
	Groups     ScalingGroups
	Stacks     Stacks
	Allowed    Allowed
	Own        Allowed // the installation's own functions, state machine, topics and bucket, which no hook may reach
}

// A Call is a call of a hook.
type Call struct {
	Token   string // the same when the call is repeated after a crash
	Target  project.Target
	Type    string
	Values  map[string]string // by key
	Files   string            // the digest of the files of the project that it uses
	Started string            // what Call has returned
	Now     time.Time

	Message Message
}

// On is what the call is about: the value of the key of its type.
func (c Call) On() string { return c.Values[c.Type] }

// inTarget returns the last part of an ARN that is in the account and region of the target. The error is of kind Invalid for
// another one.
func (c Call) inTarget(arn string) (string, error) {
	part := strings.SplitN(arn, ":", 6)
	if len(part) < 6 || part[3] != c.Target.Region || part[4] != c.Target.Account {
		return "", fault.New(fault.Invalid, "%s is not in the account and region of the target %s: write an ARN with ${account} and ${region}", arn, c.Target.Name)
	}
	return part[5], nil
}

// project is the project whose hook it is.
func (c Call) project() string { return project.ID(c.Message.Project, c.Message.Environment) }

// A Message is what a hook gets, as JSON.
type Message struct {
	Token       string            `json:"token"` // the idempotency key
	Project     string            `json:"project"`
	Environment string            `json:"environment"`
	Run         string            `json:"run"`
	Hook        string            `json:"hook"`
	Moment      project.Moment    `json:"moment"`
	Stack       string            `json:"stack,omitempty"`      // in the project; empty for a hook of a deploy
	StackName   string            `json:"stack_name,omitempty"` // in CloudFormation
	Account     string            `json:"account"`
	Region      string            `json:"region"`
	Payload     map[string]string `json:"payload,omitempty"`
}

// JSON is the message.
func (m Message) JSON() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fault.New(fault.Broken, "message of hook %s: %w", m.Hook, err)
	}
	return b, nil
}

// Call calls the hook c, if its installation allows that.
func (s Services) Call(ctx context.Context, c Call) (started string, err error) {
	t, err := c.typed()
	if err != nil {
		return "", err
	}
	for _, k := range t.Reached() {
		if _, has := c.Values[k.Name]; !has && k.Optional {
			continue
		}
		if !k.Form.MatchString(c.Values[k.Name]) {
			return "", fault.New(fault.Invalid, "%s: %q is not %s", k.Name, c.Values[k.Name], k.What)
		}
	}
	if t.Check != nil {
		if err := t.Check(c.On()); err != nil {
			return "", err
		}
	}
	if err := t.At(c.Message.Moment); err != nil {
		return "", err
	}
	if t.Local {
		return t.Call(ctx, s, c)
	}
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	if t.Finds(c.On()) {
		return "", s.callEach(ctx, t, c)
	}
	if err := s.permitAll(t, c); err != nil {
		return "", err
	}
	return t.Call(ctx, s, c)
}

// permitAll returns an error of kind Denied if a call may not reach what it names.
func (s Services) permitAll(t Type, c Call) error {
	for _, k := range t.Reached() {
		if k.Plain {
			continue
		}
		if err := s.permit(c.project(), k.Reaches(c.Target, c.Values[k.Name])); err != nil {
			return err
		}
	}
	return nil
}

// permit returns an error of kind Denied if the hooks of a project may not reach a thing.
func (s Services) permit(id, thing string) error {
	if err := s.Allowed.Permit(id, thing); err != nil {
		return err
	}
	return s.Own.Spare(id, thing)
}

// At returns an error of kind Invalid if hooks of the type are not called at a moment.
func (t Type) At(m project.Moment) error {
	if t.Files && !slices.Equal(project.StackMoments()[m], []project.Moment{m}) {
		return fault.New(fault.Invalid, "hooks of the type %s are only for stacks: move it into the hooks of a stack", t.Name)
	}
	if t.Moments == nil || slices.Contains(t.Moments, m) {
		return nil
	}
	var all []string
	for _, one := range t.Moments {
		all = append(all, string(one))
	}
	return fault.New(fault.Invalid, "hooks of the type %s are only for %s, and not for %s: move it", t.Name, strings.Join(all, " and "), m)
}

// Ended reports whether what the call c has started is over.
func (s Services) Ended(ctx context.Context, c Call) (bool, error) {
	t, err := c.typed()
	if err != nil {
		return false, err
	}
	return t.Ended(ctx, s, c)
}

// Stop stops what the call c has started.
func (s Services) Stop(ctx context.Context, c Call) error {
	t, err := c.typed()
	if err != nil {
		return err
	}
	return t.Stop(ctx, s, c)
}

// typed returns the type of the call.
func (c Call) typed() (Type, error) {
	t, ok := Named(c.Type)
	if !ok {
		return t, fault.New(fault.Broken, "this version does not know the type %q of hooks: deploy the newer functions", c.Type)
	}
	return t, nil
}
