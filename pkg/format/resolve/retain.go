package resolve

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html
var logicalID = pattern.New(`^[A-Za-z0-9]{1,255}$`)

// setRetain sets which resources stay in AWS if the deletion of the stack fails because of them.
func (r *resolver) setRetain(what string, s *Stack) {
	if s.Settings.Retain == nil {
		return
	}
	s.RetainAt = make(map[string]problem.Position)
	for _, v := range *s.Settings.Retain {
		id, ok := r.option(what, s, v)
		t := s.Template
		read := t != nil && t.Template != nil
		exists := false
		if read {
			_, exists = t.Resources[id]
		}
		switch {
		case !ok:
		case read && !exists && !t.Macros():
			r.Add(v.At, "%s: %s has no resource %q%s", what, t, problem.Short(id), r.Hint(id, t.ResourceNames()))
		case !logicalID.MatchString(id):
			r.Add(v.At, "%s: %q is not a logical ID: write the ID of a resource in the template, which has up to 255 letters and digits", what, problem.Short(id))
		case slices.Contains(s.Node.Retain, id):
			r.Add(v.At, "%s: %s is listed twice: remove one", what, problem.Short(id))
		default:
			s.Node.Retain = append(s.Node.Retain, id)
			s.RetainAt[id] = v.At
		}
	}
	slices.Sort(s.Node.Retain)
	if n := len(strings.Join(s.Node.Retain, ",")); n > project.MaxRetained {
		r.Add((*s.Settings.Retain)[0].At, "%s: the IDs have %d characters, with commas, and at most %d are allowed: write DeletionPolicy: Retain under some of the resources in the template", what, n, project.MaxRetained)
	}
}
