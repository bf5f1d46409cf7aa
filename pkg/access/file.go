package access

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// Key is where the access file is in the installation's bucket.
const Key = "access/access.yaml"

// The sizes of a file: in bytes, and in lines that name a principal.
const (
	MaxBytes = 64 << 10
	maxRules = 1000
)

// A File is an access file.
type File struct {
	name  string
	rules []Rule
}

// A Rule grants a role to the principals of one line of the file.
type Rule struct {
	Line     int
	Projects project.Grants
	Role     Role

	who who
}

// To names the principals.
func (r Rule) To() string { return r.who.String() }

// String says what the rule grants.
func (r Rule) String() string { return fmt.Sprintf("%s of %s to %s", r.Role, r.Projects, r.who) }

// Rules lists the rules in the order of the file.
func (f File) Rules() []Rule { return slices.Clone(f.rules) }

// Parse reads an access file, whose name is for messages only. The error is of kind Invalid and
// joins everything that is wrong, each with its line and column. A file without grants is one:
// it denies everything.
func Parse(name string, text []byte) (File, error) {
	p := parser{file: File{name: name}}
	if len(text) > MaxBytes {
		return p.file, fault.New(fault.Invalid, "%s: the file has %d bytes, and at most %d may be", name, len(text), MaxBytes)
	}
	root, err := document.Read(name, text)
	if err != nil {
		return p.file, fault.As(fault.Invalid, err)
	}
	p.top(root)
	if err := p.wrong.Err(); err != nil {
		return File{name: name}, fault.As(fault.Invalid, err)
	}
	return p.file, nil
}

// CheckOwner returns an error of kind Refused if nobody could change anything under the file:
// it gives no principal and no token the role admin, and the installation has no owner.
func (f File) CheckOwner(o Owner) error {
	admin := func(r Rule) bool { return r.Role == Admin && r.who.account == "" }
	if len(o) > 0 || slices.ContainsFunc(f.rules, admin) {
		return nil
	}
	return fault.New(fault.Refused, "%s: it locks everybody out: no ARN and no token has the role admin, and the installation has no owner: grant admin to somebody, or set the installation's setting owner", f.name)
}

// Changes lists what a file grants that the one before does not, and the other way round.
func (f File) Changes(before File) []string {
	var all []string
	for sign, pair := range []struct{ of, without File }{{before, f}, {f, before}} {
		for _, r := range pair.of.rules {
			same := func(other Rule) bool { return other.String() == r.String() }
			if line := string("-+"[sign]) + " " + r.String(); !slices.ContainsFunc(pair.without.rules, same) && !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all
}

// A parser reads the nodes of a file.
type parser struct {
	file  File
	wrong document.Errors
}

// add adds an error at a node.
func (p *parser) add(n *yaml.Node, format string, args ...any) {
	p.wrong.Add(p.file.name, n, format, args...)
}

// top reads the topmost node.
func (p *parser) top(n *yaml.Node) {
	grants := p.keys("an access file", n, "grants")["grants"]
	if grants == nil {
		return
	}
	if document.Kind(grants) != "a list" {
		p.add(grants, "grants: %s found, a list of grants expected", document.Kind(grants))
	}
	for _, item := range document.Items(grants) {
		p.grant(item)
	}
}

// grant reads an item of grants.
func (p *parser) grant(n *yaml.Node) {
	var grant Rule
	at := p.keys("a grant", n, "projects", "role", "to")
	if n := at["projects"]; n != nil {
		grant.Projects = p.projects(n)
	}
	if n := at["role"]; n != nil {
		grant.Role = p.role(n)
	}
	if n := at["to"]; n != nil {
		p.to(n, grant)
	}
}

// role reads the name of a role.
func (p *parser) role(n *yaml.Node) Role {
	role, ok := RoleNamed(p.text("role", n))
	if !ok {
		p.add(n, "role: there is no such role%s", suggest.Hint(short(document.Resolve(n).Value), Roles()))
	}
	return role
}

// to reads the principals of a grant.
func (p *parser) to(n *yaml.Node, grant Rule) {
	items := document.Items(n)
	switch {
	case document.Kind(n) != "a list":
		p.add(n, "to: %s found, a list of principals expected", document.Kind(n))
	case len(items) == 0:
		p.add(n, "to: the list is empty, so the grant is for nobody: write a principal, or remove the grant")
	}
	for _, item := range items {
		grant.Line = item.Line
		p.principals(item, grant)
	}
}

// projects reads the patterns of projects: a text or a list.
func (p *parser) projects(n *yaml.Node) project.Grants {
	items := document.Items(n)
	if document.Kind(n) != "a list" {
		items = []*yaml.Node{n}
	}
	var texts []string
	for _, item := range items {
		texts = append(texts, p.text("projects", item))
	}
	all, err := project.ParseGrants(strings.Join(texts, ","))
	switch {
	case err != nil:
		p.add(n, "%v", err)
	case len(all) == 0:
		p.add(n, "projects: missing: write PROJECT@ENVIRONMENT, such as shop@prod or team-*@*")
	}
	return all
}

// accountForm is the form of an account's ID.
var accountForm = pattern.New(`^\d{12}$`)

// principals reads an item of to, and adds the rule for it.
func (p *parser) principals(n *yaml.Node, r Rule) {
	pairs := document.Pairs(n)
	if len(pairs) != 1 {
		p.add(n, "%s found, one principal expected: arn, token or account", document.Kind(n))
		return
	}
	switch key, value := pairs[0].Key, pairs[0].Value; key.Value {
	case "arn":
		r.who.arn = p.text("arn", value)
		if wrong := CheckARN(r.who.arn); wrong != "" {
			p.add(value, "arn: %s", wrong)
		}
	case "account":
		r.who.account = p.text("account", value)
		if !accountForm.MatchString(r.who.account) {
			p.add(value, "account: %q is not the ID of an account: it has twelve digits", short(r.who.account))
		}
	case "token":
		r.who.claims = p.claims(value)
	default:
		p.add(key, "%q is not a kind of principal%s", short(key.Value), suggest.Hint(short(key.Value), []string{"arn", "token", "account"}))
	}
	if p.file.rules = append(p.file.rules, r); len(p.file.rules) == maxRules+1 {
		p.add(n, "more than %d principals: use stars in the patterns, or claims that many tokens have", maxRules)
	}
}

// claims reads the claims of a token. Without issuer and audience they could be those of anybody. A star would
// stand for itself: somebody who writes one expects that it matches, and may have no other admin.
func (p *parser) claims(n *yaml.Node) []claim {
	var all []claim
	missing := []string{"iss", "aud"}
	for _, pair := range document.Pairs(n) {
		c := claim{name: pair.Key.Value, list: document.Kind(pair.Value) == "a list"}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == c.name })
		items := []*yaml.Node{pair.Value}
		if c.list {
			items = document.Items(pair.Value)
		}
		for _, item := range items {
			c.values = append(c.values, p.text(c.name, item))
		}
		switch {
		case slices.ContainsFunc(c.values, func(v string) bool { return strings.Contains(v, "*") }):
			p.add(pair.Value, "%s: a value with a star: claims are compared as they are, so a star does not stand for other characters: write each value, or grant to a group", short(c.name))
		case c.list && (c.name == "iss" || c.name == "aud"):
			p.add(pair.Value, "%s: a list found, text expected: write a principal for each", c.name)
		case len(c.values) == 0:
			p.add(pair.Value, "%s: the list is empty: remove the claim, or write the values that the token must have", short(c.name))
		case c.list && strings.ContainsFunc(strings.Join(c.values, ""), func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }):
			p.add(pair.Value, "%s: a value with a blank: API Gateway separates the values of a list by blanks, so this value cannot be found", short(c.name))
		}
		all = append(all, c)
	}
	if len(missing) > 0 {
		p.add(n, "token: %s missing: name the issuer and the audience, as otherwise tokens of anybody could match", strings.Join(missing, " and "))
	}
	return all
}

// text returns the text of a scalar that is not empty.
func (p *parser) text(what string, n *yaml.Node) string {
	n = document.Resolve(n)
	switch {
	case document.Null(n) || n.Kind != yaml.ScalarNode || document.Tagged(n) != "":
		p.add(n, "%s: %s found, text expected", short(what), document.Kind(n))
		return ""
	case strings.TrimSpace(n.Value) == "":
		p.add(n, "%s: empty: write a value, or remove the key", short(what))
	}
	return n.Value
}

// keys returns the values of a mapping by their keys, which are all required. The value of a misspelt key is read as that of the key
// that was probably meant, so that what is wrong in it is reported too.
func (p *parser) keys(what string, n *yaml.Node, known ...string) map[string]*yaml.Node {
	if document.Kind(n) != "a mapping" {
		p.add(n, "%s found, %s expected: a mapping with %s", document.Kind(n), what, strings.Join(known, ", "))
		return nil
	}
	all := make(map[string]*yaml.Node)
	for _, pair := range document.Pairs(n) {
		key := pair.Key.Value
		if !slices.Contains(known, key) {
			p.add(pair.Key, "%q is not a key of %s%s", short(key), what, suggest.Hint(short(key), known))
			if key = suggest.Closest(key, known); key == "" || all[key] != nil {
				continue
			}
		}
		all[key] = pair.Value
	}
	for _, key := range known {
		if all[key] == nil {
			p.add(n, "%s: missing in %s", key, what)
		}
	}
	return all
}
