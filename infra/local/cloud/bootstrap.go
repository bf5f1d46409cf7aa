package cloud

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/sts"
)

// bootstrapBucket is the path of a request to the bucket for files that cdk bootstrap creates in an account and region.
// https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
var bootstrapBucket = regexp.MustCompile(`^/(cdk-[a-z0-9]{1,10}-assets-(\d{12})-[a-z0-9-]+)(?:/|$)`)

// bootstrapped gives every account the buckets of cdk bootstrap: each exists when it is first used, and only with
// credentials of its account. next serves all other buckets.
func (c *Cloud) bootstrapped(next http.Handler) http.Handler {
	own := c.unexpired(c.Objects)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := bootstrapBucket.FindStringSubmatch(r.URL.Path)
		if of == nil {
			next.ServeHTTP(w, r)
			return
		}
		if by := c.caller(r); by.Account != of[2] {
			gateway.Refuse(w, r, http.StatusForbidden, gateway.Fault{Code: "AccessDenied", Message: by.Arn + " is not authorized: the bucket is that of another account"})
			return
		}
		if err := c.createBucket(r, of[1]); err != nil {
			gateway.Refuse(w, r, http.StatusInternalServerError, gateway.Fault{Code: "InternalError", Message: err.Error()})
			return
		}
		own.ServeHTTP(w, r)
	})
}

// bootstrapVersion is the parameter with the version of the bootstrap stack, which templates of the CDK read.
var bootstrapVersion = regexp.MustCompile(`^/cdk-bootstrap/[a-z0-9]{1,10}/version$`)

// bootstrapParameter returns the value of a parameter of the parameter store that cdk bootstrap creates.
func bootstrapParameter(name string) (string, bool) { return "30", bootstrapVersion.MatchString(name) }

// caller is the principal that signed a request.
func (c *Cloud) caller(r *http.Request) sts.Identity {
	key, _, _ := gateway.Scope(r)
	return sts.Caller(c.opts.Account, key)
}

// createBucket creates a bucket unless it exists.
func (c *Cloud) createBucket(r *http.Request, name string) error {
	c.bootstrapping.Lock()
	defer c.bootstrapping.Unlock()
	for _, method := range []string{http.MethodHead, http.MethodPut} {
		in, err := http.NewRequestWithContext(r.Context(), method, "http://"+r.Host+"/"+name, nil)
		if err != nil {
			return err
		}
		out := &gateway.Recorder{}
		c.Objects.ServeHTTP(out, in)
		if out.OK() {
			return nil
		}
		if method == http.MethodPut {
			return fmt.Errorf("create bucket %s: status %d", name, out.Status)
		}
	}
	return nil
}
