package s3

import (
	"fmt"
	"net"
	"net/http"
)

// emit sends the event that S3 sends to EventBridge:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
func (o *Objects) emit(c change, r *http.Request, requestID string) {
	if o.opts.Emit == nil {
		return
	}
	object := map[string]any{
		"key": c.key, "sequencer": fmt.Sprintf("%016X", c.sequencer), "size": c.size, "etag": c.etag,
	}
	if c.version != "" {
		object["version-id"] = c.version
	}
	detail := map[string]any{
		"version": "0", "bucket": map[string]any{"name": c.bucket}, "object": object, "request-id": requestID,
		"requester": o.opts.Account, "source-ip-address": address(r), "reason": c.reason,
	}
	what := "Object Created"
	if c.deletion != "" {
		what, detail["deletion-type"] = "Object Deleted", c.deletion
	}
	o.opts.Emit("aws.s3", what, []string{"arn:aws:s3:::" + c.bucket}, detail)
}

func address(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return "127.0.0.1"
}
