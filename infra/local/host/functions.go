package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	answers "github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/wire"
)

// remoteFiles is the name of the file in a data folder that lists which files from elsewhere projects may use, an entry a line.
const remoteFiles = "remote-files"

// notifyFile is the name of the file in a data folder that lists where events of runs are delivered to, an entry a line. The secrets
// are files in the folder secrets beside it.
const notifyFile = "notify"

// variables are the functions' environment, as infra/aws sets it, at a data folder; "" is none.
func variables(data string) (map[string]string, error) {
	all := map[string]string{
		"STACKWRIGHT_TABLE":           cli.Name,
		"STACKWRIGHT_BUCKET":          cli.Name,
		"STACKWRIGHT_STATE_MACHINE":   cli.MachineARN(),
		"STACKWRIGHT_ACCOUNT":         cli.Account,
		"STACKWRIGHT_PROJECTS":        cli.Projects().String(),
		"STACKWRIGHT_STACK":           cli.Name,
		"STACKWRIGHT_EMULATORS":       cmp.Or(data, "memory"),
		"STACKWRIGHT_TARGET_ACCOUNTS": "*",
		"STACKWRIGHT_READS":           "1000", // here, CloudFormation refuses nobody
		"STACKWRIGHT_WRITES":          "1000",
		"AWS_REGION":                  cli.Region,
		"STACKWRIGHT_SUSPEND":         "*@*",
		"STACKWRIGHT_CDK_ASSETS":      "*@*",
		"STACKWRIGHT_BACKUPS":         "*@*",
		"STACKWRIGHT_BACKUP_VAULT":    "Default,service-role/AWSBackupDefaultServiceRole",
		"STACKWRIGHT_ORGANIZATION":    "own",
		"STACKWRIGHT_EXTERNAL":        "*@*=*,*@*=ssm:*",                                                                                                                                   // all stacks here are the user's
		"STACKWRIGHT_HOOKS":           "arn:aws:events:" + cli.Region + ":" + cli.Account + ":event-bus/default,arn:aws:cloudwatch:*:*:alarm:*,arn:aws:autoscaling:*:*:autoScalingGroup:*", // users have no functions here

		"STACKWRIGHT_SCHEDULE_GROUP": cli.Name,
		"STACKWRIGHT_SCHEDULE_ROLE":  "arn:aws:iam::" + cli.Account + ":role/stackwright-schedule",
		"STACKWRIGHT_START":          arn("start"),
	}
	if data == "" {
		return all, nil
	}
	name := filepath.Join(data, remoteFiles)
	body, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read which files from elsewhere projects may use: %w", err)
	}
	if _, err := remote.ParseAllowed(entries(body)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all["STACKWRIGHT_REMOTE_FILES"], all["STACKWRIGHT_REMOTE_FILES_IN"] = entries(body), name

	name = filepath.Join(data, notifyFile)
	body, err = os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read where events are delivered to: %w", err)
	}
	if _, err := notify.Parse(entries(body)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all["STACKWRIGHT_NOTIFY"] = entries(body)
	return all, nil
}

// entries are the lines of a file with commas, without comments.
func entries(body []byte) string {
	var all []string
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return strings.Join(all, ",")
}

// arn is the ARN of a function.
func arn(function string) string {
	return lambda.Host{Account: cli.Account, Region: cli.Region}.ARN(function)
}

// routes has all that is requested over HTTP answered by one function, as infra/aws
// does.
func routes() []api.Route {
	all := []api.Route{{Key: answers.Other, Function: arn("api")}} // the function answers with a problem document
	for _, key := range answers.Routes() {
		all = append(all, api.Route{Key: key, Function: arn("api")})
	}
	return all
}

// functions makes the functions, in process or as binaries; url is where the
// cloud is served.
func functions(how cli.Hosting, url string, own map[string]string) func(*cloud.Cloud) (cloud.Invoker, error) {
	if how.Functions == "binaries" {
		return func(o *cloud.Cloud) (cloud.Invoker, error) {
			dir, err := bootstraps()
			if err != nil {
				return nil, err
			}
			env := o.Environ(url)
			for k, v := range own {
				env = append(env, k+"="+v)
			}
			return lambda.NewBinaries(dir, env, o.Host())
		}
	}
	return func(o *cloud.Cloud) (cloud.Invoker, error) {
		env, err := wire.FromEnv(func(k string) string { return own[k] })
		if err != nil {
			return nil, err
		}
		env.Web, env.Servers, env.Organizations = how.Web, how.Servers, wire.Organization
		return lambda.InProcess(wire.New(o.ConfigAt(url), env, how.Log).Functions(policy.Checker{}), o.Host())
	}
}

// bootstraps finds the folder with the functions that make build has built:
// beside this program, or under ./build.
func bootstraps() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	var tried []string
	for _, dir := range []string{filepath.Dir(self), "build"} {
		lacking := slices.DeleteFunc(wire.Names(), func(function string) bool {
			_, err := os.Stat(filepath.Join(dir, function, "bootstrap"))
			return err == nil
		})
		if len(lacking) == 0 {
			return dir, nil
		}
		tried = append(tried, fmt.Sprintf("%s lacks %s", dir, strings.Join(lacking, ", ")))
	}
	return "", fault.New(fault.Refused, "the functions are not built (%s): run make build", strings.Join(tried, "; "))
}

var laptopRole = regexp.MustCompile(`^arn:aws:iam::\d{12}:role/stackwright/stackwright-(?:orchestrator|reader)$`)

// publishingRole is the role with which assets of the CDK are published. On a laptop, every account has been
// bootstrapped with cdk bootstrap.
var publishingRole = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/cdk-[a-z0-9]{1,10}-(?:file|image)-publishing-role-(\d{12})-[a-z0-9-]+$`)

// trust returns the external ID that a role requires. On a laptop, every account has the
// role that infra/aws/target creates, with the external ID of the targets that name the role.
func (h *Host) trust(role string) (externalID string, ok bool) {
	if m := publishingRole.FindStringSubmatch(role); m != nil && m[1] == m[2] {
		return "", true
	}
	if !laptopRole.MatchString(role) {
		return "", false
	}
	all, err := table.New(dynamodb.NewFromConfig(h.Cloud.Config()), cli.Name).Targets(context.Background())
	if err != nil {
		fmt.Fprintf(h.logged, "the registered targets cannot be read, so that no role trusts this installation: %v\n", err)
		return "", false
	}
	for _, a := range all {
		if a.Assumes(role) {
			return a.ExternalID, true
		}
	}
	return "", false
}
