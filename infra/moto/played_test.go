package moto

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// A player passes requests on to moto, and plays what CloudFormation does and moto does not:
//
//   - An event has the token of the request that has started its operation: "ClientRequestToken".
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackEvent.html
//   - DescribeAccountLimits says how many stacks there may be, so that the engine plans creations.
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeAccountLimits.html
//   - ValidateTemplate reads a template from the bucket of the laptop: moto would read it from a bucket of its own.
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ValidateTemplate.html
//   - A stack has its DB cluster among its resources. moto's CloudFormation ignores the resource, and its RDS has DB clusters.
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
//   - An event says when the status of a stack changes.
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/eventbridge.html
//   - An action that does not exist is refused with InvalidAction. moto answers one that it lacks with the status 500, after which the
//     engine repeats the request.
//     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/CommonErrors.html
type player struct {
	moto string

	// sends sends an event about the status of a stack; it may be nil.
	sends func(stack, status, token string)

	mu       sync.Mutex
	tokens   map[string][]string          // of the operations on each stack, by its ID, oldest first
	clusters map[string]map[string]string // of stacks, by their IDs and types
}

// forget empties the player.
func (p *player) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens, p.clusters = make(map[string][]string), make(map[string]map[string]string)
}

// has gives a stack a DB cluster of a type.
func (p *player) has(stack, kind, cluster string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clusters[stack] == nil {
		p.clusters[stack] = make(map[string]string)
	}
	p.clusters[stack][kind] = cluster
}

// ServeHTTP implements http.Handler.
func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		form = nil // it is no request of the query protocol
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if form.Get("Action") == "DescribeAccountLimits" {
		_, _ = io.WriteString(w, "<R><DescribeAccountLimitsResult><AccountLimits><member><Name>StackLimit</Name><Value>2000</Value></member></AccountLimits></DescribeAccountLimitsResult></R>") // the client is gone if it fails
		return
	}
	if form.Get("Action") == "ValidateTemplate" {
		_, _ = io.WriteString(w, "<R><ValidateTemplateResult/></R>") // the client is gone if it fails
		return
	}
	if lacks[form.Get("Action")] != "" {
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "<ErrorResponse><Error><Code>InvalidAction</Code><Message>moto has no "+form.Get("Action")+"</Message></Error></ErrorResponse>") // the client is gone if it fails
		return
	}
	status, header, answer, err := p.send(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if status == http.StatusOK {
		answer = p.play(form, answer)
	}
	for name, values := range header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(answer) // the client is gone if it fails
}

// send sends a request to moto.
func (p *player) send(r *http.Request, body []byte) (status int, header http.Header, answer []byte, err error) {
	on, err := http.NewRequestWithContext(r.Context(), r.Method, p.moto+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	on.Header = r.Header.Clone()
	got, err := http.DefaultClient.Do(on)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = got.Body.Close() }() // it was read
	answer, err = io.ReadAll(got.Body)
	return got.StatusCode, got.Header, answer, err
}

// Parts of answers.
var (
	stackID    = regexp.MustCompile(`<StackId>([^<]*)</StackId>`)
	event      = regexp.MustCompile(`(?s)<member>.*?</member>`)
	operations = regexp.MustCompile(`<ResourceStatus>(CREATE|UPDATE|DELETE|IMPORT)_IN_PROGRESS<`)
)

// statuses are those with which operations of moto end.
var statuses = map[string]string{"CreateStack": "CREATE_COMPLETE", "UpdateStack": "UPDATE_COMPLETE", "ExecuteChangeSet": "UPDATE_COMPLETE", "DeleteStack": "DELETE_COMPLETE"}

// play keeps the token of a request that has started an operation, and writes tokens into events.
func (p *player) play(form url.Values, answer []byte) []byte {
	switch form.Get("Action") {
	case "CreateStack", "UpdateStack", "DeleteStack", "ExecuteChangeSet":
		id := form.Get("StackName")
		if m := stackID.FindSubmatch(answer); m != nil {
			id = string(m[1])
		}
		token := form.Get("ClientRequestToken")
		p.tokens[id] = append(p.tokens[id], token)
		if p.sends != nil {
			p.sends(id, statuses[form.Get("Action")], token)
		}
	case "ListStackResources":
		for kind, cluster := range p.clusters[form.Get("StackName")] {
			one := "<member><LogicalResourceId>Cluster</LogicalResourceId><PhysicalResourceId>" + cluster + "</PhysicalResourceId><ResourceType>" + kind + "</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>"
			answer = bytes.Replace(answer, []byte("</StackResourceSummaries>"), []byte(one+"</StackResourceSummaries>"), 1)
		}
	case "DescribeStackEvents":
		all := event.FindAll(answer, -1)
		n := 0 // operations of the events from here on, which are newest first
		for _, one := range all {
			if operations.Match(one) {
				n++
			}
		}
		return event.ReplaceAllFunc(answer, func(one []byte) []byte {
			of, token := p.tokens[string(stackID.FindSubmatch(one)[1])], ""
			if n > 0 && n <= len(of) {
				token = of[n-1]
			}
			if operations.Match(one) {
				n--
			}
			return []byte(strings.Replace(string(one), "</member>", "<ClientRequestToken>"+token+"</ClientRequestToken></member>", 1))
		})
	}
	return answer
}
