//go:build !unix

package main

import (
	"os"
	"time"
)

// peak is not known here.
func peak(*os.ProcessState) int64 { return 0 }

// ownCPU is not known here.
func ownCPU() time.Duration { return 0 }
