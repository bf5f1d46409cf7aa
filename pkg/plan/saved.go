package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Basis is what the steps of one stack were made from, as digests. If it is the same when a
// plan is made again, the steps do the same. The Basis without a stack is that of everything that
// the project and the request say beside the stacks.
type Basis struct {
	Stack  string `json:"stack"`
	Files  string `json:"files,omitempty"`  // of the stack as the project has it; empty if the project does not have it
	Inputs string `json:"inputs,omitempty"` // of the outputs of the stacks that it depends on; empty if there are none
	Live   string `json:"live"`             // of what CloudFormation reports about the stack

	now string // for people: the same as Live
}

// Basis returns what p, a plan that was made from v, was made from: the settings of the project,
// and then each stack with steps, sorted.
func (v View) Basis(p Plan) ([]Basis, error) {
	nodes := make(map[string]bool)
	for _, s := range p.Steps {
		if s.Node != "" {
			nodes[s.Node] = true
		}
	}
	settings, err := v.settings()
	if err != nil {
		return nil, err
	}
	all := make([]Basis, 1, 1+len(nodes))
	all[0].Files = settings
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		live := v.Live[name]
		b := Basis{Stack: name, Live: live.digest(), now: live.now()}
		if n, ok := v.Desired.Nodes[name]; ok {
			if b.Files, err = n.Digest(); err != nil {
				return nil, err
			}
			b.Inputs = v.inputs(n)
		}
		all = append(all, b)
	}
	return all, nil
}

// settings is the digest of everything that a run does or changes beside the steps of its plan:
// what the project says about itself, such as schedules, who has to approve, and limits; whether
// the run is about some stacks only; and which nodes got other names.
func (v View) settings() (string, error) {
	beside := v.Desired
	beside.Nodes = nil
	renamed := make(map[string]string)
	for name, r := range v.Recorded {
		if r.FormerName != "" {
			renamed[name] = r.FormerName
		}
	}
	rest := v.Selection
	rest.Only, rest.Differing = nil, nil
	text, err := json.Marshal(struct {
		Project   project.Project
		Only      []string
		Renamed   map[string]string
		Selection Selection `json:",omitzero"` // the rest of it
	}{beside, v.Only, renamed, rest})
	if err != nil {
		return "", fmt.Errorf("digest of the settings of %s: %w", v.Desired.ID(), err)
	}
	return digest(text), nil
}

// inputs is the digest of the outputs of the stacks that n depends on.
func (v View) inputs(n project.Node) string {
	var outputs []byte
	for _, name := range n.Needs {
		for _, output := range slices.Sorted(maps.Keys(v.Live[name].Outputs)) {
			outputs = fmt.Appendf(outputs, "%q %q %q\n", name, output, v.Live[name].Outputs[output])
		}
	}
	if len(outputs) == 0 {
		return ""
	}
	return digest(outputs)
}

// digest identifies the state of a stack: everything that changes it changes one of these.
func (l Live) digest() string {
	return digest(fmt.Appendf(nil, "%q %q %q %t %t", l.StackID, l.Status, l.LastUpdated.UTC().Format(time.RFC3339Nano), l.Protected, l.AccessError != ""))
}

// now describes the state of a stack for people.
func (l Live) now() string {
	switch {
	case l.AccessError != "":
		return "it cannot be read: " + l.AccessError
	case l.Status.Gone():
		return "it does not exist"
	case l.LastUpdated.IsZero():
		return "it is " + string(l.Status)
	}
	return fmt.Sprintf("it is %s, last updated at %s", l.Status, l.LastUpdated.UTC().Format(time.DateTime))
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Digest returns the SHA-256 of everything that the plan does, in hex: its steps with their
// order, and what they were made from, with the settings of the project. The plan of a deploy that is only shown and that of
// the deploy have the same one if nothing has changed in between. A person approves the
// plan with this digest.
func (p Plan) Digest(basis []Basis) string {
	text := []byte(p.String())
	for _, b := range basis {
		text = fmt.Appendf(text, "%q %q %q %q\n", b.Stack, b.Files, b.Inputs, b.Live)
	}
	return digest(text)
}

// shortDigest is how many digits of a digest are stored only to say what has changed. Whether
// anything has, the digest of the plan says.
const shortDigest = 12

// Short returns basis with digests that are cut, because a plan of 10,000 stacks has as many.
func Short(basis []Basis) []Basis {
	all := slices.Clone(basis)
	for i, b := range all {
		all[i].Files, all[i].Inputs, all[i].Live = fmt.Sprintf("%.*s", shortDigest, b.Files), fmt.Sprintf("%.*s", shortDigest, b.Inputs), fmt.Sprintf("%.*s", shortDigest, b.Live)
	}
	return all
}

// RefuseRun returns why a run of an operation on a project may not carry out a saved plan that c describes, whatever it
// says; nil if it may.
func (c Changes) RefuseRun(operation, of string) error {
	if planned := c.Project + "@" + c.Environment; planned != of {
		return fault.New(fault.Refused, "plan %.12s is a plan of %s, and this run is of %s: make a plan of %s, and use that one", c.Digest, planned, of, of)
	}
	if c.Operation != PreviewOf(operation) {
		return fault.New(fault.Refused,
			"plan %.12s was made by %s, and a %s carries out only plans that %s has made: plan again",
			c.Digest, CommandOf(c.Operation), CommandOf(operation), CommandOf(PreviewOf(operation)))
	}
	return nil
}

// Refuse returns why a run with the files of a revision may not carry out p in the place of the saved plan that c
// describes, or nil if it is the same plan. Every difference is an error of its own.
func (c Changes) Refuse(revision string, p Plan, basis []Basis) error {
	if c.Digest == p.Digest(basis) && c.Revision == revision {
		return nil
	}
	all := []error{fault.New(fault.Refused, "plan %.12s is out of date, so nothing was done: plan again, and review that plan. This has changed since:", c.Digest)}
	if c.Revision != revision {
		all = append(all, fault.New(fault.Refused, "the files: those of the plan are revision %s, and those of this run %s", c.Revision, revision))
	}
	if len(c.Basis) == 0 { // Fit has left it out: a plan always has that of the settings
		if c.Digest != p.Digest(basis) {
			all = append(all, fault.New(fault.Refused, "the steps, or what they were made from: which of it is not known, because the plan was too large to store that"))
		}
		return errors.Join(all...)
	}
	then, now := byStack(c.Basis), byStack(Short(basis))
	both := maps.Clone(then)
	maps.Copy(both, now)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		was, had := then[name]
		is, has := now[name]
		add := func(what string) { all = append(all, fault.New(fault.Refused, "stack %s: %s", name, what)) }
		switch {
		case name == "" && was != is:
			all = append(all, fault.New(fault.Refused, "what the project or the request says beside the stacks: schedules, approval, limits, policies, a rollback after a failure, or which stacks it is about"))
			continue
		case !had:
			add("the plan does nothing with it, and now it would be changed too")
			continue
		case !has:
			add("the plan changes it, and now nothing would be done with it")
			continue
		}
		if was.Files != is.Files {
			add("the project says something else about it")
		}
		if was.Inputs != is.Inputs {
			add("a stack that it depends on has other outputs")
		}
		if was.Live != is.Live {
			add("it has changed in AWS: " + is.now)
		}
	}
	if len(all) == 1 {
		all = append(all, fault.New(fault.Refused, "the steps of the stacks, or their order"))
	}
	return errors.Join(all...)
}

func byStack(all []Basis) map[string]Basis {
	by := make(map[string]Basis, len(all))
	for _, b := range all {
		by[b.Stack] = b
	}
	return by
}
