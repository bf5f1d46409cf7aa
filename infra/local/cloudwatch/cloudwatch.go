// Package cloudwatch emulates the alarms of CloudWatch on this machine as far as hooks wait for them: those that stacks have
// created. There are no metrics, so an alarm is OK until a request sets another state.
package cloudwatch

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// The types of resources that are alarms.
const (
	metricAlarm    = "AWS::CloudWatch::Alarm"
	compositeAlarm = "AWS::CloudWatch::CompositeAlarm"
)

// states are the states of alarms.
var states = []string{"OK", "ALARM", "INSUFFICIENT_DATA"}

// maxNames is how many alarms a request may name.
const maxNames = 100

// Service is an http.Handler that speaks the CBOR and the JSON protocol of CloudWatch.
type Service struct {
	// Find reports whether a stack has an alarm of the type and name, in the account and region of a request.
	Find func(r *http.Request, kind, name string) bool
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)

	mu      sync.Mutex
	set     map[string]state    // those that requests have set, by ARN
	history map[string][]change // of these states, by ARN, oldest first
}

// A state is that of an alarm, since a time; zero if no request has set it.
type state struct {
	value string
	since time.Time
}

// A change is one of the state of an alarm.
type change struct{ from, to state }

// An input is that of all operations.
type input struct {
	AlarmNames, AlarmTypes             []string // of DescribeAlarms
	AlarmName, StateValue, StateReason string   // of SetAlarmState; the first one also of DescribeAlarmHistory
	HistoryItemType, ScanBy            string   // of DescribeAlarmHistory
	StartDate                          float64  // the same, in seconds since 1970
}

// ServeHTTP answers DescribeAlarms of names, DescribeAlarmHistory of the states of one, and SetAlarmState.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_SetAlarmState.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	var in input
	if err := decode(r, &in); err != nil {
		refuse("SerializationException", err.Error())
		return
	}
	call, err := gateway.Identify(r)
	switch {
	case err != nil:
		refuse("SerializationException", err.Error())
	case call.Operation == "DescribeAlarms" && (len(in.AlarmNames) == 0 || len(in.AlarmNames) > maxNames):
		refuse("ValidationError", fmt.Sprintf("the local emulator of CloudWatch describes alarms by their names only, from 1 to %d", maxNames))
	case call.Operation == "DescribeAlarms":
		encode(w, r, s.describe(r, in))
	case call.Operation == "DescribeAlarmHistory" && (in.AlarmName == "" || in.HistoryItemType != "StateUpdate" || in.ScanBy != "TimestampDescending"):
		refuse("ValidationError", "the local emulator of CloudWatch describes the states of one alarm, newest first")
	case call.Operation == "DescribeAlarmHistory":
		encode(w, r, s.changes(s.arn(r, in.AlarmName), in))
	case call.Operation == "SetAlarmState" && (!slices.Contains(states, in.StateValue) || in.StateReason == ""):
		refuse("ValidationError", "StateValue has to be one of "+strings.Join(states, ", ")+", and StateReason must not be empty")
	case call.Operation == "SetAlarmState" && !s.Find(r, metricAlarm, in.AlarmName) && !s.Find(r, compositeAlarm, in.AlarmName):
		refuse("ResourceNotFound", "Alarm "+in.AlarmName+" does not exist")
	case call.Operation == "SetAlarmState":
		s.setState(s.arn(r, in.AlarmName), in.StateValue)
		encode(w, r, map[string]any{})
	default:
		refuse("UnknownOperationException", "the local emulator of CloudWatch has no "+call.Operation)
	}
}

// describe lists the alarms that a request names. Without types in the request, these are the metric alarms.
func (s *Service) describe(r *http.Request, in input) map[string]any {
	if in.AlarmTypes == nil {
		in.AlarmTypes = []string{"MetricAlarm"}
	}
	of := func(kind, wanted string) []any {
		all := []any{}
		for _, name := range in.AlarmNames {
			if slices.Contains(in.AlarmTypes, wanted) && s.Find(r, kind, name) {
				arn := s.arn(r, name)
				is := s.state(arn)
				one := map[string]any{"AlarmName": name, "AlarmArn": arn, "StateValue": is.value}
				if !is.since.IsZero() {
					one["StateTransitionedTimestamp"] = is.since
				}
				all = append(all, one)
			}
		}
		return all
	}
	return map[string]any{"MetricAlarms": of(metricAlarm, "MetricAlarm"), "CompositeAlarms": of(compositeAlarm, "CompositeAlarm")}
}

// arn is the ARN of an alarm.
func (s *Service) arn(r *http.Request, name string) string {
	account, region := s.Place(r)
	return "arn:aws:cloudwatch:" + region + ":" + account + ":alarm:" + name
}

// setState sets the state of an alarm. One that it has already keeps its time.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricAlarm.html
func (s *Service) setState(arn, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		s.set, s.history = make(map[string]state), make(map[string][]change)
	}
	was := s.set[arn]
	if was.value == value {
		return
	}
	s.set[arn] = state{value, time.Now()}
	s.history[arn] = append(s.history[arn], change{was, s.set[arn]})
}

// changes lists the changes of the state of an alarm since a time, newest first. An alarm has no history before the first request that sets its state.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_AlarmHistoryItem.html
func (s *Service) changes(arn string, in input) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []any{}
	for _, c := range slices.Backward(s.history[arn]) {
		if float64(c.to.since.UnixMilli())/1000 < in.StartDate {
			continue
		}
		all = append(all, map[string]any{
			"AlarmName": in.AlarmName, "Timestamp": c.to.since, "HistoryItemType": in.HistoryItemType,
			"HistorySummary": "Alarm updated from " + cmp.Or(c.from.value, "OK") + " to " + c.to.value,
			"HistoryData":    fmt.Sprintf(`{"version":"1.0","oldState":{"stateValue":%q},"newState":{"stateValue":%q}}`, cmp.Or(c.from.value, "OK"), c.to.value),
		})
	}
	return map[string]any{"AlarmHistoryItems": all}
}

// state is what was set last. It outlasts the alarm.
func (s *Service) state(arn string) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, ok := s.set[arn]; ok {
		return is
	}
	return state{value: "OK"}
}
