package cloudformation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// store writes one JSON file for each stack and one for the faults; nothing if dir is "". Only the owner may read them,
// because they hold the values of NoEcho parameters.
type store struct{ dir string }

func (s store) load() ([]*stack, faults, error) {
	var kept faults
	if s.dir == "" {
		return nil, kept, nil
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "stacks"), 0o700); err != nil {
		return nil, kept, err
	}
	if err := read(filepath.Join(s.dir, "faults.json"), &kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, kept, err
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "stacks", "*.json"))
	if err != nil {
		return nil, kept, err
	}
	var all []*stack
	for _, file := range files {
		st := &stack{}
		if err := read(file, st); err != nil {
			return nil, kept, err
		}
		all = append(all, st)
	}
	slices.SortFunc(all, func(a, b *stack) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, kept, nil
}

func (s store) save(st *stack) error {
	if s.dir == "" {
		return nil
	}
	return write(filepath.Join(s.dir, "stacks", st.Name+"-"+guidOf(st.ID)+".json"), st)
}

func (s store) saveFaults(f faults) error {
	if s.dir == "" {
		return nil
	}
	return write(filepath.Join(s.dir, "faults.json"), f)
}

func read(file string, v any) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// write replaces a file as a whole: after a crash it holds either the old or the new content.
func write(file string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", body, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
