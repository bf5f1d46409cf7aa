package plan

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Desired is how a plan leaves a stack, for policies. It has no secret: "****" stands for
// one. A value that is known only when the stack is deployed is the text of its expression,
// such as "!Ref Key".
type Desired struct {
	Target       project.Target             `json:"-"`
	Parameters   map[string]string          `json:"parameters"`
	Tags         map[string]string          `json:"tags"`
	Capabilities []string                   `json:"capabilities"`
	Protect      bool                       `json:"protect"`
	Resources    map[string]DesiredResource `json:"-"` // by ID; those that the stack has, or may have
}

// A DesiredResource is how a plan leaves a resource.
type DesiredResource struct {
	Type       string
	Properties map[string]any // of text, numbers, truth values, lists and maps
	Place      string         // in the project's files; empty if that is not known
}

// Desired returns how the plan leaves the stack. It is empty but for the target if the stack
// is deleted.
func (c StackChange) Desired() Desired {
	if c.desired == nil {
		return Desired{}
	}
	return c.desired()
}

// Unread says why the template of the stack cannot be read, so that Desired has no resources.
// It is nil if the template was read, or the stack is deleted.
func (c StackChange) Unread() error { return c.unread }

// Uncompared reports whether what is deployed is not known, so that each resource may change.
func (c StackChange) Uncompared() bool { return c.uncompared }

// desired returns a function that makes Desired: it takes long, and most plans do not need it.
func (d describer) desired(n project.Node, r Record, before, after difference.Side, uncertain map[string]string) func() Desired {
	if n.Name == "" {
		return func() Desired { return Desired{Target: r.Target} }
	}
	secret := make(map[string]bool)
	for _, s := range []difference.Side{before, after} {
		if s.Template != nil {
			for name, p := range s.Template.Parameters {
				secret[name] = secret[name] || p.NoEcho
			}
		}
	}
	given, tags := maps.Clone(after.Scope.Parameters), make(map[string]string)
	if given == nil {
		given = make(map[string]string)
	}
	for name, text := range n.Tags {
		value, _ := d.value(text)
		tags[name] = concealed(value)
	}
	return func() Desired {
		all := Desired{Target: n.Target, Parameters: make(map[string]string), Tags: tags, Capabilities: n.Capabilities, Protect: n.Protect, Resources: make(map[string]DesiredResource)}
		known := after.Scope
		known.Parameters = make(map[string]string)
		for name, value := range given {
			all.Parameters[name] = concealed(value)
			if secret[name] {
				all.Parameters[name] = hidden
			} else if _, unknown := uncertain[name]; !unknown {
				known.Parameters[name] = value
			}
		}
		if after.Template == nil {
			return all
		}
		evaluation := after.Template.In(known)
		for _, resource := range evaluation.Resources() {
			one := DesiredResource{Type: resource.Type}
			one.Properties, _ = legible(evaluation.Reduce(resource.Properties)).(map[string]any)
			if n.Template.Path != "" {
				one.Place = fmt.Sprintf("%s:%d:%d", n.Template.Path, resource.Line, resource.Column)
			}
			all.Resources[resource.Name] = one
		}
		return all
	}
}

// concealed is a text without a reference to a secret.
func concealed(text string) string {
	if difference.Secret(text) {
		return hidden
	}
	return text
}

// legible writes what is not known in a reduced value as text, and conceals secrets.
func legible(v any) any {
	switch v := v.(type) {
	case string:
		return concealed(v)
	case template.Call:
		return concealed(v.String())
	case map[string]any:
		all := make(map[string]any, len(v))
		for key, value := range v {
			all[key] = legible(value)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, value := range v {
			all[i] = legible(value)
		}
		return all
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	}
	return v
}
