package packages

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// Packaging never panics and takes a bounded amount of memory. A packaged template can be read, names no file that was
// packaged, and is not changed when it is packaged again.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"Resources: {F: {Type: AWS::Lambda::Function, Properties: {Code: ./src}}}", "Resources:\n  F:\n    Type: AWS::Lambda::Function\n    Properties:\n      Code: 'src' # x\n",
		`{"Resources": {"S": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "./t.yaml"}}}}`,
		"Resources: {S: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: child.yaml}}}", "Transform: {Name: AWS::Include, Parameters: {Location: src/a}}",
		"Resources: {F: {Type: AWS::Serverless::Function, Properties: {CodeUri: \"s\\x72c\"}}}", "Globals: {Function: {CodeUri: ../..}}", "Resources: {F: {Type: AWS::Lambda::Function, Properties: {Code: &a src, X: *a}}}",
		"Resources:\n  F:\n    Type: AWS::Lambda::Function\n    Properties:\n      Code: >-\n        src\n", "\ufeffResources: {é: {Type: AWS::Lambda::Function, Properties: {Code: .}}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		files := archive.Files{"t.yaml": []byte(body), "child.yaml": []byte("Resources: {T: {Type: AWS::SNS::Topic}}"), "src/a": []byte("a")}
		var packed Packed
		var p *Packager
		ok := false
		contract.Memory(t, len(body), 16<<20, 6000, func() {
			p = &Packager{Files: files, Store: Store{"uploads", "eu-west-1"}, Project: "shop", List: &problem.List{}, Admit: func([]byte) bool { return true }}
			packed, ok = p.Template("t.yaml", files["t.yaml"], func(line, column int) problem.Position {
				return problem.Position{File: "t.yaml", Line: line, Column: column}
			})
		})
		if ok != (p.List.Err() == nil) {
			t.Fatalf("ok is %t: %v", ok, p.List.Err())
		}
		if _, err := document.Read("t.yaml", []byte(body)); err != nil || !ok {
			return
		}
		if _, err := document.Read("t.yaml", packed.Body); err != nil {
			t.Fatalf("%v\n%s", err, packed.Body)
		}
		again, ok := p.Template("t.yaml", packed.Body, func(line, column int) problem.Position { return problem.Position{} })
		if !ok || string(again.Body) != string(packed.Body) {
			t.Errorf("packaged again (%t), it is\n%s\nnot\n%s", ok, again.Body, packed.Body)
		}
	})
}
