package stepfn_test

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/run"
)

// An upload without stacks, without a project file or for an environment that the
// project does not have is refused: it deletes nothing. So is an upload that would
// change Stackwright itself.
func TestHarmfulUploadsAreRefused(t *testing.T) {
	const topic = "    template: {Resources: {Topic: {Type: AWS::SNS::Topic}}}\n"
	const prod = "project: shop\nstacks:\n  vpc:\n" + topic
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t)
		upload := func(files archive.Files) run.Run {
			body, err := archive.Pack(files)
			if err != nil {
				t.Fatal(err)
			}
			const key = "projects/shop/prod.zip"
			id := engine.RunID("stackwright", key, r.put(key, body))
			r.requested = append(r.requested, id)
			if !r.WaitIdle() {
				t.Error("the run never ends")
			}
			return r.ExecutionStatus(id)
		}
		if got := upload(archive.Files{"stackwright.yaml": []byte(prod + "environments: {prod: {}}\n")}); got.State != run.StateSucceeded {
			t.Fatalf("%s %v", got.State, got.Messages)
		}
		r.Requests()
		for file, want := range map[string]string{
			"project: shop\nstacks: {}\nenvironments: {prod: {}}\n": "stackwright.yaml:2:9: stacks: there are none: a project has at least one stack; to delete all its stacks, use destroy",
			"project: shop\nenvironments: {prod: {}}\n":             "stackwright.yaml:1:1: stacks is missing",
			"# all gone\n": "stackwright.yaml: the file is empty",
			"":             "without a project file there is only the environment default",
			prod:           "environments: prod is not listed",
			prod + "  mine:\n    stack_name: stackwright\n" + topic + "environments: {prod: {}}\n":                                                           "stackwright.yaml:6:17: stack mine: stackwright is the stack of Stackwright itself",
			prod + "  mine:\n    template: {Resources: {Files: {Type: AWS::S3::Bucket, Properties: {BucketName: stackwright}}}}\nenvironments: {prod: {}}\n": "BucketName of resource Files: stackwright is a bucket of Stackwright itself",
		} {
			files := archive.Files{"stackwright.yaml": []byte(file)}
			if file == "" {
				files = archive.Files{"vpc.yml": []byte("Resources: {}\n"), "readme.txt": nil}
			}
			if got := upload(files); got.State != run.StateRefused || !strings.Contains(strings.Join(got.Messages, "\n"), want) {
				t.Errorf("%q is %s: %v", file, got.State, got.Messages)
			}
		}
		if requests := r.Requests(); len(requests) > 0 {
			t.Errorf("requested %v, want nothing", requests)
		}
	})
}

// An archive that has lost its project file does not replace the project that was
// deployed with it: no stack is deleted, and none loses its parameters, tags or
// termination protection.
func TestUploadWithoutItsProjectFileIsRefused(t *testing.T) {
	const key = "projects/shop/default.zip"
	files := archive.Files{
		"stackwright.yaml": []byte("project: shop\nstacks:\n  vpc:\n    template: vpc.yaml\n    stack_name: shop-vpc\n    protect: true\n    parameters: {Text: ours}\n  db:\n    template: templates/data.yaml\n"),
		"vpc.yaml":         []byte("Parameters: {Text: {Type: String, Default: hello}}\nResources: {Topic: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref Text}}}\n"),

		"templates/data.yaml": []byte("Resources: {Topic: {Type: AWS::SNS::Topic}}\n"),
	}
	plain := maps.Clone(files)
	delete(plain, "stackwright.yaml")
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t)
		upload := func(files archive.Files) run.Run {
			body, err := archive.Pack(files)
			if err != nil {
				t.Fatal(err)
			}
			id := engine.RunID("stackwright", key, r.put(key, body))
			r.requested = append(r.requested, id)
			if !r.WaitIdle() {
				t.Error("the run never ends")
			}
			return r.ExecutionStatus(id)
		}
		if got := upload(files); got.State != run.StateSucceeded {
			t.Fatalf("%s %v", got.State, got.Messages)
		}
		r.Requests()
		const want = "shop@default was deployed from files with a project file"
		if got := upload(plain); got.State != run.StateRefused || !strings.Contains(strings.Join(got.Messages, "\n"), want) {
			t.Errorf("%s %v, want refused: %s", got.State, got.Messages, want)
		}
		if requests := r.Requests(); len(requests) > 0 {
			t.Errorf("requested %v, want nothing", requests)
		}
	})
}
