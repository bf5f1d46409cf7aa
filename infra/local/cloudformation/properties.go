package cloudformation

import (
	"context"
	"net/http"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/property"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// uncheckedHeader lists the types and properties that a project allows although the schemas of AWS do not have them,
// with commas. AWS ignores it: there, CloudFormation itself decides.
const uncheckedHeader = "X-Stackwright-Unchecked"

type uncheckedKey struct{}

// withUnchecked is the context of a request, with what its header allows.
func withUnchecked(r *http.Request) context.Context {
	listed := strings.Split(r.Header.Get(uncheckedHeader), ",")
	return context.WithValue(r.Context(), uncheckedKey{}, listed)
}

func unchecked(ctx context.Context) []string {
	listed, _ := ctx.Value(uncheckedKey{}).([]string)
	return listed
}

// refuseUnknownTypes refuses a template with types that AWS does not have.
// https://repost.aws/knowledge-center/cloudformation-template-validation
func refuseUnknownTypes(t *template.Template, allowed []string) error {
	var names []string
	for _, r := range t.UnknownTypes() {
		if !property.Covers(allowed, r.Type) {
			names = append(names, r.Type)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return invalid("Template format error: Unrecognized resource types: [%s]", strings.Join(names, ", "))
}

// unfit says why CloudFormation does not create or update a resource with the properties that its template has; "" if
// it does. The words are those of stack events such as
// https://github.com/aws-samples/aws-bookstore-demo-app/issues/56
func (d *evaluation) unfit(e *template.Evaluation, declared template.Resource) string {
	var reasons []string
	for _, m := range e.Misfits(declared) {
		if !property.Covers(d.version.Unchecked, declared.Type+"."+m.Name()) {
			reasons = append(reasons, m.Reason)
		}
	}
	if reasons == nil {
		return ""
	}
	return "Properties validation failed for resource " + declared.Name + " with message: [" +
		strings.Join(reasons, ", ") + "]"
}
