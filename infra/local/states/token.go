package states

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// NewToken makes a signed task token, which is recognized even after a restart.
func (w taskRunner) NewToken() string {
	b := make([]byte, 24, 24+sha256.Size)
	_, _ = rand.Read(b) // never fails, says crypto/rand
	return base64.StdEncoding.EncodeToString(append(b, w.sign(b)...))
}

func (s *Service) sign(b []byte) []byte {
	h := hmac.New(sha256.New, s.secret[:])
	h.Write(b)
	return h.Sum(nil)
}

func (s *Service) isOurs(token string) bool {
	b, err := base64.StdEncoding.DecodeString(token)
	return err == nil && len(b) == 24+sha256.Size && bytes.Equal(s.sign(b[:24]), b[24:])
}

// openToken makes a token answerable. An empty token is never answered.
func (s *Service) openToken(token string) chan answer {
	if token == "" {
		return nil
	}
	c := make(chan answer, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = c
	return c
}

// closeToken makes a token unanswerable. It reports whether the token was still answerable.
func (s *Service) closeToken(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.tokens[token]
	delete(s.tokens, token)
	return open
}

type taskAnswer struct {
	Token  string `json:"taskToken"`
	Output string
}

func (s *Service) sendTaskSuccess(q taskAnswer) (emptyAnswer, error) {
	if !json.Valid([]byte(q.Output)) || len(q.Output) > asl.MaxPayload {
		return emptyAnswer{}, faultf("InvalidOutput", "Invalid Output: must be JSON of at most %d bytes", asl.MaxPayload)
	}
	return emptyAnswer{}, s.answerToken(q.Token, answer{output: json.RawMessage(q.Output)})
}

// answerToken answers a token. A token can be answered once.
func (s *Service) answerToken(token string, a answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.tokens[token]
	switch {
	case !s.isOurs(token):
		return faultf("InvalidToken", "Invalid Token: 'Invalid token'")
	case c == nil:
		return faultf("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
	}
	delete(s.tokens, token)
	c <- a
	return nil
}
