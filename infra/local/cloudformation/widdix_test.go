package cloudformation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// The emulator creates and deletes stacks of production templates. STACKWRIGHT_INPUTS
// names the folder with the templates. A Parent…Stack parameter names the stack whose
// exports a template imports.
func TestProductionTemplates(t *testing.T) {
	dir := os.Getenv("STACKWRIGHT_INPUTS")
	if dir == "" {
		t.Skip("STACKWRIGHT_INPUTS names no folder of templates")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates in %s: %v", dir, err)
	}
	bodies := map[string]string{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		bodies[strings.ReplaceAll(strings.TrimSuffix(rel, ".yaml"), string(filepath.Separator), "-")] = string(body)
	}
	options := cloudformation.Options{
		Fetch: func(_ context.Context, bucket, key, _ string) ([]byte, error) {
			body, ok := bodies[key]
			if !ok || bucket != "templates" {
				return nil, fmt.Errorf("no object %s in %s", key, bucket)
			}
			return []byte(body), nil
		},
	}
	scenarioIn(t, "", options, func(w *account) { w.upAndDown(bodies) })
}

// parents are the templates that Parent…Stack parameters refer to. Optional ones stay
// empty.
var parents = map[string]string{
	"ParentVPCStack": "vpc-vpc-2azs", "ParentClientStack": "state-client-sg", "ParentZoneStack": "vpc-zone-private",
	"ParentKmsKeyStack": "security-kms-key", "ParentSecretStack": "state-secretsmanager-dbsecret", "ParentAlertStack": "operations-alert",
}

// values are the values of parameters without a default.
var values = map[string]string{
	"Image": "nginx", "Name": "example.local", "PartitionKeyName": "id",
	"BlogAdminEMail": "a@example.com", "BlogAdminPassword": "password1",
	"CloudFrontAcmCertificate": "arn:aws:acm:us-east-1:000000000000:certificate/c",
	"ElbAcmCertificate":        "arn:aws:acm:us-east-1:000000000000:certificate/e",
}

func (w *account) upAndDown(bodies map[string]string) {
	var done []string
	for len(done) < len(bodies) {
		before := len(done)
		for _, name := range sortedNames(bodies) {
			if slices.Contains(done, name) {
				continue
			}
			parameters, waits := w.parametersOf(name, bodies[name], done)
			if waits {
				continue
			}
			_, err := w.client.CreateStack(w.Context(), &cfn.CreateStackInput{
				StackName: &name, TemplateURL: aws.String("https://templates.s3.eu-central-1.amazonaws.com/" + name),
				Parameters: parameters, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
			})
			if err != nil {
				w.Fatalf("create %s: %v", name, err)
			}
			w.wait(name, types.StackStatusCreateComplete)
			done = append(done, name)
		}
		if len(done) == before {
			w.Fatalf("only %v could be made", done)
		}
	}
	slices.Reverse(done)
	for _, name := range done {
		id := *w.stack(name).StackId
		w.remove(name)
		w.wait(id, types.StackStatusDeleteComplete)
	}
	w.Logf("%d stacks came up and went down: %v", len(done), done)
}

func sortedNames(bodies map[string]string) []string {
	var names []string
	for name := range bodies {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (w *account) parametersOf(name, body string, done []string) (all []types.Parameter, waits bool) {
	w.Helper()
	t, err := template.Parse(name, []byte(body))
	if err != nil {
		w.Fatalf("%s: %v", name, err)
	}
	for _, p := range t.ParameterNames() {
		parent, ok := parents[p]
		if p == "ParentClusterStack" {
			parent, ok = strings.Split(name, "-")[0]+"-cluster", true
		}
		switch {
		case ok && parent != name:
			if !slices.Contains(done, parent) {
				return nil, true
			}
			all = append(all, given(p, parent)...)
		case t.Parameters[p].Default == nil:
			value, ok := values[p]
			if some := t.Parameters[p].AllowedValues; len(some) > 0 {
				value, ok = some[0], true
			}
			if !ok {
				w.Fatalf("%s: give a value for %s (%s)", name, p, t.Parameters[p].Type)
			}
			all = append(all, given(p, value)...)
		}
	}
	return all, false
}
