package project

import "time"

// AlarmOK is the state of an alarm of CloudWatch that has nothing to report.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricAlarm.html
const AlarmOK = "OK"

// An Alarm is an alarm of CloudWatch, and its state.
type Alarm struct {
	Name  string
	State string    // OK, ALARM or INSUFFICIENT_DATA; empty if there is no such alarm
	Since time.Time // when it got this state; zero if CloudWatch does not say
}

// OK reports whether the alarm is in the state OK.
func (a Alarm) OK() bool { return a.State == AlarmOK }
