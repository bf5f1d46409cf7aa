// Command start is the function that turns what is uploaded, deploys and requests, into runs, and takes up those that
// nobody drives.
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
	lambda.Start(fault.Report(wire.New(cfg, env, os.Stderr).Start))
}
