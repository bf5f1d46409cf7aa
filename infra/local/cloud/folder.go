package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Holder is the process that has a data folder open, and where it serves it; URL is "" if it does not.
type Holder struct {
	PID    int    `json:"pid"`
	URL    string `json:"url,omitempty"`
	Yields bool   `json:"yields,omitempty"` // it ends when interrupted, so that another process can serve the folder
}

// InUse is the error of a data folder that another process has open, of kind Busy.
type InUse struct {
	Folder string
	Holder Holder
}

func (e *InUse) Error() string {
	who := fmt.Sprintf("process %d", e.Holder.PID)
	if e.Holder.URL != "" {
		return fmt.Sprintf("data folder %s is in use by %s, which serves it at %s: use --endpoint %s, or stop it", e.Folder, who, e.Holder.URL, e.Holder.URL)
	}
	return fmt.Sprintf("data folder %s is in use by %s: wait until it is done, or use another --data", e.Folder, who)
}

// LockedBy reports which process has the data folder open, if any. It does not change the folder.
func LockedBy(data string) (Holder, bool, error) {
	file, err := os.OpenFile(lockPath(data), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, fmt.Errorf("open the lock of data folder %s: %w", data, err)
	}
	defer file.Close()
	free, err := tryLock(file)
	if err != nil || free {
		return Holder{}, false, err // closing the file releases the lock
	}
	holder, err := read(file)
	return holder, true, err
}

func lockPath(data string) string { return filepath.Join(data, "lock") }

// folder is a data folder that this process has locked.
type folder struct{ file *os.File }

// lockFolder creates the folder and locks it. The operating system releases the lock with its process; the file only
// names the process.
func lockFolder(data string) (*folder, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	file, err := os.OpenFile(lockPath(data), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	err = claim(file, data)
	f := &folder{file}
	if err == nil {
		err = f.write(Holder{PID: os.Getpid()})
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// claim locks the file. A lock that names no process belongs to one that only reads, and is released in a moment.
func claim(file *os.File, data string) error {
	for attempt := 1; ; attempt++ {
		free, err := tryLock(file)
		if err != nil || free {
			return err
		}
		holder, err := read(file)
		if err != nil {
			return err
		}
		if holder.PID != 0 || attempt == 20 {
			return fault.As(fault.Busy, &InUse{data, holder})
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// write writes into the lock which process has the folder.
func (f *folder) write(holder Holder) error {
	text, err := json.Marshal(holder)
	if err == nil {
		// Padded, so that a reader never sees the end of a longer text after a shorter one.
		_, err = f.file.WriteAt(fmt.Appendf(nil, "%-200s\n", text), 0)
	}
	if err != nil {
		return fmt.Errorf("write the lock of the data folder: %w", err)
	}
	return nil
}

func read(file *os.File) (Holder, error) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<12))
	if err != nil {
		return Holder{}, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	var holder Holder
	if len(text) == 0 {
		return holder, nil // it was locked a moment ago
	}
	if err := json.Unmarshal(text, &holder); err != nil {
		return holder, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	return holder, nil
}

// unlock releases the lock.
func (f *folder) unlock() error {
	return errors.Join(f.file.Truncate(0), f.file.Close())
}
