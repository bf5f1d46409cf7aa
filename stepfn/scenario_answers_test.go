package stepfn_test

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/run"
)

// An answerable backend has steps that wait for the answer of a user. No verb of
// Stackwright asks yet, so only the backend in memory has such steps.
type answerable interface {
	Ask(step string)
	AnswerStep(id, step string, a run.Answer)
}

// needsMemory reports whether a scenario needs the backend in memory: steps ask only there, only a cloud assembly
// has assets, and only that CloudFormation shows events late.
func needsMemory(lines []statement) bool {
	return slices.ContainsFunc(lines, func(st statement) bool {
		return slices.Contains([]string{"asks", "assets", "events-shown-after", "throttle-hook"}, st.word.name)
	})
}

func (s *scenario) asks(st statement) {
	for _, step := range st.args {
		s.backend.(answerable).Ask(step)
	}
}

// answer answers the question of a step: yes or no, and why.
func (s *scenario) answer(st statement) {
	args := st.args
	if st.run != "" {
		args = args[1:]
	}
	id := s.about(st)
	s.backend.(answerable).AnswerStep(id, args[0], run.Answer{
		Yes: args[1] == "yes", Who: "ann", Why: strings.Join(args[2:], " "), Digest: s.ExecutionStatus(id).Digest,
	})
}

// eventsLag lets CloudFormation show events late.
func (s *scenario) eventsLag(st statement) {
	s.backend.(*memoryBackend).Cloud.EventsLag = seconds(st.args[0])
}

// throttleHook lets the next calls of a hook be throttled.
func (s *scenario) throttleHook(st statement) {
	s.backend.(*memoryBackend).throttled["hook "+st.args[0]] = number(st.args[1])
}

// Ask makes a step ask a user before it ends.
func (p *memoryBackend) Ask(step string) { p.Questions[step] = true }
