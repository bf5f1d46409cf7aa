package states

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// A machine is a state machine as it is stored and described.
type machine struct {
	ARN        string `json:"stateMachineArn"`
	Name       string `json:"name"`
	Definition string `json:"definition"`
	RoleARN    string `json:"roleArn"`
	Type       string `json:"type"`
	Status     string `json:"status"`
	Created    stamp  `json:"creationDate"`
	Revision   string `json:"revisionId"`
	Changed    stamp  `json:"updateDate"`
}

// A revision is a machine as it was when an execution started with it.
type revision struct {
	machine machine
	parsed  *asl.Machine
}

func (s *Service) keep(m *machine, parsed *asl.Machine) {
	s.machines[m.ARN] = m
	s.revisions[m.Revision] = &revision{machine: *m, parsed: parsed}
}

type createStateMachine struct {
	Name, Definition, RoleARN, Type string
	Publish                         bool
}

type createdStateMachine struct {
	ARN     string `json:"stateMachineArn"`
	Created stamp  `json:"creationDate"`
}

func (s *Service) createStateMachine(q createStateMachine) (createdStateMachine, error) {
	none := createdStateMachine{}
	if err := checkName(q.Name); err != nil {
		return none, err
	}
	if q.Publish {
		return none, faultf("ValidationException", "the local emulator has no versions of state machines: leave out publish")
	}
	if q.Type = cmp.Or(q.Type, "STANDARD"); q.Type != "STANDARD" {
		return none, faultf("StateMachineTypeNotSupported", "the local emulator has no state machines of type %s, only of STANDARD", q.Type)
	}
	if !strings.HasPrefix(q.RoleARN, "arn:") {
		return none, faultf("InvalidArn", "Invalid Arn: 'Invalid ARN prefix: %s'", q.RoleARN)
	}
	parsed, err := parse(q.Definition)
	if err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := now()
	m := &machine{ARN: s.arn("stateMachine", q.Name), Name: q.Name, Definition: q.Definition, RoleARN: q.RoleARN, Type: q.Type,
		Status: "ACTIVE", Created: at, Changed: at, Revision: newID()}
	if old := s.machines[m.ARN]; old != nil {
		if old.Definition == m.Definition && old.RoleARN == m.RoleARN {
			return createdStateMachine{ARN: old.ARN, Created: old.Created}, nil
		}
		return none, faultf("StateMachineAlreadyExists", "State Machine Already Exists: '%s'", m.ARN)
	}
	if err := s.write(record{Machine: m}); err != nil {
		return none, err
	}
	s.keep(m, parsed)
	return createdStateMachine{ARN: m.ARN, Created: m.Created}, nil
}

type updateStateMachine struct {
	ARN                 string `json:"stateMachineArn"`
	Definition, RoleARN string
	Publish             bool
}

type updatedStateMachine struct {
	Updated  stamp  `json:"updateDate"`
	Revision string `json:"revisionId"`
}

func (s *Service) updateStateMachine(q updateStateMachine) (updatedStateMachine, error) {
	none := updatedStateMachine{}
	if q.Publish {
		return none, faultf("ValidationException", "the local emulator has no versions of state machines: leave out publish")
	}
	if q.Definition == "" && q.RoleARN == "" {
		return none, faultf("MissingRequiredParameter", "Either the definition, the role ARN, the LoggingConfiguration, the EncryptionConfiguration or the TracingConfiguration must be specified")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.machine(q.ARN)
	if err != nil {
		return none, err
	}
	m := *old
	m.Definition, m.RoleARN = cmp.Or(q.Definition, m.Definition), cmp.Or(q.RoleARN, m.RoleARN)
	m.Changed, m.Revision = now(), newID()
	parsed, err := parse(m.Definition)
	if err != nil {
		return none, err
	}
	if err := s.write(record{Machine: &m}); err != nil {
		return none, err
	}
	s.keep(&m, parsed)
	return updatedStateMachine{Updated: m.Changed, Revision: m.Revision}, nil
}

type page struct {
	Most  int    `json:"maxResults"`
	Token string `json:"nextToken"`
}

type machineList struct {
	Machines []machineItem `json:"stateMachines"`
	Token    string        `json:"nextToken,omitempty"`
}

type machineItem struct {
	ARN     string `json:"stateMachineArn"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Created stamp  `json:"creationDate"`
}

func (s *Service) listStateMachines(q page) (machineList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Sorted(maps.Keys(s.machines))
	from, to, token, err := q.cut(len(all))
	if err != nil {
		return machineList{}, err
	}
	out := machineList{Machines: []machineItem{}, Token: token}
	for _, arn := range all[from:to] {
		m := s.machines[arn]
		out.Machines = append(out.Machines, machineItem{ARN: m.ARN, Name: m.Name, Type: m.Type, Created: m.Created})
	}
	return out, nil
}

// machine finds a machine by its ARN. The lock must be held.
func (s *Service) machine(arn string) (*machine, error) {
	if !strings.HasPrefix(arn, "arn:") || !strings.Contains(arn, ":stateMachine:") {
		return nil, faultf("InvalidArn", "Invalid Arn: '%s'", arn)
	}
	m := s.machines[arn]
	if m == nil {
		return nil, faultf("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", arn)
	}
	return m, nil
}

// write writes a record, unless the service is closed. The lock must be held.
func (s *Service) write(r record) error {
	if s.closed {
		return errClosed
	}
	return s.journal.Append(r)
}

func parse(definition string) (*asl.Machine, error) {
	m, err := asl.Parse([]byte(definition))
	if err != nil {
		return nil, faultf("InvalidDefinition", "Invalid State Machine Definition: '%v'", err)
	}
	return m, nil
}

var invalidCharacters = regexp.MustCompile("[\\s<>{}\\[\\]?*\"#%\\\\^|~`$&,;:/\\x00-\\x1f\\x7f-\\x{9f}]")

func checkName(name string) error {
	if n := utf8.RuneCountInString(name); n < 1 || n > 80 || invalidCharacters.MatchString(name) {
		return faultf("InvalidName", "Invalid Name: '%s'", name)
	}
	return nil
}

// newID makes a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}
