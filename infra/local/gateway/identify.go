package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxForm bounds a Query request's body: a template of 51,200 bytes, percent-encoded, is far below.
const maxForm = 4 << 20

// Scope reads the access key and the service from the SigV4 credential of the request, in the Authorization header or
// in the query of a presigned URL; ok is false without one.
func Scope(r *http.Request) (accessKey, service string, ok bool) {
	parts := credential(r)
	if len(parts) < 5 {
		return "", "", false
	}
	return strings.Join(parts[:len(parts)-4], "/"), parts[len(parts)-2], true
}

// Region is the region that the request is signed for, "" if it is unsigned.
func Region(r *http.Request) string {
	parts := credential(r)
	if len(parts) < 5 {
		return ""
	}
	return parts[len(parts)-3]
}

// credential is the credential of the request, as in AKID/20260102/us-east-1/s3/aws4_request, in its parts.
func credential(r *http.Request) []string {
	text := r.URL.Query().Get("X-Amz-Credential")
	if _, rest, found := strings.Cut(r.Header.Get("Authorization"), "Credential="); found {
		text, _, _ = strings.Cut(rest, ",")
	}
	return strings.Split(strings.TrimSpace(text), "/")
}

// Identify returns the service and the operation of a request. It may read a form from the body, and restores the body.
// An unsigned request is identified by its target or action; one with neither belongs to S3. A request to an API of API
// Gateway belongs to that API, whatever it contains.
func Identify(r *http.Request) (Call, error) {
	if toAPI(r) {
		return Call{Service: "execute-api", Operation: "Invoke"}, nil
	}
	action, err := formAction(r)
	if err != nil {
		return Call{}, err
	}
	_, service, signed := Scope(r)
	if !signed {
		service = serviceOfUnsigned(r, action)
	}
	return Call{Service: service, Operation: operation(service, action, r)}, nil
}

// toAPI reports whether a request goes to an API of API Gateway: it is signed for one, or unsigned and sent to the name
// of one, as in x.execute-api.localhost.
func toAPI(r *http.Request) bool {
	_, service, signed := Scope(r)
	return service == "execute-api" || !signed && strings.Contains(r.Host, ".execute-api.")
}

func serviceOfUnsigned(r *http.Request, action string) string {
	prefix, _, found := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case found && strings.HasPrefix(prefix, "DynamoDB"):
		return "dynamodb"
	case found && prefix == "AWSStepFunctions":
		return "states"
	case found && prefix == "AWSEvents":
		return "events"
	case found:
		return strings.ToLower(prefix)
	case action == "GetCallerIdentity" || strings.HasPrefix(action, "AssumeRole") || action == "GetSessionToken":
		return "sts"
	case action != "":
		return "cloudformation"
	case strings.HasPrefix(r.URL.Path, "/2015-03-31/functions"):
		return "lambda"
	case strings.HasPrefix(r.URL.Path, "/schedules") || strings.HasPrefix(r.URL.Path, "/schedule-groups"):
		return "scheduler"
	default:
		return "s3"
	}
}

func operation(service, action string, r *http.Request) string {
	if _, name, found := strings.Cut(r.Header.Get("X-Amz-Target"), "."); found {
		return name
	}
	switch {
	case action != "":
		return action
	case CBOR(r):
		return cborOperation(r)
	case service == "lambda" && r.Method == http.MethodPost:
		return "Invoke"
	case service == "lambda":
		return "ListFunctions"
	case service == "scheduler":
		return scheduleOperation(r)
	case service == "backup":
		return backupOperation(r)
	default:
		return objectOperation(r)
	}
}

// backupOperation is the operation of a request to AWS Backup:
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_Operations.html
func backupOperation(r *http.Request) string {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case kind == "tags":
		return "ListTags"
	case kind == "backup-jobs" && r.Method == http.MethodPut:
		return "StartBackupJob"
	case kind == "backup-jobs" && rest == "":
		return "ListBackupJobs"
	case kind == "backup-jobs":
		return "DescribeBackupJob"
	case !strings.Contains(rest, "/recovery-points/"):
		return "DescribeBackupVault"
	case r.Method == http.MethodDelete:
		return "DeleteRecoveryPoint"
	}
	return "DescribeRecoveryPoint"
}

// scheduleOperation is the operation of a request to Scheduler:
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_Operations.html
func scheduleOperation(r *http.Request) string {
	verbs := map[string]string{"GET": "Get", "POST": "Create", "PUT": "Update", "DELETE": "Delete"}
	kind, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	what := "Schedule"
	if kind == "schedule-groups" {
		what = "ScheduleGroup"
	}
	if name == "" {
		return "List" + what + "s"
	}
	return verbs[r.Method] + what
}

// formAction is the Action of a Query request, in its form or in its URL.
func formAction(r *http.Request) (string, error) {
	if action := r.URL.Query().Get("Action"); action != "" {
		return action, nil
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") || r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxForm+1))
	if err != nil {
		return "", fmt.Errorf("read the form: %w", err)
	}
	if len(body) > maxForm {
		return "", fmt.Errorf("read the form: more than %d bytes", maxForm)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", fmt.Errorf("read the form: %w", err)
	}
	return form.Get("Action"), nil
}

// objectOperation is the operation of a request to S3:
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations.html
func objectOperation(r *http.Request) string {
	verbs := map[string]string{"GET": "Get", "HEAD": "Head", "PUT": "Put", "DELETE": "Delete", "POST": "Post"}
	q := r.URL.Query()
	if q.Has("uploadId") || q.Has("uploads") {
		return multipartOperation(r.Method, q)
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case q.Has("versioning"):
		return verbs[r.Method] + "BucketVersioning"
	case q.Has("delete"):
		return "DeleteObjects"
	case q.Has("versions"):
		return "ListObjectVersions"
	case q.Get("x-id") != "": // the SDK names it for operations on objects
		return q.Get("x-id")
	case r.URL.Path == "/" && r.Method == http.MethodGet && strings.Count(r.Host, ".") < 2:
		return "ListBuckets"
	case key == "" && r.Method == http.MethodPut:
		return "CreateBucket"
	case key == "" && r.Method == http.MethodGet:
		return "ListObjects"
	case key == "":
		return verbs[r.Method] + "Bucket"
	default:
		return verbs[r.Method] + "Object"
	}
}

func multipartOperation(method string, q url.Values) string {
	switch {
	case method == http.MethodPost && q.Has("uploads"):
		return "CreateMultipartUpload"
	case method == http.MethodPost:
		return "CompleteMultipartUpload"
	case method == http.MethodPut:
		return "UploadPart"
	case method == http.MethodDelete:
		return "AbortMultipartUpload"
	case q.Has("uploads"):
		return "ListMultipartUploads"
	default:
		return "ListParts"
	}
}
