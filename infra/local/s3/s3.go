// Package s3 emulates S3 on this machine: gofakes3 in memory, with versions, a journal, checksums, and events for new
// objects.
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/journal"
)

// maxBody limits one object, or one part of one: S3 allows 5 GiB, the memory of a laptop does not.
const maxBody = 256 << 20

// Options configure the emulator.
type Options struct {
	// Folder holds the journal; "" keeps objects in memory only.
	Folder string
	// Account is the requester in events.
	Account string
	// Seed, unless zero, makes the version IDs reproducible. Without it no two folders have the same version IDs,
	// because other IDs are derived from them.
	Seed int64
	// Hosts are the names of endpoints below which a bucket may be a subdomain, besides localhost and S3's own.
	Hosts []string
	// Emit, if set, gets the event of each new object.
	Emit func(source, detailType string, resources []string, detail any)
}

// Objects is an http.Handler that speaks S3's REST protocol. Use Open.
type Objects struct {
	opts    Options
	store   *store
	handler http.Handler
	log     *journal.Journal[journal.Request]

	mu sync.Mutex // held while a mutating request is carried out and written to the journal
}

// Open makes an object store in memory, or, if a folder is given, restores its objects with the same version IDs.
func Open(opts Options) (*Objects, error) {
	clock := &clock{}
	seed, err := opts.seed()
	if err != nil {
		return nil, fmt.Errorf("open objects: %w", err)
	}
	// The same seed and the same puts in the same order give the same version IDs.
	mem := s3mem.New(s3mem.WithVersionSeed(seed), s3mem.WithTimeSource(clock))
	o := &Objects{opts: opts, store: &store{Backend: mem, clock: clock}}
	fake := gofakes3.New(o.store, gofakes3.WithTimeSource(clock), gofakes3.WithTimeSkewLimit(0), gofakes3.WithMetadataSizeLimit(0))
	o.handler = fake.Server()
	if opts.Folder == "" {
		return o, nil
	}
	log, err := journal.Open(filepath.Join(opts.Folder, "s3.jsonl"), o.replay)
	if err != nil {
		return nil, fmt.Errorf("open objects: %w", err)
	}
	o.log = log
	return o, nil
}

// seed is that of the options, or of the folder, or a new one, which the folder stores.
func (o Options) seed() (int64, error) {
	if o.Seed != 0 {
		return o.Seed, nil
	}
	fresh := rand.Int64()
	if o.Folder == "" {
		return fresh, nil
	}
	file := filepath.Join(o.Folder, "s3.seed")
	kept, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, os.WriteFile(file, strconv.AppendInt(nil, fresh, 10), 0o600)
	}
	if err != nil {
		return 0, err
	}
	seed, err := strconv.ParseInt(string(kept), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s holds no number: %w", file, err)
	}
	return seed, nil
}

// Close writes what is not yet on the disk.
func (o *Objects) Close() error { return o.log.Close() }

func (o *Objects) replay(q journal.Request) error {
	r, err := q.HTTP()
	if err != nil {
		return err
	}
	o.store.clock.set(q.Time)
	defer o.store.clock.set(time.Time{})
	if rec, _ := o.perform(r, q.Body); !rec.OK() {
		return fmt.Errorf("replay %s %s: %s", q.Method, q.Target, rec.Body.String())
	}
	return nil
}

// ServeHTTP carries out one request.
func (o *Objects) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	w := unshared{answer}
	o.addressByPath(r)
	if what := unsupported(r); what != "" {
		gateway.Refuse(w, r, http.StatusNotImplemented, gateway.Fault{Code: "NotImplemented", Message: "the local emulator of S3 has no " + what})
		return
	}
	body, fault := receive(r)
	if fault != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, *fault)
		return
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		o.read(w, r)
		return
	}
	rec := o.write(r, body)
	id := rec.Sent().Get("X-Amz-Request-Id")
	if w.Header().Get("X-Amzn-Requestid") == "" {
		w.Header().Set("X-Amzn-Requestid", id)
	}
	rec.Replay(w)
}

// unshared answers without the header that lets the pages of all web sites read an answer. A bucket has no rules for that
// (CORS) unless somebody gives it some. https://docs.aws.amazon.com/AmazonS3/latest/userguide/cors.html
type unshared struct{ http.ResponseWriter }

func (u unshared) WriteHeader(status int) {
	u.Header().Del("Access-Control-Allow-Origin")
	u.ResponseWriter.WriteHeader(status)
}

func (u unshared) Write(body []byte) (int, error) {
	u.Header().Del("Access-Control-Allow-Origin")
	return u.ResponseWriter.Write(body)
}

// write carries out a mutating request, writes it to the journal, and sends the events.
func (o *Objects) write(r *http.Request, body []byte) *gateway.Recorder {
	o.mu.Lock()
	defer o.mu.Unlock()
	rec, changes := o.perform(r, body)
	if !rec.OK() {
		return rec
	}
	if err := o.log.Append(journal.Keep(r, body, kept)); err != nil {
		rec = &gateway.Recorder{}
		gateway.Refuse(rec, r, http.StatusInternalServerError, gateway.Fault{Code: "InternalError", Message: err.Error()})
		return rec
	}
	for _, c := range changes {
		o.emit(c, r, rec.Sent().Get("X-Amz-Request-Id"))
	}
	return rec
}

// perform passes the request to gofakes3, and returns what changed. The caller holds o.mu, or is the only one.
func (o *Objects) perform(r *http.Request, body []byte) (*gateway.Recorder, []change) {
	rec := &gateway.Recorder{}
	o.store.begin()
	r.Body = io.NopCloser(bytes.NewReader(body))
	o.handler.ServeHTTP(rec, r)
	changes := o.store.end()
	for name := range r.Header {
		if strings.HasPrefix(name, checksumPrefix) && rec.OK() {
			rec.Sent().Set(name, r.Header.Get(name)) // S3 returns the checksum that it has verified
		}
	}
	for i := range changes {
		changes[i].reason = reason(r)
	}
	return rec, changes
}

func (o *Objects) read(w http.ResponseWriter, r *http.Request) {
	head := r.Method == http.MethodHead
	if head && r.URL.Query().Has("versionId") {
		r.Method = http.MethodGet // gofakes3 supports HEAD for the newest version only
	}
	rec := &gateway.Recorder{}
	o.handler.ServeHTTP(rec, r)
	header := rec.Sent()
	if r.Header.Get("X-Amz-Checksum-Mode") == "" || r.Header.Get("Range") != "" {
		for name := range header {
			if strings.HasPrefix(name, checksumPrefix) {
				header.Del(name) // it is that of the whole object, and S3 returns it only on request
			}
		}
	}
	if r.URL.Query().Has("versioning") {
		removeElements(rec, "<Status></Status>", "<MfaDelete></MfaDelete>") // S3 leaves out what was never set
	}
	if r.URL.Query().Has("uploads") && rec.Status == http.StatusNotFound && bytes.Contains(rec.Body.Bytes(), []byte("<Code>NoSuchUpload</Code>")) {
		rec = noUploads() // gofakes3 refuses the request
	}
	if head {
		r.Method = http.MethodHead
		if header.Get("Content-Length") == "" {
			header.Set("Content-Length", fmt.Sprint(rec.Body.Len()))
		}
		rec.Body.Reset()
	}
	rec.Replay(w)
}

// noUploads is the list of the multipart uploads of a bucket that has none.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html
func noUploads() *gateway.Recorder {
	rec := &gateway.Recorder{}
	rec.Header().Set("Content-Type", "application/xml")
	_, _ = rec.Write([]byte(`<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>`)) // to memory
	return rec
}

// removeElements removes elements from an answer.
func removeElements(rec *gateway.Recorder, elements ...string) {
	body := rec.Body.Bytes()
	for _, element := range elements {
		body = bytes.ReplaceAll(body, []byte(element), nil)
	}
	rec.Body = *bytes.NewBuffer(body)
	rec.Sent().Set("Content-Length", strconv.Itoa(len(body)))
}

// Fetch reads an object; version "" is the newest.
func (o *Objects) Fetch(ctx context.Context, bucket, key, version string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("fetch s3://%s/%s: %w", bucket, key, err)
	}
	object, err := o.store.GetObjectVersion(bucket, key, gofakes3.VersionID(version), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch s3://%s/%s: %w", bucket, key, err)
	}
	defer object.Contents.Close()
	content, err := io.ReadAll(object.Contents)
	if err != nil {
		return nil, fmt.Errorf("fetch s3://%s/%s: %w", bucket, key, err)
	}
	return content, nil
}

// MakeBucket creates a bucket with versions, unless it exists.
func (o *Objects) MakeBucket(name string) error {
	exists, err := o.store.BucketExists(name)
	if err != nil {
		return fmt.Errorf("make bucket %s: %w", name, err)
	}
	steps := []journal.Request{
		{Method: http.MethodPut, Target: "/" + name},
		{Method: http.MethodPut, Target: "/" + name + "?versioning", Body: []byte("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")},
	}
	if exists {
		steps = nil
	}
	for _, step := range steps {
		r, err := step.HTTP()
		if err != nil {
			return fmt.Errorf("make bucket %s: %w", name, err)
		}
		if rec := o.write(r, step.Body); !rec.OK() {
			return fmt.Errorf("make bucket %s: %s", name, rec.Body.String())
		}
	}
	return nil
}
