package wire

import (
	"cmp"
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Main runs one of App's methods as a Lambda function. The environment names the
// installation; if it is incomplete, Main ends the process before the function
// accepts an event.
func Main[In, Out any](handle func(*App, context.Context, In) (Out, error)) {
	env, err := FromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal("load the AWS configuration: ", err)
	}
	app := New(cfg, env, os.Stderr)
	lambda.Start(report(func(ctx context.Context, in In) (Out, error) { return handle(app, ctx, in) }))
}

// report returns handle with an error whose type is the kind of the fault, and not
// the name of a Go type: the state machine retries and catches errors by it.
func report[In, Out any](handle func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := handle(ctx, in)
		if err == nil {
			return out, nil
		}
		return out, messages.InvokeResponse_Error{Type: string(cmp.Or(fault.KindOf(err), fault.Broken)), Message: err.Error()}
	}
}
