// Package dynamodb stands in for DynamoDB: minidyn, with a journal, and with the limits that an adapter must respect.
package dynamodb

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/journal"
	"github.com/truora/minidyn/server"
)

// Tables is an http.Handler that speaks DynamoDB's JSON protocol. One request at a time is carried out, so that the
// journal has them in the order in which they took effect. Use Open.
type Tables struct {
	mu     sync.Mutex
	engine *server.Client // see engine.go
	log    *journal.Journal[journal.Request]
	tables map[string]*table
}

// Open makes tables in memory, or, where a folder is given, those that were there before.
func Open(folder string) (*Tables, error) {
	t := &Tables{engine: server.NewClient(), tables: map[string]*table{}}
	if folder == "" {
		return t, nil
	}
	var schema []journal.Request
	log, err := journal.Open(filepath.Join(folder, "dynamodb.jsonl"), func(q journal.Request) error {
		if tableOperations[operation(q.Header["X-Amz-Target"])] {
			schema = append(schema, q)
		}
		return t.replay(q)
	})
	if err != nil {
		return nil, fmt.Errorf("open tables: %w", err)
	}
	t.log = log
	if err := t.compact(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open tables: %w", err), log.Close())
	}
	return t, nil
}

// Close writes what is not yet on the disk.
func (t *Tables) Close() error { return t.log.Close() }

func (t *Tables) replay(q journal.Request) error {
	r, err := q.HTTP()
	if err != nil {
		return err
	}
	if rec := t.perform(operation(r.Header.Get("X-Amz-Target")), q.Body, r); rec.Status >= 500 {
		return fmt.Errorf("replay %s: %s", q.Header["X-Amz-Target"], rec.Body.String())
	}
	return nil
}

// ServeHTTP carries out one request.
func (t *Tables) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "SerializationException", Message: err.Error()})
		return
	}
	op := operation(r.Header.Get("X-Amz-Target"))
	rec := t.one(op, body, r)
	rec.Sent().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(rec.Body.Bytes())), 10))
	rec.Replay(w)
}

func (t *Tables) one(op string, body []byte, r *http.Request) *gateway.Recorder {
	t.mu.Lock()
	defer t.mu.Unlock()
	rec := t.perform(op, body, r)
	// These may have been done in part although they failed; the same request does the same part again.
	partial := op == "BatchWriteItem" || op == "UpdateTable"
	if !mutates(op) || (!rec.OK() && !partial) {
		return rec
	}
	if err := t.log.Append(journal.Keep(r, body, kept)); err != nil {
		return refusal(r, http.StatusInternalServerError, "InternalServerError", err.Error())
	}
	return rec
}

// tableOperations are kept as they were asked for when a journal is compacted.
var tableOperations = map[string]bool{"CreateTable": true, "UpdateTable": true, "DeleteTable": true, "UpdateTimeToLive": true}

func mutates(op string) bool { return gateway.Call{Service: "dynamodb", Operation: op}.Mutates() }

func kept(name string) bool { return name == "X-Amz-Target" || name == "Content-Type" }

func operation(target string) string {
	_, op, _ := strings.Cut(target, ".")
	return op
}

func tableName(body []byte) string {
	var in struct{ TableName string }
	if json.Unmarshal(body, &in) != nil {
		return "" // minidyn has refused it, or will
	}
	return in.TableName
}

func refusal(r *http.Request, status int, code, message string) *gateway.Recorder {
	rec := &gateway.Recorder{}
	gateway.Refuse(rec, r, status, gateway.Fault{Code: code, Message: message})
	return rec
}

// compact rewrites the journal, once it is mostly history, as the tables' schema and one put for each item.
func (t *Tables) compact(schema []journal.Request) error {
	items := 0
	for _, table := range t.tables {
		items += table.count
	}
	if t.log.Len() < 1000 || t.log.Len() < 4*(items+len(schema)) {
		return nil
	}
	return t.log.Rewrite(func(yield func(journal.Request) bool) {
		for _, q := range schema {
			if !yield(q) {
				return
			}
		}
		for q := range t.items() {
			if !yield(q) {
				return
			}
		}
	})
}

// items yields a PutItem request for everything that the tables hold.
func (t *Tables) items() iter.Seq[journal.Request] {
	return func(yield func(journal.Request) bool) {
		for _, name := range slices.Sorted(maps.Keys(t.tables)) {
			table := t.tables[name]
			for k := range table.behind(nil) {
				is, _ := table.get(k)
				put, _ := json.Marshal(map[string]any{"TableName": name, "Item": is.wire}) // it is JSON
				if !yield(request("PutItem", put)) {
					return
				}
			}
		}
	}
}

func request(op string, body []byte) journal.Request {
	header := map[string]string{"X-Amz-Target": "DynamoDB_20120810." + op, "Content-Type": "application/x-amz-json-1.0"}
	return journal.Request{Method: http.MethodPost, Target: "/", Header: header, Body: body}
}
