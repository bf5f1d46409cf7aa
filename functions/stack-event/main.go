// Command stack-event is the function that wakes the run that a change of a stack's status is about.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/wire"
)

func main() {
	env, err := wire.FromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(fault.Report(wire.New(cfg, env, os.Stderr).StackEvent))
}
