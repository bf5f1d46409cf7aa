// Command api is the function that answers requests over HTTP: it starts runs, shows them and steers them.
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
	lambda.Start(fault.Report(wire.New(cfg, env, os.Stderr).API))
}
