package api

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// Inside reads what is in stacks in all targets, as CloudFormation reports it. An error is of kind Missing if the stack does not exist,
// and of kind Denied if the installation may not read it.
type Inside interface {
	// Resources returns a page of the resources of a stack, and the cursor of the next page; "" is the first page, and
	// none follows the last one.
	Resources(ctx context.Context, p plan.Location, after string) (page []plan.StackResource, next string, err error)

	// ResourceEvents returns a page of what happened to a stack and its resources, newest first.
	ResourceEvents(ctx context.Context, p plan.Location, after string) (page []plan.ResourceEvent, next string, err error)
}

// resources lists the resources of a recorded stack.
func (a API) resources(ctx context.Context, q question) (answer, error) {
	all, next, err := pageOfStack(ctx, a, q, a.Inside.Resources)
	return answer{body: report.ResourcePage{Resources: append([]plan.StackResource{}, all...), After: next}}, err
}

// resourceEvents lists the events of a recorded stack.
func (a API) resourceEvents(ctx context.Context, q question) (answer, error) {
	all, next, err := pageOfStack(ctx, a, q, a.Inside.ResourceEvents)
	return answer{body: report.ResourceEventPage{Events: append([]plan.ResourceEvent{}, all...), After: next}}, err
}

// pageOfStack reads the page of a list about a recorded stack that a request names, and returns the cursor of the next one.
func pageOfStack[T any](ctx context.Context, a API, q question, read func(context.Context, plan.Location, string) ([]T, string, error)) ([]T, string, error) {
	name := q.QueryStringParameters["stack"]
	records, err := a.Records.RecordsOf(ctx, q.project, []string{name})
	if err != nil {
		return nil, "", err
	}
	r, recorded := records[name]
	if !recorded {
		return nil, "", noRecord(q.project, name)
	}
	list := strings.Join([]string{q.route.id, q.project, name, r.StackID}, " ")
	token, err := q.cursorOf(list)
	if err != nil {
		return nil, "", err
	}
	all, next, err := read(ctx, r.Location(), token)
	if token != "" && fault.Is(err, fault.Refused) { // CloudFormation does not know the cursor any more
		err = q.notOf()
	}
	return all, cursorTo(list, next), err
}

// cursorOf is the place in a list about a stack that a request names as its cursor: empty is the beginning.
func (q question) cursorOf(list string) (string, error) {
	text := q.QueryStringParameters["after"]
	if text == "" {
		return "", nil
	}
	of, place, ok := strings.Cut(decoded(text), "\n")
	if !ok || of != list || place == "" {
		return "", q.notOf()
	}
	return place, nil
}

// cursorTo is the cursor of a place in a list, empty if there is no place.
func cursorTo(list, place string) string {
	if place == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(list + "\n" + place))
}

// decoded is the text of a cursor, empty if it is none.
func decoded(cursor string) string {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return ""
	}
	return string(text)
}

// notOf is the fault of a cursor that is not from the list of the request.
func (q question) notOf() error {
	return fault.New(fault.Invalid, "after: %.80q is not from an answer of this list about stack %.200q: begin without it", q.QueryStringParameters["after"], q.QueryStringParameters["stack"])
}
