package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
	answers "github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/wire"
)

// variables are the functions' environment, as infra/aws sets it.
func variables() map[string]string {
	return map[string]string{
		"STACKWRIGHT_TABLE":         cli.Name,
		"STACKWRIGHT_BUCKET":        cli.Name,
		"STACKWRIGHT_STATE_MACHINE": cli.MachineARN(),
		"STACKWRIGHT_ACCOUNT":       cli.Account,
		"STACKWRIGHT_STACK":         cli.Name,
		"STACKWRIGHT_READS":         "1000", // here, CloudFormation refuses nobody
		"STACKWRIGHT_WRITES":        "1000",
		"AWS_REGION":                cli.Region,

		"STACKWRIGHT_SCHEDULE_GROUP": cli.Name,
		"STACKWRIGHT_SCHEDULE_ROLE":  "arn:aws:iam::" + cli.Account + ":role/stackwright-schedule",
		"STACKWRIGHT_START":          arn("start"),
	}
}

// arn is the ARN of a function.
func arn(function string) string {
	return lambda.Host{Account: cli.Account, Region: cli.Region}.ARN(function)
}

// routes has all that is requested over HTTP answered by one function, as infra/aws
// does.
func routes() []api.Route {
	var all []api.Route
	for _, key := range answers.Routes() {
		all = append(all, api.Route{Key: key, Function: arn("api")})
	}
	return all
}

// functions makes the functions, in process or as binaries; url is where the
// cloud is served.
func functions(kind, url string, log io.Writer) func(*cloud.Cloud) (cloud.Invoker, error) {
	if kind == "binaries" {
		return func(o *cloud.Cloud) (cloud.Invoker, error) {
			dir, err := bootstraps()
			if err != nil {
				return nil, err
			}
			env := o.Environ(url)
			for k, v := range variables() {
				env = append(env, k+"="+v)
			}
			return lambda.NewBinaries(dir, env, o.Host())
		}
	}
	return func(o *cloud.Cloud) (cloud.Invoker, error) {
		env, err := wire.FromEnv(func(k string) string { return variables()[k] })
		if err != nil {
			return nil, err
		}
		return lambda.InProcess(wire.New(o.Config(), env, log).Functions(), o.Host())
	}
}

// bootstraps finds the folder with the functions that make build has built:
// beside this program, or under ./build.
func bootstraps() (string, error) {
	var tried []string
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range []string{filepath.Dir(self), "build"} {
		missing := lacking(dir)
		if len(missing) == 0 {
			return dir, nil
		}
		tried = append(tried, fmt.Sprintf("%s lacks %s", dir, strings.Join(missing, ", ")))
	}
	return "", fault.New(fault.Refused, "the functions are not built (%s): run make build", strings.Join(tried, "; "))
}

// lacking lists the functions that are not built in a folder.
func lacking(dir string) []string {
	var missing []string
	for _, f := range wire.Names() {
		if _, err := os.Stat(filepath.Join(dir, f, "bootstrap")); err != nil {
			missing = append(missing, f)
		}
	}
	return missing
}
