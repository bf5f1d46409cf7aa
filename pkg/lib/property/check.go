package property

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// A Misfit is a value that CloudFormation refuses because of the schema of its type, or a property that is missing.
type Misfit struct {
	Path         []string // the names of properties, and the places of items of lists
	Line, Column int      // of the value
	Text         string   // what is wrong, and what is right
	Reason       string   // what CloudFormation says of it, such as "#/Tags/0: required key [Key] not found"
}

// Name is the name of the property, with dots between its parts and without the places of items.
func (m Misfit) Name() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(m.Path), isPlace), ".")
}

// Covers reports whether a list of types, and of properties as TYPE.PROPERTY, has the type or the property of that
// name, or one that it is a part of.
func Covers(list []string, name string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return name == one || strings.HasPrefix(name, one+".") })
}

func isPlace(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil
}

// pointer is a path as CloudFormation writes it.
// https://github.com/aws-cloudformation/cloudformation-resource-schema (ValidationException.java)
func pointer(path []string) string { return strings.Join(append([]string{"#"}, path...), "/") }

// Check returns what does not fit in the properties of a resource of the type. Values that are not known are not
// judged.
func (t Type) Check(properties Value) []Misfit {
	c := &checker{definitions: t.root.Definitions}
	c.check(&t.root.Node, nil, properties)
	return slices.DeleteFunc(c.found, func(m Misfit) bool { return Covers(lenient, t.Name+"."+m.Name()) })
}

// lenient are properties that CloudFormation takes in more forms than their schemas have: deployed templates use them.
// https://github.com/Sage-Bionetworks/BridgeDownstream (study-pipeline-infra.j2: columns with Nullable)
var lenient = []string{"AWS::Glue::Table.TableInput.PartitionKeys", "AWS::Glue::Table.TableInput.StorageDescriptor.Columns"}

type checker struct {
	definitions map[string]*Node
	found       []Misfit
}

// add adds that the value at a path does not fit.
func (c *checker) add(path []string, at Value, text, reason string) {
	c.found = append(c.found, Misfit{slices.Clone(path), at.Line, at.Column, text, pointer(path) + ": " + reason})
}

// addKey adds that a key of the mapping at a path is missing, or must not be there.
func (c *checker) addKey(path []string, key string, at Value, text, reason string) {
	whole := append(slices.Clone(path), key)
	c.found = append(c.found, Misfit{whole, at.Line, at.Column, text, pointer(path) + ": " + reason})
}

func (c *checker) check(n *Node, path []string, v Value) {
	switch v.Kind {
	case Unknown, Absent:
		return
	case Either:
		for _, one := range v.Items {
			c.check(n, path, one)
		}
		return
	}
	if !fits(n.Kinds, v) {
		c.add(path, v, fmt.Sprintf("expected %s, found %s", inWords(n.Kinds), found(v)),
			fmt.Sprintf("expected type: %s, found: %s", javaType(n.Kinds), javaFound(v)))
		return
	}
	if definition := c.definitions[n.Reference]; definition != nil {
		c.check(definition, path, v)
	}
	switch v.Kind {
	case Mapping:
		c.mapping(n, path, v)
	case List:
		c.list(n, path, v)
	default:
		c.scalar(n, path, v)
	}
}

func fits(kinds string, v Value) bool {
	return kinds == "" || strings.ContainsFunc(kinds, v.is)
}

func (c *checker) mapping(n *Node, path []string, v Value) {
	for i, key := range v.Keys {
		value := v.Items[i]
		inner, known := c.property(n, key)
		switch at := append(slices.Clone(path), key); {
		case value.Kind == Absent:
		case known:
			c.check(inner, at, value)
		case n.Closed:
			c.unknown(n, path, key, value)
		}
	}
	for _, name := range n.Required {
		i := slices.Index(v.Keys, name)
		if i < 0 || v.Items[i].Kind == Absent {
			c.addKey(path, name, v, "the property is required, and missing",
				"required key ["+name+"] not found")
		}
	}
}

// property is the schema of a property, and whether there is one.
func (c *checker) property(n *Node, key string) (*Node, bool) {
	if inner := n.Properties[key]; inner != nil {
		return inner, true
	}
	for pattern, inner := range n.Patterns {
		if matches(pattern, key) {
			return inner, true
		}
	}
	return n.Others, n.Others != nil
}

func (c *checker) unknown(n *Node, path []string, key string, v Value) {
	names := make([]string, 0, len(n.Properties))
	for name := range n.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	text := "there is no such property" + suggest.Hint(key, names)
	if len(names) == 0 {
		patterns := slices.Sorted(maps.Keys(n.Patterns))
		text = "the name does not match the pattern " + strings.Join(patterns, " or ")
	}
	c.addKey(path, key, v, text, "extraneous key ["+key+"] is not permitted")
}

func (c *checker) list(n *Node, path []string, v Value) {
	most, least := 0, 0
	for i, item := range v.Items {
		if item.Kind != Absent {
			most++
		}
		if !item.maybeAbsent() {
			least++
		}
		if n.Items != nil {
			c.check(n.Items, append(slices.Clone(path), strconv.Itoa(i)), item)
		}
	}
	if n.MaxItems > 0 && least > n.MaxItems {
		c.add(path, v, fmt.Sprintf("the list has %d items: at most %d are allowed", least, n.MaxItems),
			fmt.Sprintf("expected maximum item count: %d, found: %d", n.MaxItems, least))
	}
	if most < n.MinItems {
		c.add(path, v, fmt.Sprintf("the list has %d items: at least %d are required", most, n.MinItems),
			fmt.Sprintf("expected minimum item count: %d, found: %d", n.MinItems, most))
	}
}

func (c *checker) scalar(n *Node, path []string, v Value) {
	refused := func(keyword, text string) {
		c.add(path, v, text, "failed validation constraint for keyword ["+keyword+"]")
	}
	if len(n.Enum) > 0 && !n.listed(v.Text) {
		refused("enum", fmt.Sprintf("%q is none of the values that are allowed%s", v.Text, suggest.Hint(v.Text, n.Enum)))
	}
	if number, ok := v.number(); ok && !strings.Contains(n.Kinds, string(textKind)) {
		if n.Maximum != nil && number > *n.Maximum {
			refused("maximum", fmt.Sprintf("%s is too large: at most %s is allowed", v.Text, decimal(*n.Maximum)))
		}
		if n.Minimum != nil && number < *n.Minimum {
			refused("minimum", fmt.Sprintf("%s is too small: at least %s is allowed", v.Text, decimal(*n.Minimum)))
		}
	}
	if v.Kind != Text || !strings.Contains(n.Kinds, string(textKind)) {
		return
	}
	if n.Pattern != "" && !matches(n.Pattern, v.Text) {
		refused("pattern", "the text does not match the pattern "+n.Pattern)
	}
	length := len([]rune(v.Text))
	if n.MaxLength > 0 && length > n.MaxLength {
		c.add(path, v, fmt.Sprintf("the text has %d characters: at most %d are allowed", length, n.MaxLength),
			fmt.Sprintf("expected maxLength: %d, actual: %d", n.MaxLength, length))
	}
	if length < n.MinLength {
		c.add(path, v, fmt.Sprintf("the text has %d characters: at least %d are required", length, n.MinLength),
			fmt.Sprintf("expected minLength: %d, actual: %d", n.MinLength, length))
	}
}

// listed reports whether the value is one of those that are allowed. One that differs from them in numbers alone may be
// newer than the table: a runtime, a version, an instance type.
func (n *Node) listed(text string) bool {
	return slices.ContainsFunc(n.Enum, func(one string) bool {
		return one == text || n.AnyCase && strings.EqualFold(one, text) || strings.EqualFold(one, text) &&
			(one == "true" || one == "false") || digits.MatchString(one) && unnumbered(one) == unnumbered(text)
	})
}

var digits = regexp.MustCompile(`[0-9]+`)

func unnumbered(text string) string { return digits.ReplaceAllString(text, "0") }

// matches reports whether the text has a match of the pattern. $ matches before a line break that ends the text, too.
func matches(pattern, text string) bool {
	expr, err := regexp.Compile(pattern)
	return err != nil || expr.MatchString(text) || expr.MatchString(strings.TrimSuffix(text, "\n"))
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
