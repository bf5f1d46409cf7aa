package moto

import (
	"io"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/aws/autoscaling"
	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/aws/ecs"
	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/aws/sagemaker"
)

// queried are the services, with the client of each adapter and the version of the service.
var queried = []struct {
	service, version string // the version of the query protocol, or the target of the JSON protocol with a dot at its end
	client           reflect.Type
}{
	{"cloudformation", "2010-05-15", reflect.TypeFor[cfn.Client]()},
	{"autoscaling", "2011-01-01", reflect.TypeFor[autoscaling.Client]()},
	{"rds", "2014-10-31", reflect.TypeFor[rds.Client]()},
	{"ec2", "2016-11-15", reflect.TypeFor[ec2.Client]()},
	{"ec2", "2016-11-15", reflect.TypeFor[ec2.BackupClient]()},
	{"redshift", "2012-12-01", reflect.TypeFor[redshift.Client]()},
	{"sagemaker", "SageMaker.", reflect.TypeFor[sagemaker.Client]()},
	{"redshift", "2012-12-01", reflect.TypeFor[redshift.BackupClient]()},
	{"ecs", "AmazonEC2ContainerServiceV20141113.", reflect.TypeFor[ecs.Client]()},
}

// absent is what moto logs about a call that it does not have.
var absent = regexp.MustCompile(`NotImplementedError: The (\w+) action has not been implemented`)

// moto has each call of the adapters, but for those that lacks lists.
func calls(s *server) {
	var all []string
	for _, q := range queried {
		for i := range q.client.NumMethod() {
			action := q.client.Method(i).Name
			all = append(all, action)
			s.request(q.service, q.version, action)
		}
	}
	var missing []string
	for _, m := range absent.FindAllStringSubmatch(s.logged(), -1) {
		missing = append(missing, m[1])
	}
	for _, action := range all {
		is, listed := slices.Contains(missing, snake(action)), lacks[action] != ""
		switch {
		case is && !listed:
			s.Errorf("moto has no %s, and the table does not say so", action)
		case !is && listed:
			s.Errorf("moto has %s: remove it from the table, and the difference that it makes", action)
		}
	}
	for action, cites := range lacks {
		if !slices.Contains(all, action) || !strings.HasSuffix(cites, "/API_"+action+".html") {
			s.Errorf("the table names %s: no adapter calls it, or %s is not its documentation", action, cites)
		}
	}
	if len(missing) != len(lacks) {
		s.Errorf("moto lacks %q", missing)
	}
}

// snake is how moto writes an action: DetectStackDrift is detect_stack_drift.
func snake(action string) string {
	split := regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)
	return strings.ToLower(split.ReplaceAllString(action, "${1}${3}_${2}${4}"))
}

// request sends a request without parameters to moto itself.
func (s *server) request(service, version, action string) {
	s.Helper()
	body, kind := url.Values{"Action": {action}, "Version": {version}}.Encode(), "application/x-www-form-urlencoded"
	if strings.HasSuffix(version, ".") {
		body, kind = "{}", "application/x-amz-json-1.1"
	}
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if strings.HasSuffix(version, ".") {
		r.Header.Set("X-Amz-Target", version+action)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=any/20260101/"+region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err := answer.Body.Close(); err != nil {
		s.Fatal(err)
	}
	if err != nil {
		s.Fatal(err)
	}
}
