//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peak is the most memory that a process that has ended had, in bytes.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return u.Maxrss
	}
	return u.Maxrss << 10
}

// ownCPU is the CPU time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
