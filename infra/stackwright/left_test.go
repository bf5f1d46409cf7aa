package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	schedules "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/project"
)

// left is what is left of a project: its stacks in CloudFormation, and its items in the
// table.
type left struct {
	stacks  map[string]string
	records map[string]string // node → stack
	runs    []string          // that have not ended
	lock    []string          // the owner of the lock and the queue
	times   []string          // the schedules
}

// left finds what is left of the project.
func (m *smoke) left(ctx context.Context) (l left, err error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return l, err
	}
	client := cloudformation.NewFromConfig(cfg)
	out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &m.at})
	if err != nil {
		return l, err
	}
	made := make(map[string]string)
	for _, o := range out.Stacks[0].Outputs {
		made[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	if l.stacks, err = beginning(ctx, client, m.project+"-"); err != nil {
		return l, err
	}
	id := m.project + "@" + project.DefaultEnvironment
	existing, err := schedules.New(scheduler.NewFromConfig(cfg), schedules.Group{Name: made["ScheduleGroupName"]}).List(ctx, id)
	if err != nil {
		return l, err
	}
	for _, k := range existing {
		l.times = append(l.times, k.Schedule)
	}
	return l, l.read(ctx, table.New(dynamodb.NewFromConfig(cfg), made["TableName"]), id)
}

// read reads the items of a project in the table.
func (l *left) read(ctx context.Context, t *table.Table, id string) error {
	records, err := t.Records(ctx, id)
	if err != nil {
		return err
	}
	l.records = make(map[string]string)
	for node, r := range records {
		l.records[node] = r.Stack
	}
	lock, err := t.Lock(ctx, id)
	if err != nil {
		return err
	}
	for _, w := range append(lock.Waiting, lock.Owner) {
		if w.Run != "" {
			l.lock = append(l.lock, w.Run)
		}
	}
	open, err := t.Open(ctx)
	for _, run := range open {
		if r, lost := t.Run(ctx, run); lost == nil && r.Project == id {
			l.runs = append(l.runs, run)
		}
	}
	return err
}

// beginning returns the statuses of the stacks whose names have a prefix.
func beginning(ctx context.Context, client *cloudformation.Client, prefix string) (map[string]string, error) {
	all := make(map[string]string)
	pages := cloudformation.NewDescribeStacksPaginator(client, &cloudformation.DescribeStacksInput{})
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

// none reports whether nothing is left.
func (l left) none() bool {
	return len(l.stacks)+len(l.records)+len(l.runs)+len(l.lock)+len(l.times) == 0
}

// String returns a line for each thing that is left.
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

// remedies returns the commands that delete what is left, one in each line.
func (l left) remedies(m *smoke) string {
	var all []string
	for _, run := range l.runs {
		all = append(all, fmt.Sprintf("%s cancel %s --installation %s", m.shell.Self, run, m.at))
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
