package difference_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// changesPerTemplate is how many changes of each template are generated.
const changesPerTemplate = 40

// Generated changes of templates from the field, where some are at hand, are compared. What
// is expected follows from the change, the text of the template and the table of types, and
// not from the comparison: another order changes nothing; what is added or removed is, and
// nothing else; a changed property replaces its resource if the table says so; and only
// resources whose text names what changes, directly or through others, may differ too.
func TestChangesOfTemplatesFromTheField(t *testing.T) {
	folder := os.Getenv("STACKWRIGHT_INPUTS")
	if folder == "" {
		t.Skip("STACKWRIGHT_INPUTS does not name a folder of templates")
	}
	templates, counts := 0, make(map[string]int)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || !strings.Contains(path, "/templates/") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		templates++
		for n := range changesPerTemplate {
			c := change{T: t, counts: counts, random: rand.New(rand.NewPCG(uint64(templates), uint64(n))), name: fmt.Sprintf("%s, change %d", strings.TrimPrefix(path, folder), n)}
			if err := yaml.Unmarshal(body, &c.root); err != nil {
				return err
			}
			c.before = c.parse()
			counts[c.make(n)]++
		}
		return nil
	})
	if err != nil || templates < 20 {
		t.Errorf("%d templates, %v", templates, err)
	}
	t.Logf("%d templates: %v", templates, counts)
	for _, kind := range []string{"reorder", "add resource", "remove resource", "add property", "remove property", "change property", "change parameter"} {
		if counts[kind] < templates {
			t.Errorf("only %d changes: %s", counts[kind], kind)
		}
	}
	if counts["none"] > 0 || counts["expected replace"] < templates {
		t.Errorf("%d templates have nothing to change, and only %d resources have to be replaced", counts["none"], counts["expected replace"])
	}
}

// A change is one change of a template.
type change struct {
	*testing.T
	counts map[string]int // of changes by kind, and of expected actions
	random *rand.Rand
	name   string
	root   yaml.Node
	before difference.Side
}

// make makes the nth change, checks the comparison, and returns the kind of the change.
// If the template has nothing to change in one way, it tries the next.
func (c *change) make(n int) string {
	kind := "none"
	for i := n; kind == "none" && i < n+7; i++ {
		kind = c.try(i % 7)
	}
	return kind
}

func (c *change) try(way int) string {
	switch way {
	case 0:
		c.shuffle(&c.root)
		c.want(nil, nil)
		return "reorder"
	case 1:
		return c.addResource()
	case 2:
		return c.removeResource()
	case 3:
		return c.addProperty()
	case 4, 5:
		return c.changeProperty(way == 4)
	}
	return c.changeParameter()
}

// parse reads the template as it is now.
func (c *change) parse() difference.Side {
	c.Helper()
	text, err := yaml.Marshal(&c.root)
	if err != nil {
		c.Fatal(err)
	}
	t, err := template.Parse(c.name, text)
	if err != nil {
		c.Fatal(err)
	}
	values := t.Defaults()
	for _, name := range t.ParameterNames() {
		if p := t.Parameters[name]; p.Default == nil && len(p.AllowedValues) > 0 {
			values[name] = p.AllowedValues[0]
		} else if p.Default == nil {
			values[name] = strings.ToLower(name)
		}
	}
	return difference.Side{Template: t, Scope: template.Scope{Parameters: values, StackName: "s", StackID: "id", Region: "us-east-1", AccountID: "111122223333"}}
}

// want compares the template before with the one of now: exactly the resources of must
// have the given actions, and besides them only those of may differ.
func (c *change) want(must map[string]difference.Action, may map[string]bool) {
	c.Helper()
	c.compare(c.parse(), must, may)
}

func (c *change) compare(after difference.Side, must map[string]difference.Action, may map[string]bool) {
	c.Helper()
	d := difference.Of(c.before, after, difference.Uncertain{})
	got := make(map[string]difference.Action)
	for _, r := range d.Resources {
		got[r.ID] = r.Action
		if _, expected := must[r.ID]; !expected && !may[r.ID] {
			c.Errorf("%s: %s is %s, and nothing that it names changes", c.name, r.ID, r.Action)
		}
	}
	for id, action := range must {
		c.counts["expected "+string(action)]++
		if got[id] != action {
			c.Errorf("%s: %s is %q, not %s", c.name, id, got[id], action)
		}
	}
	if len(must)+len(may) == 0 && len(d.Outputs) > 0 {
		c.Errorf("%s: the output %s differs", c.name, d.Outputs[0].Name)
	}
}

// section is a mapping of the template, such as Resources; nil if there is none.
func (c *change) section(name string) *yaml.Node { return value(c.root.Content[0], name) }

// value is the value of a key.
func value(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// certain picks a resource without condition; its ID is "" if there is none for which
// wanted is true.
func (c *change) certain(wanted func(id string, r *yaml.Node) bool) (string, *yaml.Node) {
	all := c.section("Resources").Content
	var found []int
	for i := 0; i < len(all); i += 2 {
		if value(all[i+1], "Condition") == nil && wanted(all[i].Value, all[i+1]) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return "", nil
	}
	i := found[c.random.IntN(len(found))]
	return all[i].Value, all[i+1]
}

// shuffle puts the keys of all mappings into another order.
func (c *change) shuffle(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind == yaml.MappingNode {
		pairs := slices.Collect(slices.Chunk(n.Content, 2))
		c.random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		n.Content = slices.Concat(pairs...)
	}
	for _, item := range n.Content {
		c.shuffle(item)
	}
}

// addResource adds a copy of a resource under another name.
func (c *change) addResource() string {
	_, r := c.certain(func(string, *yaml.Node) bool { return true })
	if r == nil {
		return "none"
	}
	all := c.section("Resources")
	all.Content = append(all.Content, scalar("AddedByTest"), r)
	c.want(map[string]difference.Action{"AddedByTest": difference.Add}, nil)
	return "add resource"
}

// removeResource removes a resource that no other resource names, and the outputs that name
// it.
func (c *change) removeResource() string {
	words := c.words(c.section("Resources"))
	id, _ := c.certain(func(id string, _ *yaml.Node) bool { return words[id] == 1 && len(c.section("Resources").Content) > 2 })
	if id == "" {
		return "none"
	}
	remove(c.section("Resources"), id)
	outputs := c.section("Outputs")
	for i := 0; outputs != nil && i < len(outputs.Content); {
		if c.words(outputs.Content[i+1])[id] > 0 {
			outputs.Content = slices.Delete(outputs.Content, i, i+2)
		} else {
			i += 2
		}
	}
	c.want(map[string]difference.Action{id: difference.Remove}, nil)
	return "remove resource"
}

// addProperty adds a property that the table has, and the resource has not.
func (c *change) addProperty() string {
	var free []string
	id, r := c.certain(func(_ string, r *yaml.Node) bool {
		typ, known := resource.Named(value(r, "Type").Value)
		properties := value(r, "Properties")
		return known && properties != nil && properties.ShortTag() == "!!map" && len(typ.Properties) > len(properties.Content)/2
	})
	if id == "" {
		return "none"
	}
	typ, _ := resource.Named(value(r, "Type").Value)
	properties := value(r, "Properties")
	for _, p := range typ.Properties {
		if value(properties, p) == nil {
			free = append(free, p)
		}
	}
	name := free[c.random.IntN(len(free))]
	properties.Content = append(properties.Content, scalar(name), scalar("added by the test"))
	c.want(map[string]difference.Action{id: expected(typ, name)}, c.dependents(id))
	return "add property"
}

// changeProperty changes or removes a property whose value is a literal.
func (c *change) changeProperty(removed bool) string {
	literals := func(r *yaml.Node) (names []string) {
		properties := value(r, "Properties")
		for i := 0; properties != nil && properties.Kind == yaml.MappingNode && i < len(properties.Content); i += 2 {
			if v := properties.Content[i+1]; v.Kind == yaml.ScalarNode && strings.HasPrefix(v.ShortTag(), "!!") {
				names = append(names, properties.Content[i].Value)
			}
		}
		return names
	}
	id, r := c.certain(func(_ string, r *yaml.Node) bool {
		_, known := resource.Named(value(r, "Type").Value)
		return known && len(literals(r)) > 0
	})
	if id == "" {
		return "none"
	}
	typ, _ := resource.Named(value(r, "Type").Value)
	names := literals(r)
	name := names[c.random.IntN(len(names))]
	must := map[string]difference.Action{id: expected(typ, name)}
	if removed {
		remove(value(r, "Properties"), name)
		c.want(must, c.dependents(id))
		return "remove property"
	}
	v := value(value(r, "Properties"), name)
	v.Value, v.Tag, v.Style = "changed by the test", "!!str", 0
	c.want(must, c.dependents(id))
	return "change property"
}

// expected is what the table says about the change of a property.
func expected(typ resource.Type, property string) difference.Action {
	if typ.Replacement([]string{property}) == resource.Always {
		return difference.Replace
	}
	return difference.Modify
}

// changeParameter gives a parameter another value.
func (c *change) changeParameter() string {
	after := c.parse()
	var free []string
	for _, name := range after.Template.ParameterNames() {
		if p := after.Template.Parameters[name]; !p.NoEcho && len(p.AllowedValues) != 1 {
			free = append(free, name)
		}
	}
	if len(free) == 0 {
		return "none"
	}
	name := free[c.random.IntN(len(free))]
	old := after.Scope.Parameters[name]
	after.Scope.Parameters[name] = old + "1"
	for _, v := range after.Template.Parameters[name].AllowedValues {
		if v != old {
			after.Scope.Parameters[name] = v
		}
	}
	must := make(map[string]difference.Action)
	all := c.section("Resources").Content
	for i := 0; i < len(all); i += 2 { // a property that is the parameter itself
		typ, known := resource.Named(value(all[i+1], "Type").Value)
		properties := value(all[i+1], "Properties")
		if !known || properties == nil || properties.Kind != yaml.MappingNode || value(all[i+1], "Condition") != nil {
			continue
		}
		for j := 0; j < len(properties.Content); j += 2 {
			if v := properties.Content[j+1]; v.Tag == "!Ref" && v.Value == name && expected(typ, properties.Content[j].Value) == difference.Replace {
				must[all[i].Value] = difference.Replace
			}
		}
	}
	c.compare(after, must, c.dependents(name))
	return "change parameter"
}

// dependents lists the resources whose text names something, directly or through
// conditions and other resources.
func (c *change) dependents(name string) map[string]bool {
	found := map[string]bool{name: true}
	for grown := true; grown; {
		grown = false
		for _, section := range []string{"Conditions", "Rules", "Resources"} {
			n := c.section(section)
			for i := 0; n != nil && i < len(n.Content); i += 2 {
				id := n.Content[i].Value
				for word := range c.words(n.Content[i+1]) {
					if found[word] && !found[id] {
						found[id], grown = true, true
					}
				}
			}
		}
	}
	return found
}

// words counts the words of all keys and values.
func (c *change) words(n *yaml.Node) map[string]int {
	all := make(map[string]int)
	if n.Kind == yaml.ScalarNode {
		for word := range strings.FieldsFuncSeq(n.Value, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			all[word]++
		}
	}
	for _, item := range n.Content {
		for word, count := range maps.All(c.words(item)) {
			all[word] += count
		}
	}
	return all
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// remove removes a key.
func remove(n *yaml.Node, key string) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}
