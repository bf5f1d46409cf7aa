// Package dynamodb emulates DynamoDB on this machine: what Stackwright uses of it, with a journal, and with the limits that
// an adapter must respect. It refuses every operation, field and expression that it does not know.
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
)

// Tables is an http.Handler that speaks DynamoDB's JSON protocol. It carries out one request at a time, so that the
// journal has them in the order in which they took effect. Use Open.
type Tables struct {
	mu     sync.Mutex
	log    *journal.Journal[journal.Request]
	tables map[string]*table
}

// Open makes tables in memory, or, if a folder is given, reads those that its journal holds.
func Open(folder string) (*Tables, error) {
	t := &Tables{tables: map[string]*table{}}
	if folder == "" {
		return t, nil
	}
	log, err := journal.Open(filepath.Join(folder, "dynamodb.jsonl"), t.replay)
	if err != nil {
		return nil, fmt.Errorf("open tables: %w", err)
	}
	t.log = log
	if err := t.compact(); err != nil {
		return nil, errors.Join(fmt.Errorf("open tables: %w", err), log.Close())
	}
	return t, nil
}

// Close writes what is not yet on the disk.
func (t *Tables) Close() error { return t.log.Close() }

func (t *Tables) replay(q journal.Request) error {
	if rec := t.perform(operation(q.Header["X-Amz-Target"]), q.Body); !rec.OK() {
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
	rec := t.handle(operation(r.Header.Get("X-Amz-Target")), body, r)
	rec.Sent().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(rec.Body.Bytes())), 10))
	rec.Replay(w)
}

// handle carries out a request, and writes it to the journal if it changed something.
func (t *Tables) handle(op string, body []byte, r *http.Request) *gateway.Recorder {
	t.mu.Lock()
	defer t.mu.Unlock()
	rec := t.perform(op, body)
	if !rec.OK() || !(gateway.Call{Service: "dynamodb", Operation: op}).Mutates() {
		return rec
	}
	if err := t.log.Append(journal.Keep(r, body, kept)); err != nil {
		failed := &gateway.Recorder{}
		gateway.Refuse(failed, r, http.StatusInternalServerError, gateway.Fault{Code: "InternalServerError", Message: err.Error()})
		return failed
	}
	return rec
}

func kept(name string) bool { return name == "X-Amz-Target" || name == "Content-Type" }

func operation(target string) string {
	_, op, _ := strings.Cut(target, ".")
	return op
}

func (t *Tables) names() []string { return slices.Sorted(maps.Keys(t.tables)) }

// compact rewrites the journal, once it is mostly history, as the definitions of the tables and one put for each item.
func (t *Tables) compact() error {
	items := 0
	for _, table := range t.tables {
		items += table.count
	}
	if t.log.Len() < 1000 || t.log.Len() < 4*(items+len(t.tables)) {
		return nil
	}
	return t.log.Rewrite(t.requests())
}

// requests yields the requests that make what the tables hold.
func (t *Tables) requests() iter.Seq[journal.Request] {
	return func(yield func(journal.Request) bool) {
		for _, name := range t.names() {
			table := t.tables[name]
			if !yield(request("CreateTable", table.definition)) {
				return
			}
			for k := range table.all(nil) {
				i, _ := table.get(k)
				put, _ := json.Marshal(map[string]any{"TableName": name, "Item": i.wire}) // it is JSON
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
