package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// sayLost says that texts of a live template are not known, and where they are.
func sayLost(places []string) string {
	return fmt.Sprintf("%d texts of the live template cannot be read, because CloudFormation returns ? for each character that is not ASCII (%s): take them from the source",
		len(places), listed(places))
}

// whole returns texts that CloudFormation has returned of a stack with the characters that it does not return, as the
// desired texts of the same names have them.
func (v View) whole(returned map[string]string, desired map[string]project.Text) map[string]string {
	known := make(map[string]string, len(desired))
	for name, text := range desired {
		if value, err := text.Resolve(v.output); err == nil {
			known[name] = value
		}
	}
	return loss.Undo(returned, known)
}

// sameTexts reports whether CloudFormation may have returned the texts of a stack that has these.
func sameTexts(returned, texts map[string]string) bool {
	return maps.Equal(loss.Undo(returned, texts), texts)
}

// An Output is an output of which CloudFormation may not have returned all characters.
type Output struct {
	Value   string // with these characters, if that is known
	Certain bool   // it is
}

// Output returns an output of the stack of r, which CloudFormation has returned: with the characters that it does not
// return, if the template that the stack was deployed from says what they are. Nothing is missing in an attribute that
// AWS gives to a resource, if the texts of the output and of the resource, and the parameters that these use, are ASCII.
func (r Record) Output(name, returned string, body []byte) Output {
	t, err := template.Parse("template", body)
	if loss.Beyond(returned) { // it is known since the stack was deployed
		return Output{Value: returned, Certain: true}
	}
	if err != nil || r.Digest == "" {
		return Output{Value: returned}
	}
	in := t.In(scope(r.Stack, r.StackID, r.Target)) // the parameters may lack characters, too
	if value, known := template.Text(in.Reduce(t.Outputs[name].Value)); known && loss.Same(returned, value) {
		return Output{Value: value, Certain: true}
	}
	return Output{Value: returned, Certain: t.Plain(body, name, r.Settings.beyond)}
}

// Whole returns the outputs of the stack of r, which it has with these parameters, with the characters that CloudFormation
// does not return, as far as the template that the stack was deployed from says what they are.
func (r Record) Whole(given map[string]string, body []byte) map[string]string {
	t, err := template.Parse("template", body)
	if err != nil {
		return r.Outputs
	}
	in := scope(r.Stack, r.StackID, r.Target)
	in.Parameters = maps.Clone(t.Defaults())
	maps.Copy(in.Parameters, given)
	evaluation, known := t.In(in), make(map[string]string)
	for name := range r.Outputs {
		if value, is := template.Text(evaluation.Reduce(t.Outputs[name].Value)); is {
			known[name] = value
		}
	}
	return loss.Undo(r.Outputs, known)
}

// Restore puts into the live outputs of v the characters that CloudFormation does not return, as they are recorded.
func (v View) Restore() {
	for node, r := range v.Recorded {
		if live, read := v.Live[node]; read {
			v.Live[node] = r.Known(live)
		}
	}
}

// Known returns the live stack of r, with the characters of its outputs that CloudFormation does not return, as recorded.
func (r Record) Known(live Live) Live {
	live.Outputs = loss.Undo(live.Outputs, r.Outputs)
	return live
}

// Refuse returns the error that says why nothing gets the output of a node; nil if its value is certain.
func (o Output) Refuse(node, output string) error {
	if o.Certain {
		return nil
	}
	return fault.New(fault.Refused, "output %s of stack %s has a ?, and CloudFormation returns one for each character that is not ASCII, so its value is not known: export it, and use Fn::ImportValue instead, or write the value into the files", output, node)
}

// Uncertain lists the outputs that desired nodes use, by node, and of which CloudFormation may not have returned all
// characters.
func (v View) Uncertain() map[string][]string {
	all := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		for _, need := range usedBy(v.Desired.Nodes[name]) {
			if _, done := all[need]; done {
				continue
			}
			for _, output := range slices.Sorted(maps.Keys(v.outputs(need))) {
				if loss.Possible(v.outputs(need)[output]) {
					all[need] = append(all[need], output)
				}
			}
		}
	}
	return all
}

// Know adds to v what the template that the stack of a node was deployed from says of some of its outputs.
func (v *View) Know(node string, outputs []string, body []byte) {
	if v.Outputs == nil {
		v.Outputs = make(map[string]map[string]Output)
	}
	v.Outputs[node] = make(map[string]Output, len(outputs))
	for _, output := range outputs {
		v.Outputs[node][output] = v.Recorded[node].Output(output, v.outputs(node)[output], body)
	}
}
