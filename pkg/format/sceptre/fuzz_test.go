package sceptre_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
)

// Reading a Sceptre project never panics, ends, takes bounded memory, and gives the same
// project or the same problems again.
func FuzzRead(f *testing.F) {
	for _, seed := range [][3]string{
		{"project_code: shop\nregion: us-east-1\n", "template: {path: t.j2}\nparameters: {A: !stack_output b.yaml::Id, B: [1, yes]}\n", "Resources: {T: {Type: AWS::SNS::Topic}}\n"},
		{"project_code: a\nregion: us-east-1\nj2_environment: {trim_blocks: true}\n", "{% set x = 1 %}a: {{ x }}\n", "{% for i in range(3) %}# {{ i }}\n{% endfor %}"},
		{"project_code: a\nregion: us-east-1\nstack_tags_inheritance: merge\n", "stack_tags: {a: !sub ['{x}', {x: !no_value}]}\n", "{% include 't.j2' %}"},
		{"dependencies: [b.yaml]\n", "sceptre_user_data: {a: !stack_attr sceptre_user_data.a}\n", "{{ sceptre_user_data }}"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, group, stack, template []byte) {
		files := archive.Files{
			"config/config.yaml": group, "config/a.yaml": stack, "config/b.yaml": []byte("template: {path: t.j2}\n"), "templates/t.j2": template,
		}
		var err error
		contract.Memory(t, len(group)+len(stack)+len(template), 1200<<20, 10_000, func() { _, err = format.Read(files, format.Options{Targets: targets}) })
		if n := len(fault.Messages(err)); err != nil && (!fault.Is(err, fault.Invalid) || n > problem.MaxReported+1) {
			t.Errorf("%q, %d messages: %v", fault.KindOf(err), n, err)
		}
		_, again := format.Read(files, format.Options{Targets: targets})
		if diff := cmp.Diff(fault.Messages(err), fault.Messages(again)); diff != "" {
			t.Errorf("read again it has other problems:\n%s", diff)
		}
	})
}
