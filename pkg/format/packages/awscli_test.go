package packages

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/archive"
)

var cli = flag.String("awscli", "", "the AWS CLI: compare with its package command")

// notOfTheCLI are the places that the SAM CLI packages and the AWS CLI leaves as they are.
var notOfTheCLI = []string{
	"AWS::AppSync::FunctionConfiguration.CodeS3Location", "AWS::AppSync::Resolver.CodeS3Location", "AWS::Serverless::GraphQLApi.SchemaUri",
	"AWS::Serverless::HttpApi.DefinitionUri", "Function.CodeUri",
}

// The real aws cloudformation package makes the same template, apart from the names of the objects, and its objects have the same
// content. It packages the same properties, except for those of notOfTheCLI.
func TestPackagesAreThoseOfTheAWSCLI(t *testing.T) {
	if *cli == "" {
		t.Skip("-awscli is not set: make integration sets it")
	}
	files := archive.Files{
		"t.yaml": []byte(`Description: all that a template can name
Metadata:
  AWS::ServerlessRepo::Application: { Name: x, LicenseUrl: ./LICENSE, ReadmeUrl: docs/readme.md }
Parameters: { Bucket: { Type: String } }
Resources:
  Literal: { Type: AWS::Lambda::Function, Properties: { Code: { ZipFile: "x = 1" }, Role: !GetAtt Role.Arn } }
  Elsewhere: { Type: AWS::Lambda::Function, Properties: { Code: { S3Bucket: !Ref Bucket, S3Key: !Sub "${Bucket}/x" } } }
  Single: { Type: AWS::Lambda::Function, Properties: { Code: src/main.py, Role: !GetAtt Role.Arn } }
  Zipped: { Type: AWS::Lambda::Function, Properties: { Code: code.zip } }
  Url: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: https://other.s3.amazonaws.com/k } }
  Parent: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: nested/parent.yaml, Parameters: { A: !Join [",", [a, !Ref Bucket]] } } }
  Included:
    Type: AWS::SNS::Topic
    Properties:
      Fn::Transform: { Name: AWS::Include, Parameters: { Location: docs/readme.md } }
      Tags: [{ Fn::Transform: { Name: AWS::Include, Parameters: { Location: LICENSE } } }]
  Other: { Type: AWS::SNS::Topic, Fn::Transform: { Name: Mine, Parameters: { Location: LICENSE } } }
  Fn::ForEach::Each: [X, [a, b], { "F${X}": { Type: AWS::Serverless::Function, Properties: { CodeUri: ./src } } }]
`),
		"nested/parent.yaml": []byte("Resources: { Child: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: ../child.yaml } } }\n"),
		"child.yaml":         []byte("Resources:\n  F: { Type: AWS::Lambda::Function, Properties: { Code: src } }\n"),
		"src/main.py":        []byte("print(1)\n"), "src/lib/x.py": []byte("x = 1\n"), "LICENSE": []byte("free\n"), "docs/readme.md": []byte("# read me\n"),
	}
	var err error
	if files["code.zip"], err = pack(map[string][]byte{"a.py": []byte("a = 1\n")}); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for i, p := range places {
		path := "./LICENSE"
		if p.zip {
			path = "./src"
		}
		if p.template {
			path = "child.yaml"
		}
		if p.section == "Resources" {
			var v any = path
			for _, k := range slices.Backward(strings.Split(p.property, ".")) {
				v = map[string]any{k: v}
			}
			all[fmt.Sprint("R", i)] = map[string]any{"Type": p.of, "Properties": v}
		}
	}
	body, err := json.Marshal(map[string]any{"Resources": all, "Globals": map[string]any{"Function": map[string]any{"CodeUri": "./src"}}})
	if err != nil {
		t.Fatal(err)
	}
	files["places.json"] = body

	dir := t.TempDir()
	for name, body := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"t.yaml", "places.json"} {
		packed, p, problems := run(files, name)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		ours := objects{}
		for digest, body := range p.Objects {
			ours[Key("shop", digest)] = body
		}
		theirBody, theirs := packagedByCLI(t, filepath.Join(dir, name))
		got, want := ours.template(t, packed.Body), theirs.template(t, theirBody)
		left := restore(t, got.(map[string]any), want.(map[string]any))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (- the AWS CLI, + Stackwright):\n%s", name, d)
		}
		if name == "places.json" {
			if d := cmp.Diff(notOfTheCLI, left); d != "" {
				t.Errorf("the AWS CLI does not package (- want, + got):\n%s", d)
			}
		}
	}
}

// restore puts the values that the AWS CLI has not packaged into got, and returns the names of their places.
func restore(t *testing.T, got, want map[string]any) (left []string) {
	t.Helper()
	for _, p := range places {
		section, ok := want[p.section].(map[string]any)
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(section)) {
			theirs, _ := section[name].(map[string]any)
			if theirs["Type"] == p.of {
				theirs, _ = theirs["Properties"].(map[string]any)
			} else if name != p.of {
				continue
			}
			if path, ok := theirs[p.property].(string); ok && strings.HasPrefix(path, "./") {
				left = append(left, p.of+"."+p.property)
				ours := got[p.section].(map[string]any)[name].(map[string]any)
				if ours["Type"] == p.of {
					ours = ours["Properties"].(map[string]any)
				}
				if ours[p.property] == path {
					t.Errorf("%s %s: Stackwright does not package it either", p.of, p.property)
				}
				ours[p.property] = path
			}
		}
	}
	slices.Sort(left)
	return left
}

// packagedByCLI returns the template that the AWS CLI makes of a file, and the objects that it uploads.
func packagedByCLI(t *testing.T, file string) ([]byte, objects) {
	t.Helper()
	var mu sync.Mutex
	uploaded := objects{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			w.WriteHeader(http.StatusNotFound) // no object is there yet
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		uploaded[strings.TrimPrefix(r.URL.Path, "/uploads/")] = body
		mu.Unlock()
	}))
	defer server.Close()
	out := filepath.Join(t.TempDir(), "out.json")
	c := exec.CommandContext(t.Context(), *cli, "cloudformation", "package", "--template-file", file, "--s3-bucket", "uploads", "--use-json", "--output-template-file", out)
	c.Dir = filepath.Dir(file) // the AWS CLI zips a single file only if its path is right from here
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=any", "AWS_DEFAULT_REGION=eu-west-1", "AWS_ENDPOINT_URL=" + server.URL,
		"AWS_REQUEST_CHECKSUM_CALCULATION=when_required", // else the body is in chunks, each with a checksum
	}
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	body, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return body, uploaded
}

// objects are objects by their keys.
type objects map[string][]byte

// address is the address of an object in the bucket uploads. With another endpoint, the AWS CLI writes URLs of that.
var address = regexp.MustCompile(`^(s3|http)s?://(?:uploads/|127\.0\.0\.1:\d+/uploads/|uploads\.s3\.[^/]*/)(.*)$`)

// template reads a template, with what is in an object in place of its address.
func (o objects) template(t *testing.T, body []byte) any {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(body, &root); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return o.value(t, root.Content[0])
}

func (o objects) value(t *testing.T, n *yaml.Node) (v any) {
	t.Helper()
	switch n.Kind {
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			all[n.Content[i].Value] = o.value(t, n.Content[i+1])
		}
		v = all
	case yaml.SequenceNode:
		all := []any{}
		for _, c := range n.Content {
			all = append(all, o.value(t, c))
		}
		v = all
	default:
		v = n.Value
		if m := address.FindStringSubmatch(n.Value); m != nil && o[m[2]] != nil {
			v = []any{m[1], o.content(t, m[2])}
		} else if o[n.Value] != nil {
			v = o.content(t, n.Value)
		}
	}
	switch tag := n.ShortTag(); {
	case tag == "!Ref":
		return map[string]any{"Ref": v}
	case tag == "!GetAtt":
		resource, attribute, _ := strings.Cut(n.Value, ".")
		return map[string]any{"Fn::GetAtt": []any{resource, attribute}}
	case strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!"):
		return map[string]any{"Fn::" + tag[1:]: v}
	}
	return v
}

// content is what is in an object: the files of a zip by their names, a template, or the digest of the bytes.
func (o objects) content(t *testing.T, key string) any {
	t.Helper()
	body := o[key]
	if r, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); err == nil {
		all := map[string]any{}
		for _, f := range r.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			all[f.Name] = string(body)
		}
		return all
	}
	if bytes.Contains(body, []byte("Resources")) {
		return o.template(t, body)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
