//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cloud

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// tryLock locks the file until it is closed; false means that another process has the lock.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return true, nil
}
