package scheduler

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// ServeHTTP speaks Scheduler's REST protocol.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var answer any
	if err == nil {
		answer, err = s.serve(r, body)
	}
	if err != nil {
		known, ok := errors.AsType[*refusal](err)
		if !ok {
			known = &refusal{http.StatusInternalServerError, "InternalServerException", err.Error()}
		}
		gateway.Refuse(w, r, known.status, gateway.Fault{Code: known.code, Message: known.message})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the caller is gone if this fails
}

func (s *Service) serve(r *http.Request, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, name, named := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	switch on := r.Method + " " + kind; {
	case on == "POST schedules" && named:
		return s.create(name, body)
	case on == "PUT schedules" && named:
		return s.update(name, body)
	case on == "GET schedules" && named:
		return s.get(name, q.Get("groupName"))
	case on == "DELETE schedules" && named:
		return s.remove(name, q.Get("groupName"))
	case on == "GET schedules":
		return s.list(q)
	case on == "POST schedule-groups" && named:
		return s.createGroup(name, body)
	}
	return nil, &refusal{http.StatusBadRequest, "UnknownOperationException", "the local emulator of EventBridge Scheduler has no " + r.Method + " " + r.URL.Path}
}

// parse reads the schedule in a request.
func (s *Service) parse(name string, body []byte) (*schedule, error) {
	one := &schedule{}
	if err := decode(body, &one.form); err != nil {
		return nil, err
	}
	one.Name = name
	one.complete()
	now := time.Now().UTC()
	one.Created, one.Changed = now, now
	if err := one.check(now); err != nil {
		return nil, err
	}
	if _, ok := s.groups[one.GroupName]; !ok {
		return nil, missing("Schedule group %s does not exist.", one.GroupName)
	}
	return one, one.read()
}

func missing(format string, args ...any) error {
	return &refusal{http.StatusNotFound, "ResourceNotFoundException", fmt.Sprintf(format, args...)}
}

func (s *Service) create(name string, body []byte) (any, error) {
	one, err := s.parse(name, body)
	if err != nil {
		return nil, err
	}
	if old, ok := s.all[one.key()]; ok {
		if one.ClientToken == "" || one.ClientToken != old.ClientToken {
			return nil, &refusal{http.StatusConflict, "ConflictException", "Schedule " + name + " already exists."}
		}
		return map[string]string{"ScheduleArn": s.arn(old)}, nil // the same request, repeated
	}
	return s.keep(one)
}

func (s *Service) update(name string, body []byte) (any, error) {
	one, err := s.parse(name, body)
	if err != nil {
		return nil, err
	}
	old, ok := s.all[one.key()]
	if !ok {
		return nil, missing("Schedule %s does not exist.", name)
	}
	one.Created = old.Created
	old.stopTimer()
	return s.keep(one)
}

// keep stores a new or changed schedule.
func (s *Service) keep(one *schedule) (any, error) {
	if one.Due = one.after(one.Changed); one.StartDate == nil && one.when.Every() > 0 {
		one.Due = one.Changed
	}
	if err := s.log.Append(record{Schedule: one}); err != nil {
		return nil, err
	}
	s.all[one.key()] = one
	s.setTimer(one)
	return map[string]string{"ScheduleArn": s.arn(one)}, nil
}

func (s *Service) find(name, group string) (*schedule, error) {
	one, ok := s.all[key{cmp.Or(group, defaultGroup), name}]
	if !ok {
		return nil, missing("Schedule %s does not exist.", name)
	}
	return one, nil
}

func (s *Service) get(name, group string) (any, error) {
	one, err := s.find(name, group)
	if err != nil {
		return nil, err
	}
	shown := struct {
		Arn string
		form
		CreationDate, LastModificationDate seconds
	}{s.arn(one), one.form, stamp(one.Created), stamp(one.Changed)}
	shown.ClientToken = ""
	return shown, nil
}

func (s *Service) remove(name, group string) (any, error) {
	one, err := s.find(name, group)
	if err != nil {
		return nil, err
	}
	k := one.key()
	if err := s.log.Append(record{Gone: &k}); err != nil {
		return nil, err
	}
	one.stopTimer()
	delete(s.all, k)
	return struct{}{}, nil
}

// list returns a page of schedules; the token is a number.
func (s *Service) list(q url.Values) (any, error) {
	group, most := q.Get("ScheduleGroup"), 100
	if _, ok := s.groups[group]; group != "" && !ok {
		return nil, missing("Schedule group %s does not exist.", group)
	}
	if text := q.Get("MaxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			return nil, invalid("Value '%s' at 'maxResults' failed to satisfy constraint: Member must be between 1 and 100", text)
		}
		most = n
	}
	from, err := strconv.Atoi(cmp.Or(q.Get("NextToken"), "0"))
	if err != nil || from < 0 {
		return nil, invalid("Invalid NextToken.")
	}
	var found []any
	for _, k := range s.keys() {
		one := s.all[k]
		if group != "" && group != k.Group || !strings.HasPrefix(k.Name, q.Get("NamePrefix")) || q.Get("State") != "" && q.Get("State") != one.State {
			continue
		}
		found = append(found, map[string]any{
			"Arn": s.arn(one), "Name": k.Name, "GroupName": k.Group, "State": one.State, "Target": map[string]string{"Arn": one.Target.Arn},
			"CreationDate": stamp(one.Created), "LastModificationDate": stamp(one.Changed),
		})
	}
	from = min(from, len(found))
	to := min(from+most, len(found))
	answer := map[string]any{"Schedules": append([]any{}, found[from:to]...)}
	if to < len(found) {
		answer["NextToken"] = strconv.Itoa(to)
	}
	return answer, nil
}

func (s *Service) createGroup(name string, body []byte) (any, error) {
	var in struct {
		ClientToken string
		Tags        []any
	}
	if err := decode(body, &in); err != nil {
		return nil, err
	}
	if !nameForm.MatchString(name) {
		return nil, invalid("Value '%s' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: ^[0-9a-zA-Z-_.]+$", name)
	}
	if _, ok := s.groups[name]; ok {
		return nil, &refusal{http.StatusConflict, "ConflictException", "Schedule group " + name + " already exists."}
	}
	g := group{Name: name, Created: time.Now().UTC()}
	if err := s.log.Append(record{Group: &g}); err != nil {
		return nil, err
	}
	s.groups[name] = g
	return map[string]string{"ScheduleGroupArn": s.prefix() + "schedule-group/" + name}, nil
}

func (s *Service) prefix() string {
	return "arn:aws:scheduler:" + s.opts.Region + ":" + s.opts.Account + ":"
}

func (s *Service) arn(one *schedule) string {
	return s.prefix() + "schedule/" + one.GroupName + "/" + one.Name
}
