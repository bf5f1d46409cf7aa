package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Deploy uploads an archive and starts a run that supersedes older uploads. It returns the ID of the run.
func (c *Client) Deploy(ctx context.Context, project string, archive []byte) (string, error) {
	source, err := c.Store(ctx, project, archive)
	if err != nil {
		return "", err
	}
	return c.Request(ctx, run.Request{Project: project, Operation: "deploy", Source: source, Upload: true})
}

// Request starts a run, and returns its ID.
func (c *Client) Request(ctx context.Context, q run.Request) (string, error) {
	q.Claim = "" // the API knows the caller
	var started struct{ Run string }
	_, err := c.ask(ctx, request{method: http.MethodPost, path: pathOf(q.Project) + "/runs", body: q.Body(), key: rand.Text()}, &started)
	if err == nil && started.Run == "" {
		err = c.noAPI(nil)
	}
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", q.Operation, q.Project, err)
	}
	c.learn(map[string]string{started.Run: q.Project})
	return started.Run, nil
}

// Command gives the command of q to a run. A refusal is an error of kind Refused.
func (c *Client) Command(ctx context.Context, q run.Request) (string, error) {
	path := pathOf(q.Project) + "/runs/" + url.PathEscape(q.Of) + "/" + url.PathEscape(q.Operation)
	var r struct{}
	_, err := c.ask(ctx, request{method: http.MethodPost, path: path, body: q.Options, key: rand.Text()}, &r)
	return "", err
}

// AddTarget registers a target, or changes one, and returns it with its external ID.
func (c *Client) AddTarget(ctx context.Context, a project.Access) (project.Access, error) {
	var added report.Target
	_, err := c.ask(ctx, request{method: http.MethodPut, path: "/targets/" + url.PathEscape(a.Name), body: report.TargetOf(a)}, &added)
	return report.AccessOf(added), err
}

// RemoveTarget removes a target that has no stacks.
func (c *Client) RemoveTarget(ctx context.Context, name string) error {
	var r struct{}
	_, err := c.ask(ctx, request{method: http.MethodDelete, path: "/targets/" + url.PathEscape(name)}, &r)
	return err
}

// Store uploads an archive that a request then names.
func (c *Client) Store(ctx context.Context, project string, archive []byte) (run.Source, error) {
	sum := sha256.Sum256(archive)
	var to report.Upload
	_, err := c.ask(ctx, request{
		method: http.MethodPost, path: pathOf(project) + "/uploads", key: rand.Text(),
		body: map[string]any{"bytes": len(archive), "sha256": hex.EncodeToString(sum[:]), "format": "zip"},
	}, &to)
	if err != nil {
		return run.Source{}, fmt.Errorf("upload to %s: %w", c.url, err)
	}
	for attempt := 1; ; attempt++ {
		version, err := c.put(ctx, to, archive)
		if err == nil {
			return run.Source{Key: to.Key, Version: version}, nil
		}
		if attempt == mostAttempts || !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
			return run.Source{}, fmt.Errorf("upload to %s: %w", c.url, err)
		}
		time.Sleep(firstPause)
	}
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
