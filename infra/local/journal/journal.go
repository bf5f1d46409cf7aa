// Package journal stores changes in a file, one JSON record a line, and replays them at the next start.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
)

// Journal is an append-only file of records of type T. A nil *Journal stores nothing, which is what an emulator in
// memory uses.
type Journal[T any] struct {
	mu   sync.Mutex
	path string
	file *os.File
	len  int
	torn error // why nothing more can be written
}

// Open reads the file, passes each record to replay in order, and is then ready to append. It creates the folder and
// the file if they do not exist. A last line that was cut off by a crash is dropped: its request was never answered.
// Any other line that cannot be read is an error that names it.
func Open[T any](path string, replay func(T) error) (*Journal[T], error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal[T]{path: path, file: file}
	if err := j.load(replay); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), file.Close())
	}
	return j, nil
}

// Restore opens the journal of that name in a folder, and then replaces its records by the fewest that replay to the same:
// those that records returns. Without a folder, the journal is nil: it stores nothing.
func Restore[T any](folder, name string, replay func(T) error, records func() iter.Seq[T]) (*Journal[T], error) {
	if folder == "" {
		return nil, nil
	}
	j, err := Open(filepath.Join(folder, name), replay)
	if err != nil {
		return nil, err
	}
	if err := j.Rewrite(records()); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal[T]) load(replay func(T) error) error {
	lines := bufio.NewReaderSize(j.file, 1<<16)
	var end int64
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left in the queue has no newline: torn
		}
		if err != nil {
			return err
		}
		var record T
		if err := json.Unmarshal(line, &record); err != nil {
			if _, more := lines.Peek(1); errors.Is(more, io.EOF) {
				break
			}
			return fmt.Errorf("line %d is damaged: %w; restore the file, or cut it there to lose what came after", number, err)
		}
		if err := replay(record); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		end += int64(len(line))
		j.len++
	}
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	_, err := j.file.Seek(end, io.SeekStart)
	return err
}

// Append writes the record before it returns, so that the record survives the end of this process. (It is not flushed
// to the disk until Close: a power cut may lose the last seconds, which is acceptable on a laptop.) After an error the
// journal refuses all further records, because the file is no longer complete.
func (j *Journal[T]) Append(record T) error {
	if j == nil {
		return nil
	}
	line, err := encode(record)
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.torn != nil {
		return j.torn
	}
	if _, err := j.file.Write(line); err != nil {
		j.torn = fmt.Errorf("journal %s: %w; nothing more is accepted until a restart", j.path, err)
		return j.torn
	}
	j.len++
	return nil
}

// Len is the number of records in the file.
func (j *Journal[T]) Len() int {
	if j == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.len
}

// Rewrite replaces all records at once: after a crash there is either the old file or the new one.
func (j *Journal[T]) Rewrite(records iter.Seq[T]) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh, count, err := writeAll(j.path+".new", records)
	if err != nil {
		return fmt.Errorf("compact journal %s: %w", j.path, err)
	}
	if err := os.Rename(j.path+".new", j.path); err != nil {
		return errors.Join(fmt.Errorf("compact journal: %w", err), fresh.Close())
	}
	old := j.file
	j.file, j.len = fresh, count
	return old.Close()
}

func writeAll[T any](path string, records iter.Seq[T]) (*os.File, int, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, 0, err
	}
	out, count := bufio.NewWriterSize(file, 1<<16), 0
	for record := range records {
		line, err := encode(record)
		if err == nil {
			_, err = out.Write(line)
		}
		if err != nil {
			return nil, 0, errors.Join(err, file.Close())
		}
		count++
	}
	if err := errors.Join(out.Flush(), file.Sync()); err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, count, nil
}

func encode(record any) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(record)
	return line.Bytes(), err
}

// Close flushes the file to the disk.
func (j *Journal[T]) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.torn == nil {
		j.torn = fmt.Errorf("journal %s is closed", j.path)
	}
	return errors.Join(j.file.Sync(), j.file.Close())
}
