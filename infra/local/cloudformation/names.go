package cloudformation

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// hash is the source of all names but those of stacks: the same parts give the same bytes.
func hash(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:]
}

func guid(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// stackID makes the ID of the n-th stack of a name.
func (s *Service) stackID(name string, n int) string {
	b := make([]byte, 16)
	if s.options.Seed != 0 {
		var seed [8]byte
		binary.BigEndian.PutUint64(seed[:], s.options.Seed)
		b = hash(string(seed[:]), s.options.Account, s.options.Region, name, fmt.Sprint(n))
	} else {
		// Read never returns an error and always fills b.
		_, _ = rand.Read(b)
	}
	return "arn:aws:cloudformation:" + s.options.Region + ":" + s.options.Account + ":stack/" + name + "/" + guid(b)
}

// guidOf is the last part of a stack's ID.
func guidOf(stackID string) string { return stackID[strings.LastIndexByte(stackID, '/')+1:] }

// derived makes an ID for the n-th object of a kind that belongs to a stack.
func derived(st *stack, kind string, n int) string {
	return guid(hash(st.ID, kind, fmt.Sprint(n)))
}

func hexa(b []byte, n int) string { return hex.EncodeToString(b)[:n] }

// capitals are letters and digits of the form that CloudFormation adds to names.
func capitals(b []byte, n int) string { return base32.StdEncoding.EncodeToString(b)[:n] }

// requestID makes the ID of a request. The caller does not hold the lock.
func (s *Service) requestID() string {
	s.mu.Lock()
	s.served++
	n := s.served
	s.mu.Unlock()
	return guid(hash("request", s.options.Region, fmt.Sprint(n)))
}
