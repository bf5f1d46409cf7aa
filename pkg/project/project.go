// Package project says what the user wants: stacks, where they go, what each
// needs.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// DefaultEnvironment is the environment that need not be listed and is not part
// of a stack's name.
const DefaultEnvironment = "default"

// DefaultTarget is the orchestrator's own account and region.
const DefaultTarget = "default"

// What a project and an environment may be called.
var (
	Name            = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,63}$`)
	EnvironmentName = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9]{0,63}$`)
)

// A Project is the desired state: a set of stacks deployed as one.
type Project struct {
	Name         string          `json:"name"`
	Environment  string          `json:"environment"`
	Nodes        map[string]Node `json:"nodes"`
	MaxDeletions *int            `json:"max_deletions,omitempty"` // how many stacks a deploy may delete for good; nil is plan's default
	Timeout      Timeout         `json:"timeout,omitempty"`       // of a run
	Rollback     bool            `json:"rollback,omitempty"`      // a deploy that fails is followed by a rollback

	Schedules map[string]Schedule `json:"schedules,omitempty"` // by name; what is done though nobody asks
}

// ID names the project and environment, as in "shop@prod": the unit that has
// one writer.
func (p Project) ID() string { return ID(p.Name, p.Environment) }

// ID joins a project's name and an environment's.
func ID(name, environment string) string { return name + "@" + environment }

// StackName is the physical name of a stack, unless the user gives another:
// project-environment-stack, without the environment if that is the default one,
// and with hyphens for slashes.
func StackName(project, environment, stack string) string {
	parts := []string{project, environment, strings.ReplaceAll(stack, "/", "-")}
	if environment == DefaultEnvironment {
		parts = slices.Delete(parts, 1, 2)
	}
	return strings.Join(parts, "-")
}

// Graph returns the nodes of p, each after what it needs. Needs that are no
// nodes are refused, all at once; a ring shows when they are put in order.
func (p Project) Graph() (*graph.Graph[string], error) {
	var g graph.Graph[string]
	var unknown []error
	for _, name := range slices.Sorted(maps.Keys(p.Nodes)) {
		g.Add(name)
		for _, need := range p.Nodes[name].Needs {
			if _, ok := p.Nodes[need]; !ok {
				unknown = append(unknown, fault.New(fault.Invalid, "stack %s needs %s, which is not in project %s", name, need, p.Name))
			}
			g.Add(name, need)
		}
	}
	return &g, errors.Join(unknown...)
}

// A Target is where a stack goes.
type Target struct {
	Name    string `json:"name"`
	Account string `json:"account"` // twelve digits
	Region  string `json:"region"`
}

// Where names the account and region, which share out requests among all that
// is there: "111122223333#eu-west-1". It is empty if the account is not known.
func (t Target) Where() string {
	if t.Account == "" {
		return ""
	}
	return t.Account + "#" + t.Region
}

// A Template is a CloudFormation template, known by what it says.
type Template struct {
	Digest string `json:"digest"` // SHA-256 of its bytes, in hex
	Bytes  int    `json:"bytes"`
	Pinned bool   `json:"pinned"` // whether its bytes and the parameters' values alone say what it deploys
}

// MaxInline is the number of bytes of a template that a request can carry. A
// larger one is read by CloudFormation from S3.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
const MaxInline = 51_200

// A Node is one stack in one target.
type Node struct {
	Name         string          `json:"name"`  // "network/vpc", or "network/vpc@eu" where a stack has several targets
	Stack        string          `json:"stack"` // the physical name
	Target       Target          `json:"target"`
	Template     Template        `json:"template"`
	Parameters   map[string]Text `json:"parameters,omitempty"`
	Tags         map[string]Text `json:"tags,omitempty"`
	Capabilities []string        `json:"capabilities,omitempty"` // sorted
	Protect      bool            `json:"protect,omitempty"`      // CloudFormation's termination protection
	Needs        []string        `json:"needs,omitempty"`        // nodes, sorted: named, referred to or imported from
	Timeout      Timeout         `json:"timeout,omitempty"`      // of one operation on it
}

// Digest names the node by all that it says, in hex.
func (n Node) Digest() (string, error) { return digest(n) }

// A Resolved is a node whose references to outputs have been replaced by their
// values: what CloudFormation is asked for.
type Resolved struct {
	Parameters map[string]string
	Tags       map[string]string
	Digest     string // of all that CloudFormation would be told, in hex
}

// Resolve replaces n's references to outputs. lookup returns the value of an
// output of a node, or an error that says why there is none.
func (n Node) Resolve(lookup func(node, output string) (string, error)) (Resolved, error) {
	var r Resolved
	var err error
	if r.Parameters, err = resolve("parameter", n.Parameters, lookup); err != nil {
		return r, err
	}
	if r.Tags, err = resolve("tag", n.Tags, lookup); err != nil {
		return r, err
	}
	told := struct {
		Stack, Template  string
		Target           Target
		Parameters, Tags map[string]string
		Capabilities     []string
		Protect          bool
	}{n.Stack, n.Template.Digest, n.Target, r.Parameters, r.Tags, n.Capabilities, n.Protect}
	r.Digest, err = digest(told)
	return r, err
}

// Sources lists the nodes whose outputs n refers to, sorted.
func (n Node) Sources() []string {
	var all []string
	for _, texts := range []map[string]Text{n.Parameters, n.Tags} {
		for _, t := range texts {
			for _, p := range t {
				if p.Node != "" {
					all = append(all, p.Node)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// digest is the SHA-256 of v as JSON, in hex. Go writes a map's keys in order.
func digest(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fault.New(fault.Broken, "digest: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
