// Command aws writes the CloudFormation template that installs Stackwright into
// an AWS account. The cdk command calls it; see cdk.json for the settings.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	context, ok := app.Node().GetAllContext(nil).(map[string]any)
	if !ok {
		fail(fmt.Errorf("the context of the CDK app is no object"))
	}
	s, err := read(context)
	if err != nil {
		fail(err)
	}
	if err := install(app, s); err != nil {
		fail(err)
	}
	app.Synth(nil)
}

// fail prints what is wrong with the caller's settings.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	jsii.Close()
	os.Exit(1)
}
