package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/project"
)

// What is left of a project: its stacks at CloudFormation by their statuses, and
// what the table has of it.
type left struct {
	stacks  map[string]string
	records map[string]string // node → stack
	runs    []string          // that are not over
	lock    []string          // runs that hold it, or wait for it
	times   []string          // its schedules
}

// left looks for what is left.
func (m *smoke) left(ctx context.Context) (l left, err error) {
	c := &call{shell: m.shell, flags: flags{installation: m.flags.installation, project: m.project}}
	s, err := c.open(ctx)
	if err != nil {
		return l, err
	}
	if l.stacks, err = s.beginning(ctx, m.project+"-"); err != nil {
		return l, err
	}
	schedules, err := s.schedules(ctx)
	if err != nil {
		return l, err
	}
	for _, k := range schedules {
		l.times = append(l.times, k.Schedule)
	}
	return l, l.read(ctx, s, m.project+"@"+project.DefaultEnvironment)
}

// read reads what the table has of a project.
func (l *left) read(ctx context.Context, s *session, id string) error {
	records, err := s.reader.Records(ctx, id)
	if err != nil {
		return err
	}
	l.records = make(map[string]string)
	for node, r := range records {
		l.records[node] = r.Stack
	}
	lock, err := s.reader.Lock(ctx, id)
	if err != nil {
		return err
	}
	for _, w := range append(lock.Waiting, lock.Owner) {
		if w.Run != "" {
			l.lock = append(l.lock, w.Run)
		}
	}
	open, err := s.reader.Open(ctx)
	for _, run := range open {
		if r, lost := s.reader.Run(ctx, run); lost == nil && r.Project == id {
			l.runs = append(l.runs, run)
		}
	}
	return err
}

// beginning are the stacks, in the installation's own account and region, whose names
// begin so, with their statuses.
func (s *session) beginning(ctx context.Context, prefix string) (map[string]string, error) {
	all := make(map[string]string)
	pages := cloudformation.NewDescribeStacksPaginator(cloudformation.NewFromConfig(s.config), &cloudformation.DescribeStacksInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, st := range page.Stacks {
			if name := aws.ToString(st.StackName); strings.HasPrefix(name, prefix) {
				all[name] = string(st.StackStatus)
			}
		}
	}
	return all, nil
}

// none reports whether nothing is.
func (l left) none() bool {
	return len(l.stacks)+len(l.records)+len(l.runs)+len(l.lock)+len(l.times) == 0
}

// String is a line for each thing.
func (l left) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.stacks)) {
		fmt.Fprintf(&b, "  stack %s (%s)\n", name, l.stacks[name])
	}
	for _, node := range slices.Sorted(maps.Keys(l.records)) {
		fmt.Fprintf(&b, "  record %s\n", node)
	}
	for _, run := range l.runs {
		fmt.Fprintf(&b, "  run %s, which is not over\n", run)
	}
	for _, name := range l.times {
		fmt.Fprintf(&b, "  schedule %s\n", name)
	}
	for _, run := range l.lock {
		fmt.Fprintf(&b, "  the lock, which run %s holds or waits for\n", run)
	}
	return b.String()
}

// remedies are the commands that remove it all, a line each.
func (l left) remedies(m *smoke) string {
	var all []string
	for _, run := range l.runs {
		all = append(all, fmt.Sprintf("%s cancel %s --installation %s", m.shell.self, run, m.flags.installation))
	}
	all = append(all, m.remedy())
	recorded := slices.Collect(maps.Values(l.records))
	for _, name := range slices.Sorted(maps.Keys(l.stacks)) {
		if !slices.Contains(recorded, name) {
			all = append(all, "aws cloudformation delete-stack --stack-name "+name)
		}
	}
	return "  " + strings.Join(all, "\n  ")
}
