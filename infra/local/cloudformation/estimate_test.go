package cloudformation_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// editsPerTemplate is how many changes of each template are generated.
const editsPerTemplate = 40

// The estimate of a plan is compared with the emulator's change sets, for generated changes of
// production templates. They may disagree only where a change set says more, or less, by its
// nature; each such case is named in explain.
func TestEstimateAgainstChangeSets(t *testing.T) {
	dir := os.Getenv("STACKWRIGHT_INPUTS")
	if dir == "" {
		t.Skip("STACKWRIGHT_INPUTS names no folder of templates")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d templates in %s: %v", len(files), dir, err)
	}
	bodies := map[string]string{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bodies[filepath.Base(filepath.Dir(file))+"-"+strings.TrimSuffix(filepath.Base(file), ".yaml")] = string(body)
	}
	stored := maps.Clone(bodies)
	fetch := func(_ context.Context, _, key, _ string) ([]byte, error) { return []byte(stored[key]), nil }
	scenarioIn(t, "", cloudformation.Options{Seconds: -1, Fetch: fetch}, func(w *account) {
		c := comparison{account: w, stored: stored, edits: map[string]int{}, agreed: map[string]int{}, explained: map[string]int{}}
		var done []string
		for len(done) < len(bodies) {
			before := len(done)
			for _, name := range sortedNames(bodies) {
				if slices.Contains(done, name) {
					continue
				}
				parameters, waits := w.parametersOf(name, bodies[name], done)
				if waits {
					continue
				}
				if _, err := w.client.CreateStack(w.Context(), &cfn.CreateStackInput{StackName: &name, TemplateURL: url(name), Parameters: parameters, Capabilities: capabilities}); err != nil {
					t.Fatalf("create %s: %v", name, err)
				}
				w.wait(name, types.StackStatusCreateComplete)
				done = append(done, name)
				for n := range editsPerTemplate {
					c.try(name, bodies[name], parameters, n)
				}
			}
			if len(done) == before {
				t.Fatalf("only %v could be made", done)
			}
		}
		t.Logf("%d templates, changes: %v", len(done), c.edits)
		t.Logf("resources on which the estimate and the change set agree: %v", c.agreed)
		for _, why := range slices.Sorted(maps.Keys(c.explained)) {
			t.Logf("they disagree on %d: %s", c.explained[why], why)
		}
		for _, kind := range kinds {
			if c.edits[kind] < len(done) {
				t.Errorf("only %d changes: %s", c.edits[kind], kind)
			}
		}
	})
}

func url(key string) *string { return aws.String("https://templates.s3.amazonaws.com/" + key) }

var capabilities = []types.Capability{types.CapabilityCapabilityNamedIam}

// comparison compares estimates with change sets, and counts.
type comparison struct {
	*account
	stored                   map[string]string // templates by the key of their URL
	edits, agreed, explained map[string]int
}

// kinds are the kinds of changes.
var kinds = []string{"reorder", "add resource", "remove resource", "add property", "remove property", "change property", "change parameter"}

// try makes the nth change of a template. If the template has nothing to change in one way, it
// tries the next.
func (c *comparison) try(name, body string, parameters []types.Parameter, n int) {
	c.Helper()
	for i := range len(kinds) {
		e := edit{random: rand.New(rand.NewPCG(uint64(len(body)), uint64(n))), parameters: slices.Clone(parameters)}
		if err := yaml.Unmarshal([]byte(body), &e.root); err != nil {
			c.Fatal(err)
		}
		kind := kinds[(n+i)%len(kinds)]
		if !e.make(kind) {
			continue
		}
		after, err := yaml.Marshal(&e.root)
		if err != nil {
			c.Fatal(err)
		}
		set := fmt.Sprintf("c%d", n)
		c.stored["after"] = string(after)
		made, err := c.client.CreateChangeSet(c.Context(), &cfn.CreateChangeSetInput{ChangeSetName: &set, StackName: &name,
			TemplateURL: url("after"), Parameters: e.parameters, Capabilities: capabilities})
		if err != nil { // a value that the template does not allow
			c.edits["refused"]++
			continue
		}
		c.edits[kind]++
		c.compare(fmt.Sprintf("%s, %s %d", name, kind, n), c.side(name, body, parameters), c.side(name, string(after), e.parameters), c.changeSet(*made.Id))
		return
	}
	c.Errorf("%s: change %d could not be made", name, n)
}

func (c *comparison) side(name, body string, parameters []types.Parameter) difference.Side {
	c.Helper()
	t, err := template.Parse(name, []byte(body))
	if err != nil {
		c.Fatal(err)
	}
	values := t.Defaults()
	for _, p := range parameters {
		values[*p.ParameterKey] = *p.ParameterValue
	}
	return difference.Side{Template: t, Scope: template.Scope{Parameters: values, StackName: name, StackID: *c.stack(name).StackId, Region: "us-east-1", AccountID: "000000000000"}}
}

func (c *comparison) compare(name string, before, after difference.Side, set *cfn.DescribeChangeSetOutput) {
	c.Helper()
	estimates, sets, changes := map[string]string{}, map[string]string{}, map[string]*types.ResourceChange{}
	secret := map[string]string{} // what a plan does not compare
	for p, declared := range after.Template.Parameters {
		if declared.NoEcho && before.Scope.Parameters[p] != after.Scope.Parameters[p] {
			secret[p] = "its value is secret"
		}
	}
	for _, r := range difference.Of(before, after, difference.Uncertain{Parameters: secret}).Resources {
		estimates[r.ID] = estimated(r)
	}
	for _, one := range set.Changes {
		changes[*one.ResourceChange.LogicalResourceId] = one.ResourceChange
		sets[*one.ResourceChange.LogicalResourceId] = proposed(one.ResourceChange)
	}
	all := maps.Clone(estimates)
	maps.Copy(all, sets)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if estimates[id] == sets[id] {
			c.agreed[sets[id]]++
			continue
		}
		if why := explain(estimates[id], sets[id], changes[id], before.Template); why != "" {
			c.explained[why]++
			continue
		}
		c.Errorf("%s: %s: the estimate is %q, and the change set %q\n%s", name, id, estimates[id], sets[id], details(set, id))
	}
}

// estimated is what an estimate says about a resource.
func estimated(r difference.Resource) string {
	switch {
	case r.Action == difference.Add, r.Action == difference.Remove, r.Action == difference.Replace:
		return string(r.Action)
	case r.Replacement == resource.Conditional:
		return "may be replaced"
	case r.Action == difference.Dynamic:
		return "may change"
	}
	return "modify"
}

// proposed is what a change set says about a resource.
func proposed(r *types.ResourceChange) string {
	switch {
	case r.Action != types.ChangeActionModify:
		return strings.ToLower(string(r.Action))
	case r.Replacement == types.ReplacementTrue:
		return "replace"
	case r.Replacement == types.ReplacementConditional:
		return "may be replaced"
	case !slices.ContainsFunc(r.Details, func(d types.ResourceChangeDetail) bool { return d.Evaluation == types.EvaluationTypeStatic }):
		return "may change"
	}
	return "modify"
}

// explain says why an estimate and a change set disagree about a resource; empty if they should
// not.
func explain(estimate, set string, r *types.ResourceChange, t *template.Template) string {
	if r == nil {
		return ""
	}
	only := func(e types.EvaluationType, sources ...types.ChangeSource) bool {
		return !slices.ContainsFunc(r.Details, func(d types.ResourceChangeDetail) bool {
			return d.ChangeSource != types.ChangeSourceDirectModification && (d.Evaluation != e || !slices.Contains(sources, d.ChangeSource)) ||
				d.ChangeSource == types.ChangeSourceDirectModification && d.Evaluation != types.EvaluationTypeDynamic
		})
	}
	references := []types.ChangeSource{types.ChangeSourceResourceAttribute, types.ChangeSourceResourceReference}
	switch {
	case estimate == "" && (set == "may change" || set == "may be replaced") && only(types.EvaluationTypeDynamic, references...):
		return "the change set takes every attribute of a resource that changes in place for unknown; the estimate knows that its ARN and its ID stay"
	case estimate == "may change" && set == "modify" && only(types.EvaluationTypeStatic, types.ChangeSourceParameterReference) && !slices.ContainsFunc(r.Details, func(d types.ResourceChangeDetail) bool {
		return d.CausingEntity != nil && !t.Parameters[*d.CausingEntity].NoEcho
	}):
		return "the change set says that what refers to a changed parameter with NoEcho changes; the estimate never compares such values, and says that it may"
	case estimate == "may change" && set == "modify" && only(types.EvaluationTypeStatic, references...):
		return "the change set says that what refers to a replaced resource changes; the estimate says that it may"
	}
	return ""
}

// edit is one change of a template and its parameters.
type edit struct {
	random     *rand.Rand
	root       yaml.Node
	parameters []types.Parameter
}

// make makes a change of a kind. It reports false if there is nothing to change.
func (e *edit) make(kind string) bool {
	resources := child(e.root.Content[0], "Resources")
	i := 2 * e.random.IntN(len(resources.Content)/2)
	id, r := resources.Content[i].Value, resources.Content[i+1]
	properties := child(r, "Properties")
	switch kind {
	case "reorder":
		e.shuffle(&e.root)
		return true
	case "add resource":
		resources.Content = append(resources.Content, literal("AddedByTest"), r)
		return true
	case "remove resource":
		if len(resources.Content) == 2 || strings.Count(written(&e.root), id) > 1 {
			return e.removeUnused(resources)
		}
		resources.Content = slices.Delete(resources.Content, i, i+2)
		return true
	case "change parameter":
		return e.changeParameter()
	case "add property":
		typ, known := resource.Named(child(r, "Type").Value)
		if !known || properties == nil || properties.ShortTag() != "!!map" {
			return false
		}
		name := typ.Properties[e.random.IntN(len(typ.Properties))]
		if child(properties, name) != nil {
			return false
		}
		properties.Content = append(properties.Content, literal(name), literal("added by the test"))
		return true
	}
	if properties == nil {
		return false
	}
	for j := 0; j+1 < len(properties.Content); j += 2 {
		v := properties.Content[j+1]
		if v.Kind != yaml.ScalarNode || !strings.HasPrefix(v.ShortTag(), "!!") {
			continue
		}
		if kind == "remove property" {
			properties.Content = slices.Delete(properties.Content, j, j+2)
			return true
		}
		v.Value, v.Tag, v.Style = "changed by the test", "!!str", 0
		return true
	}
	return false
}

// removeUnused removes a resource that nothing else names.
func (e *edit) removeUnused(resources *yaml.Node) bool {
	for i := 0; len(resources.Content) > 2 && i < len(resources.Content); i += 2 {
		if strings.Count(written(&e.root), resources.Content[i].Value) == 1 {
			resources.Content = slices.Delete(resources.Content, i, i+2)
			return true
		}
	}
	return false
}

// changeParameter gives a parameter another value. Those that name another stack stay.
func (e *edit) changeParameter() bool {
	all := child(e.root.Content[0], "Parameters")
	if all == nil || len(all.Content) == 0 {
		return false
	}
	i := 2 * e.random.IntN(len(all.Content)/2)
	name, p := all.Content[i].Value, all.Content[i+1]
	if strings.HasPrefix(name, "Parent") {
		return false
	}
	at := slices.IndexFunc(e.parameters, func(one types.Parameter) bool { return *one.ParameterKey == name })
	old := ""
	if d := child(p, "Default"); d != nil {
		old = d.Value
	}
	if at >= 0 {
		old = *e.parameters[at].ParameterValue
		e.parameters = slices.Delete(e.parameters, at, at+1)
	}
	value := old + "1"
	if allowed := child(p, "AllowedValues"); allowed != nil {
		for _, v := range allowed.Content {
			if v.Value != old {
				value = v.Value
			}
		}
	}
	e.parameters = append(e.parameters, given(name, value)...)
	return value != old
}

// shuffle puts the keys of all mappings into another order.
func (e *edit) shuffle(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind == yaml.MappingNode {
		pairs := slices.Collect(slices.Chunk(n.Content, 2))
		e.random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		n.Content = slices.Concat(pairs...)
	}
	for _, item := range n.Content {
		e.shuffle(item)
	}
}

func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func literal(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// written is all text of a template, without its comments.
func written(n *yaml.Node) string {
	all := n.Value + "\n"
	for _, item := range n.Content {
		all += written(item)
	}
	return all
}
