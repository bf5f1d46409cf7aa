package native

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// environmentName is the name of an environment, or a pattern in which each star stands for any text.
var environmentName = pattern.New(`^[A-Za-z0-9*][-A-Za-z0-9*]{0,63}$`)

func (p *parser) environments(n *yaml.Node, inherited map[string]project.Schedule) []declared.Environment {
	var all []declared.Environment
	for _, pair := range p.mapping("environments", n) {
		name := pair.Key.Value
		if !environmentName.MatchString(name) {
			p.Add(p.at(pair.Key), "environments: %q is not a valid name: use letters, digits and hyphens, at most 64; a * stands for any text", problem.Short(name))
			continue
		}
		what := "environment " + name
		keys := p.keys(what, pair.Value, environmentKeys, environmentLater)
		e := declared.Environment{Name: name, At: p.at(pair.Key), Layer: p.layer(what+": ", keys, inherited)}
		if like := keys["like"]; like != nil {
			e.Like, _ = p.literal(what+": like", like)
			e.LikeAt = p.at(like)
		}
		e.TTL, e.TTLAt = p.ttl(what+": ttl", keys["ttl"])
		// Settings of all its stacks are merged before those of some.
		ofAll := map[string]*yaml.Node{"parameters": keys["parameters"], "tags": keys["tags"], "targets": keys["targets"], "approve": keys["approve"]}
		e.Defaults = slices.Insert(e.Defaults, 0, declared.Defaults{Label: what, At: e.At, Settings: p.settings(what, ofAll)})
		all = append(all, e)
	}
	p.checkLike(all)
	return all
}

// never is the TTL of an environment that lives for ever.
const never = "never"

// ttl reads how long an environment lives after its last deploy; nil if that is not said.
func (p *parser) ttl(what string, n *yaml.Node) (*project.TTL, problem.Position) {
	if n == nil {
		return nil, problem.Position{}
	}
	text, ok := p.literal(what, n)
	var t project.TTL
	if !ok || text == never {
		return &t, p.at(n)
	}
	t, err := project.ParseTTL(problem.Short(text))
	if err != nil {
		p.Add(p.at(n), "%s: %v, or %s", what, err, never)
	}
	return &t, p.at(n)
}

// checkLike refuses environments that are like one that is not listed or like themselves. It removes what is wrong, so that nothing is
// like itself.
func (p *parser) checkLike(all []declared.Environment) {
	by := map[string]*declared.Environment{}
	for i := range all {
		by[all[i].Name] = &all[i]
	}
	names := slices.DeleteFunc(slices.Clone(p.environmentNames), declared.IsPattern)
	for i := range all {
		e := &all[i]
		what := "environment " + e.Name + ": like: "
		switch {
		case e.Like == "":
		case declared.IsPattern(e.Like):
			p.Add(e.LikeAt, "%s%s is a pattern: write the name of an environment", what, problem.Short(e.Like))
			e.Like = ""
		case !slices.Contains(names, e.Like):
			p.Add(e.LikeAt, "%sthere is no environment %s%s", what, problem.Short(e.Like), p.Hint(e.Like, names))
			e.Like = ""
		default:
			path := []string{e.Name}
			for next := e; next != nil && next.Like != "" && len(path) <= len(all); next = by[next.Like] {
				if path = append(path, next.Like); next.Like == e.Name {
					p.Add(e.LikeAt, "%sthe environment is like itself: %s: remove one of these keys", what, strings.Join(path, " → "))
					e.Like = ""
				}
			}
		}
	}
}

// environmentNames lists the names under environments:, and default.
func environmentNames(n *yaml.Node) []string {
	names := []string{project.DefaultEnvironment}
	if n != nil && isMapping(n) {
		for _, pair := range document.Pairs(document.Resolve(n)) {
			names = append(names, pair.Key.Value)
		}
	}
	return names
}

// inEnvironments reads the environments that a stack is in, or is not in.
func (p *parser) inEnvironments(what string, keys map[string]*yaml.Node, s *declared.Stack) {
	if keys["only"] != nil && keys["except"] != nil {
		p.Add(p.at(keys["except"]), "%s: only and except exclude each other: write one of them", what)
		return
	}
	s.Only, s.Except = p.environmentList(what, "only", keys), p.environmentList(what, "except", keys)
}

func (p *parser) environmentList(what, key string, keys map[string]*yaml.Node) []string {
	values := p.list(what, key, keys)
	if values == nil {
		return nil
	}
	names := []string{}
	for _, v := range *values {
		name, plain := v.Literal()
		switch {
		case !plain:
			p.Add(v.At, "%s: %s: references are allowed only in parameters, tags and options: write the name of an environment", what, key)
		case !slices.Contains(p.environmentNames, name):
			p.Add(v.At, "%s: %s: there is no environment %s%s", what, key, problem.Short(name), p.Hint(name, p.environmentNames))
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		p.Add(p.at(keys[key]), "%s: %s: the list is empty: write the names of environments, or remove it", what, key)
	}
	return names
}

// checkEnvironments compares the stacks of environments with those of the top level and of the environments that they are like.
func (p *parser) checkEnvironments(d declared.Project) {
	for _, name := range d.EnvironmentNames() {
		e, _ := d.Environment(name)
		layers := d.Layers(e)
		known := map[string]bool{} // by the names of stacks, whether they are in the environment
		var names []string
		for i, l := range layers[:len(layers)-1] {
			for _, s := range l.Stacks {
				if _, again := known[s.Name]; !again {
					known[s.Name] = i > 0 || s.In(e)
					names = append(names, s.Name)
				}
			}
		}
		for _, s := range e.Stacks {
			what := "environment " + e.Name + ": stack " + problem.Short(s.Name)
			switch in, ok := known[s.Name]; {
			case ok && !in:
				p.Add(s.At, "%s: at the top level, only: or except: leaves this stack out of the environment: remove that, or this", what)
			case !ok && s.Template == nil:
				p.Add(s.At, "%s: the top level has no such stack%s, and template is missing: write template: to add a stack to this environment", what, p.Closest(s.Name, names))
			}
		}
		all := map[string]project.Schedule{}
		for _, l := range layers {
			maps.Copy(all, l.Schedules)
		}
		if len(e.Bases) > 0 && len(all) > declared.MaxSchedules {
			p.Add(e.LikeAt, "environment %s: like: %d schedules: an environment has at most %d", e.Name, len(all), declared.MaxSchedules)
		}
	}
}

// moved reads the entries of moved:, and checks the rules that are the same in all
// environments.
func (p *parser) moved(n *yaml.Node, d declared.Project) []declared.Move {
	var all []declared.Move
	items := p.items("moved", n)
	if len(items) > declared.MaxMoved {
		p.Add(p.at(n), "moved: %d entries: at most %d are allowed", len(items), declared.MaxMoved)
		return nil
	}
	exists := d.Everywhere()
	from, to := map[string]declared.Move{}, map[string]declared.Move{}
	for _, item := range items {
		m, ok := p.move(item)
		_, still := exists[m.From]
		earlier, again := from[m.From]
		other, taken := to[m.To]
		switch {
		case !ok:
		case m.From == m.To:
			p.Add(m.At, "moved: %s is moved to itself: remove this entry", m.From)
		case still:
			p.Add(m.At, "moved: %s is still a stack of the project: remove it from stacks:, or remove this entry", m.From)
		case again:
			p.Add(m.At, "moved: %s is moved twice, to %s and to %s: remove one of the entries", m.From, earlier.To, m.To)
		case taken:
			p.Add(m.At, "moved: both %s and %s are moved to %s: remove one of the entries", other.From, m.From, m.To)
		default:
			from[m.From], to[m.To] = m, m
			all = append(all, m)
		}
	}
	p.checkMoved(all, from, d)
	return all
}

// move reads one entry of moved.
func (p *parser) move(n *yaml.Node) (m declared.Move, ok bool) {
	keys := p.keys("moved", n, moveKeys, nil)
	if !isMapping(n) {
		return m, false
	}
	m.At, ok = p.at(n), true
	for i, key := range moveKeys {
		if keys[key] == nil {
			p.Add(m.At, "moved: %s is missing: write from: and to: with names of stacks", key)
			ok = false
			continue
		}
		text, plain := p.literal("moved: "+key, keys[key])
		if plain && !declared.StackName.MatchString(text) {
			p.Add(p.at(keys[key]), "moved: %s: %q is not the name of a stack", key, problem.Short(text))
		}
		*[]*string{&m.From, &m.To}[i], ok = text, ok && plain && declared.StackName.MatchString(text)
	}
	return m, ok
}

// checkMoved refuses entries that lead to no stack of the project.
func (p *parser) checkMoved(all []declared.Move, from map[string]declared.Move, d declared.Project) {
	exists := d.Everywhere()
	names := slices.Sorted(maps.Keys(exists))
	for _, m := range all {
		path := []string{m.From}
		for next, ok := m, true; ok && len(path) <= len(all); next, ok = from[next.To] {
			path = append(path, next.To)
		}
		end := path[len(path)-1]
		_, known := exists[end]
		switch {
		case slices.Contains(path[:len(path)-1], end):
			if m.From == slices.Min(path) { // once for each circle
				p.Add(m.At, "moved: %s is moved in a circle: %s: remove one of the entries", m.From, strings.Join(cycle(path), " → "))
			}
		case !known && end == m.To:
			p.Add(m.At, "moved: to: there is no stack %s%s", end, p.Hint(end, names))
		}
	}
}

// cycle cuts a path after the first name that occurs in it again.
func cycle(path []string) []string {
	for i, name := range path {
		if slices.Contains(path[:i], name) {
			return path[:min(i+1, 10)]
		}
	}
	return path
}
