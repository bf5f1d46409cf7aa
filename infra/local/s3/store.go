package s3

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// change is the creation of an object, or of a version of it.
type change struct {
	bucket, key, version, etag string
	size                       int64
	sequencer                  uint64
	reason                     string
	deletion                   string // how the object was deleted; "" if it was created
}

// store is s3mem that records which objects each request creates. It also packs an object's metadata into one
// entry, because s3mem lets a new version inherit every entry that it does not have itself, stale checksums included.
type store struct {
	*s3mem.Backend
	clock *clock

	mu        sync.Mutex
	changes   []change
	sequencer uint64
}

func (s *store) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = nil
}

func (s *store) end() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// record adds a change with its sequencer, which increases with each change, also across restarts.
func (s *store) record(c change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequencer = max(s.sequencer+1, uint64(s.clock.Now().UnixNano()))
	c.sequencer = s.sequencer
	s.changes = append(s.changes, c)
}

// packed is the one entry of metadata that s3mem sees.
const packed = "Packed"

func (s *store) PutObject(bucket, key string, meta map[string]string, in io.Reader, size int64, cond *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	text, err := json.Marshal(meta)
	if err != nil {
		return gofakes3.PutObjectResult{}, fmt.Errorf("pack metadata: %w", err)
	}
	out, err := s.Backend.PutObject(bucket, key, map[string]string{packed: string(text)}, in, size, cond)
	if err != nil {
		return out, err
	}
	c := change{bucket: bucket, key: key, version: string(out.VersionID), size: size}
	if object, err := s.Backend.HeadObject(bucket, key); err == nil {
		c.etag = hex.EncodeToString(object.Hash)
	}
	s.record(c)
	return out, nil
}

func (s *store) DeleteObject(bucket, key string) (gofakes3.ObjectDeleteResult, error) {
	out, err := s.Backend.DeleteObject(bucket, key)
	if err == nil {
		s.record(change{bucket: bucket, key: key, version: string(out.VersionID), deletion: "Delete Marker Created"})
	}
	return out, err
}

func (s *store) GetObject(bucket, key string, r *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	return unpack(s.Backend.GetObject(bucket, key, r))
}

func (s *store) HeadObject(bucket, key string) (*gofakes3.Object, error) {
	return unpack(s.Backend.HeadObject(bucket, key))
}

func (s *store) GetObjectVersion(bucket, key string, v gofakes3.VersionID, r *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	return unpack(s.Backend.GetObjectVersion(bucket, key, v, r))
}

func (s *store) HeadObjectVersion(bucket, key string, v gofakes3.VersionID) (*gofakes3.Object, error) {
	return unpack(s.Backend.HeadObjectVersion(bucket, key, v))
}

func unpack(object *gofakes3.Object, err error) (*gofakes3.Object, error) {
	if err != nil || object == nil {
		return object, err
	}
	text, ok := object.Metadata[packed]
	if !ok {
		return object, nil // a delete marker
	}
	meta := map[string]string{}
	if err := json.Unmarshal([]byte(text), &meta); err != nil {
		return nil, fmt.Errorf("unpack metadata: %w", err)
	}
	object.Metadata = meta
	return object, nil
}

// clock is the current time or, during a replay, the time of the request.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return time.Now().UTC()
	}
	return c.at
}

func (c *clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
