package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// Command gives a run the command of a name: CancelRun is the command cancel, and so on.
func (c *Client) Command(ctx context.Context, project, environment, run, command string, body report.CommandRequest, options ...Option) (report.Run, error) {
	var got report.Run
	path := at("/projects/{project}/{environment}/runs/{run}/{command}", project, environment, run, command)
	err := c.ask(ctx, request{method: http.MethodPost, path: path, body: body}, &got, options)
	return got, err
}

// Upload uploads a zip archive of a project's files, and returns the key and the version that StartRun names.
func (c *Client) Upload(ctx context.Context, project, environment string, archive []byte) (key, version string, err error) {
	sum := sha256.Sum256(archive)
	to, err := c.CreateUpload(ctx, project, environment, report.UploadRequest{Bytes: int64(len(archive)), SHA256: hex.EncodeToString(sum[:]), Format: "zip"})
	if err != nil {
		return "", "", fmt.Errorf("upload to %s: %w", c.url, err)
	}
	if err := retry(ctx, func() (err error) {
		version, err = c.put(ctx, to, archive)
		return err
	}); err != nil {
		return "", "", fmt.Errorf("upload to %s: %w", c.url, err)
	}
	return to.Key, version, nil
}

// put sends an upload to S3, and returns the version of the object. No error has the URL, because everybody who knows it
// may upload.
func (c *Client) put(ctx context.Context, to report.Upload, archive []byte) (string, error) {
	r, err := http.NewRequestWithContext(ctx, to.Method, to.URL, bytes.NewReader(archive))
	if err != nil {
		return "", fault.New(fault.Broken, "the API answered with a URL that cannot be used")
	}
	for name, value := range to.Headers {
		r.Header.Set(name, value)
	}
	r.ContentLength = int64(len(archive))
	if signed := r.Header.Get("Content-Length"); signed != "" && signed != strconv.Itoa(len(archive)) {
		return "", fault.New(fault.Broken, "the API signed an upload of %s bytes, and this one has %d", signed, len(archive))
	}
	got, err := c.http.Do(r)
	if err != nil {
		return "", fmt.Errorf("nothing was started: %w", unanswered(ctx, "S3", err))
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, 1<<16))
	switch {
	case err != nil:
		return "", fmt.Errorf("nothing was started: %w", unanswered(ctx, "S3", err))
	case got.StatusCode >= http.StatusInternalServerError:
		return "", fault.New(fault.Unavailable, "S3 answered %d: nothing was started: try again", got.StatusCode)
	case got.StatusCode != http.StatusOK:
		return "", refusedUpload(got.StatusCode, text)
	}
	version := got.Header.Get("X-Amz-Version-Id")
	if version == "" || version == "null" {
		return "", fault.New(fault.Refused, "the bucket gives no versions: ask the owner of the installation to turn on versioning")
	}
	return version, nil
}

// refusedUpload returns the fault of an upload that S3 has refused.
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
func refusedUpload(status int, text []byte) error {
	var said struct{ Code, Message string }
	if err := xml.Unmarshal(text, &said); err != nil || said.Code == "" {
		said.Code, said.Message = fmt.Sprint("status ", status), "no reason was given"
	}
	return fault.New(fault.Refused, "S3 refuses the upload (%s: %s): nothing was started: run the command again, since a signed upload must begin within five minutes and be the one that was announced", said.Code, said.Message)
}
