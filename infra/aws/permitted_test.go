package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// permitted checks a request against the role of the function that makes it. The
// access key is the function's name. It is an error if the role does not allow the
// request, as AWS would refuse it. For S3, permitted checks the names of objects too.
func (i *installed) permitted(r *http.Request) {
	key, _, _ := gateway.Scope(r)
	role, ok := i.roles[key+"Role"]
	if !ok {
		return // no function
	}
	call, err := gateway.Identify(r)
	if err != nil {
		i.Errorf("%s: %v", key, err)
		return
	}
	actions := []string{call.Service + ":" + call.Operation}
	if call.Operation == "TransactWriteItems" {
		actions = i.inTransaction(r)
	}
	if call.Operation == "GetObject" || call.Operation == "HeadObject" {
		actions = []string{"s3:GetObject"}
		if r.URL.Query().Has("versionId") {
			actions = []string{"s3:GetObjectVersion"}
		}
	}
	if call.Operation == "ListObjects" {
		actions = []string{"s3:ListBucket"}
	}
	if call.Operation == "ListObjectVersions" {
		actions = []string{"s3:ListBucketVersions"}
	}
	for _, a := range actions {
		on := ""
		if call.Service == "s3" {
			on = "arn:aws:s3:::" + strings.TrimPrefix(r.URL.Path, "/")
		}
		if !role.allows(a, on, i.blueprint.bucket()) {
			i.Errorf("%s requests %s, which its role does not allow", key, strings.TrimSpace(a+" "+on))
		}
		i.count(key + " requests").Add(1)
	}
}

// inTransaction maps the actions of a transaction to those of IAM.
func (i *installed) inTransaction(r *http.Request) []string {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var in struct{ TransactItems []map[string]any }
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		i.Errorf("a transaction: %v", err)
	}
	var all []string
	for _, item := range in.TransactItems {
		for does := range item {
			all = append(all, "dynamodb:"+strings.TrimSuffix(does, "Item")+"Item")
		}
	}
	return all
}

// allows reports whether a role allows an action, on an ARN unless that is empty.
func (r role) allows(action, on, bucket string) bool {
	for _, p := range r.Policies {
		for _, s := range p.PolicyDocument.Statement {
			if s.Effect != "Allow" || !slices.Contains(texts(s.Action), action) {
				continue
			}
			for _, arn := range texts(s.Resource) {
				arn = strings.ReplaceAll(arn, "${Bucket.Arn}", "arn:aws:s3:::"+bucket)
				arn = strings.ReplaceAll(regexp.QuoteMeta(arn), `\*`, ".*")
				if on == "" || regexp.MustCompile("^"+arn+"$").MatchString(on) {
					return true
				}
			}
		}
	}
	return false
}
