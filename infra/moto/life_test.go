package moto

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// projectFile has the stacks web, with two Auto Scaling groups, and data, with a DB instance, on which web depends.
const projectFile = `project: shop
environments: { dev: {} }
stacks:
  data: { template: data.yaml }
  web: { template: web.yaml, needs: [data] }
`

// The command on a laptop, with moto in place of CloudFormation, Auto Scaling and RDS, deploys stacks, suspends and resumes them, and deletes
// them: everything is then as it was before. A command that needs a call that moto lacks fails, and says which.
func lives(s *server) {
	l := newLife(s)
	for name, text := range map[string]string{"stackwright.yaml": projectFile, "web.yaml": template("shop-web", contract.GroupsVersion), "data.yaml": template("shop-data", contract.DatabasesVersion)} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			s.Fatal(err)
		}
	}
	l.does(cli.ExitOK, "2 created", "deploy")
	l.does(cli.ExitOK, "no changes", "plan")
	before := l.sees()
	if want := "shop-web-a 1 4 2 2 InService\nshop-web-b 1 4 2 2 InService\nshop-data-db available\nCREATE_COMPLETE CREATE_COMPLETE"; before != want {
		s.Fatalf("deployed is\n%s\nwant\n%s", before, want)
	}
	l.does(cli.ExitOK, "succeeded", "check")
	l.does(cli.ExitOK, "succeeded", "refresh")
	l.does(cli.ExitOK, "succeeded", "suspend", "--reason", "holidays")
	if got, want := l.sees(), "shop-web-a 0 0 0 0\nshop-web-b 0 0 0 0\nshop-data-db stopped\nCREATE_COMPLETE CREATE_COMPLETE"; got != want {
		s.Errorf("suspended is\n%s\nwant\n%s", got, want)
	}
	l.does(cli.ExitRefused, "suspended since", "deploy")
	l.does(cli.ExitOK, "succeeded", "resume")
	if got := l.sees(); got != before {
		s.Errorf("resumed is\n%s\nand was\n%s", got, before)
	}
	l.does(cli.ExitOK, "no changes", "plan")
	l.does(cli.ExitFailed, "InvalidAction: moto has no DetectStackDrift", "drift")
	l.does(cli.ExitOK, "2 deleted", "destroy", "--yes")
	if got := l.sees(); got != "" {
		s.Errorf("destroyed is %s", got)
	}
}

// A life is a project in moto, and a laptop that deploys it.
type life struct {
	*server
	dir  string // of the project
	data string // of the laptop
}

// newLife starts a laptop whose stacks, groups and databases are those of moto. The player sends it the events of CloudFormation: without
// them, it would wait for the time that a database usually takes.
func newLife(s *server) *life {
	l := &life{s, s.TempDir(), s.TempDir()}
	h, err := host.Open(context.Background(), cli.Hosting{Data: l.data, Address: "127.0.0.1:0", Functions: "inprocess", Seconds: 0.01, Getenv: l.getenv})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := h.Close(); err != nil {
			s.Error(err)
		}
	})
	s.played.sends = func(stack, status, token string) {
		h.Cloud.Bus.Emit("aws.cloudformation", "CloudFormation Stack Status Change", []string{stack}, map[string]any{
			"stack-id": stack, "status-details": map[string]string{"status": status, "status-reason": ""}, "client-request-token": token,
		})
	}
	return l
}

// getenv is the environment of the laptop.
func (l *life) getenv(name string) string {
	switch name {
	case "AWS_ENDPOINT_URL_CLOUDFORMATION", "AWS_ENDPOINT_URL_AUTO_SCALING", "AWS_ENDPOINT_URL_RDS":
		return *l.config.BaseEndpoint
	case "USER":
		return "ann"
	}
	return ""
}

// does runs a command, which ends with a code and prints a text.
func (l *life) does(code int, says string, args ...string) {
	l.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(l.Context(), patience)
	defer cancel()
	shell := cli.Shell{Laptop: host.Laptop{}, In: strings.NewReader(""), Out: &out, Err: &out, Self: "stackwright", Getenv: l.getenv}
	got := cli.Execute(ctx, shell, append(slices.Clone(args), l.dir, "--env", "dev", "--data", l.data))
	if got != code || !strings.Contains(out.String(), says) {
		log, err := os.ReadFile(filepath.Join(l.data, "stackwright.log"))
		l.Fatalf("%s ended with %d, want %d and that it says %q:\n%s%s %v", strings.Join(args, " "), got, code, says, out.String(), log, err)
	}
}

// sees describes what moto has of the project.
func (l *life) sees() string {
	l.Helper()
	var lines []string
	groups, err := autoscaling.NewFromConfig(l.config).DescribeAutoScalingGroups(l.Context(), &autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil {
		l.Fatal(err)
	}
	for _, g := range groups.AutoScalingGroups {
		line := fmt.Sprint(aws.ToString(g.AutoScalingGroupName), " ", *g.MinSize, *g.MaxSize, *g.DesiredCapacity, len(g.Instances))
		if len(g.Instances) > 0 {
			line += " " + string(g.Instances[0].LifecycleState)
		}
		lines = append(lines, line)
	}
	databases, err := rds.NewFromConfig(l.config).DescribeDBInstances(l.Context(), &rds.DescribeDBInstancesInput{})
	if err != nil {
		l.Fatal(err)
	}
	for _, d := range databases.DBInstances {
		lines = append(lines, aws.ToString(d.DBInstanceIdentifier)+" "+aws.ToString(d.DBInstanceStatus))
	}
	stacks, err := cloudformation.NewFromConfig(l.config).DescribeStacks(l.Context(), &cloudformation.DescribeStacksInput{})
	if err != nil {
		l.Fatal(err)
	}
	var statuses []string
	for _, st := range stacks.Stacks {
		statuses = append(statuses, string(st.StackStatus))
	}
	return strings.Join(append(lines, strings.Join(statuses, " ")), "\n")
}
