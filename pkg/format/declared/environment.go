package declared

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// An Environment holds the keys of one environment, or of all those whose names fit a pattern.
type Environment struct {
	Layer
	Name    string // as in the file; Project.Environment sets the name of the environment in the place of a pattern
	At      problem.Position
	Like    string // the environment whose keys it takes over; "" for none
	LikeAt  problem.Position
	TTL     *project.TTL // how long it lives after its last deploy; 0 is for ever, and nil is not said
	TTLAt   problem.Position
	Pattern string        // that its name fits; "" if it is listed by its name. Set by Project.Environment
	Bases   []Environment // the environments that it is like, the nearest first. Set by Project.Environment
}

// IsPattern reports whether the name of an environment in a file is a pattern, in which each star stands for any text.
func IsPattern(name string) bool { return strings.Contains(name, "*") }

// EnvironmentNames lists the environments and the patterns, in the order of the file.
func (p Project) EnvironmentNames() []string {
	var all []string
	for _, e := range p.Environments {
		all = append(all, e.Name)
	}
	return all
}

// Environment returns the environment of a name, with its bases: the one that is listed by the name, or else the one whose
// pattern fits best. It reports false if there is none, or if several patterns fit equally well.
func (p Project) Environment(name string) (Environment, bool) {
	best := p.Fitting(name)
	if len(best) != 1 {
		return Environment{Name: name}, false
	}
	e := best[0]
	for like := e.Like; like != "" && len(e.Bases) <= len(p.Environments); {
		base := p.listed(like)
		e.Bases, like = append(e.Bases, base), base.Like
	}
	for _, base := range e.Bases {
		if e.TTL == nil {
			e.TTL, e.TTLAt = base.TTL, base.TTLAt
		}
	}
	if e.Name != name {
		e.Name, e.Pattern = name, e.Name
	}
	return e, true
}

// Fitting returns the environment that is listed by a name, or else those whose patterns fit the name best: the ones with the most letters
// besides stars. The environment default fits no pattern.
func (p Project) Fitting(name string) (best []Environment) {
	letters := 0
	for _, e := range p.Environments {
		n := len(strings.ReplaceAll(e.Name, "*", ""))
		switch {
		case e.Name == name:
			return []Environment{e}
		case name == project.DefaultEnvironment || !IsPattern(e.Name) || !pattern.Star(e.Name, name) || n < letters:
		case n > letters || best == nil:
			best, letters = []Environment{e}, n
		default:
			best = append(best, e)
		}
	}
	return best
}

// listed returns the environment that is listed by a name; without keys if none is.
func (p Project) listed(name string) Environment {
	if i := slices.IndexFunc(p.Environments, func(e Environment) bool { return e.Name == name }); i >= 0 {
		return p.Environments[i]
	}
	return Environment{Name: name}
}

// Sample returns a name that fits an environment of the file and no other one; the name itself if it is no pattern, and "" if there is none.
func (p Project) Sample(name string) string {
	if !IsPattern(name) {
		return name
	}
	for _, text := range []string{"1", "2", "a", "b", "sample"} {
		sample := strings.ReplaceAll(name, "*", text)
		if e, ok := p.Environment(sample); ok && e.Pattern == name && project.EnvironmentName.MatchString(sample) {
			return sample
		}
	}
	return ""
}

// Layers lists the layers whose keys an environment has: each overrides those before it.
func (p Project) Layers(e Environment) []Layer {
	all := []Layer{p.Layer}
	for _, base := range slices.Backward(e.Bases) {
		all = append(all, base.Layer)
	}
	return append(all, e.Layer)
}

// InstallationOf returns the installation that commands about an environment use; "" if the files name none.
func (p Project) InstallationOf(name string) string {
	e, _ := p.Environment(name)
	used := ""
	for _, l := range p.Layers(e) {
		used = cmp.Or(l.Installation, used)
	}
	return used
}

// In reports whether a stack of the top level is in an environment. What its lists say about a pattern is about all environments that fit it, and what they
// say about an environment also about those that are like it.
func (s Stack) In(e Environment) bool {
	names := []string{e.Name, e.Pattern}
	for _, base := range e.Bases {
		names = append(names, base.Name)
	}
	among := func(list []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return name != "" && slices.Contains(list, name) })
	}
	return (s.Only == nil || among(s.Only)) && !among(s.Except)
}
