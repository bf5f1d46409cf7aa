//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cloud

import "os"

// tryLock, on a system without flock, checks whether the process that the file names still exists.
func tryLock(file *os.File) (bool, error) {
	holder, err := read(file)
	if err != nil || holder.PID == 0 || holder.PID == os.Getpid() {
		return err == nil, err
	}
	process, err := os.FindProcess(holder.PID)
	if err != nil {
		return true, nil
	}
	return false, process.Release()
}
