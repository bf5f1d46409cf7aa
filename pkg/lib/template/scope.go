package template

import (
	"strings"
	"sync/atomic"
)

// Scope is what is known when a template is evaluated. The zero value knows
// nothing: everything that is not given is Unknown.
type Scope struct {
	// Parameters are the values given. One that is absent is unknown, also when
	// it has a default: start from Template.Defaults() to use them.
	Parameters map[string]string

	// The pseudo parameters; "" is unknown.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
	StackName, StackID, AccountID, Region string   // the partition and the domain follow from the region
	NotificationARNs                      []string // nil is unknown; an empty list is none
	Zones                                 []string // Fn::GetAZs of Region; nil is unknown

	// Ref gives the physical ID of a resource, GetAtt an attribute, Import the
	// value of an export; false means unknown. Nil means that none is known.
	Ref    func(resource string) (any, bool)
	GetAtt func(resource, attribute string) (any, bool)
	Import func(name string) (any, bool)
	// StackOutput gives an output of another stack; false means unknown.
	StackOutput func(of StackOutput) (any, bool)
	// Stored gives what the Systems Manager parameter store holds under a name.
	Stored func(name string) (string, bool)

	// Literal makes conditions compare values as they are written, also those that CloudFormation may
	// read in another way: the local emulator has to decide.
	Literal bool

	// Room, if there is one, is shared by evaluations that together must not
	// take more than it has.
	Room *Room
}

// A Room is how many bytes evaluations may make together. One of them alone may
// not make more than 64 MB, which is much where there are many.
type Room struct{ left atomic.Int64 }

// NewRoom returns a Room of so many bytes.
func NewRoom(bytes int64) *Room {
	r := &Room{}
	r.left.Store(bytes)
	return r
}

// Full says whether more was needed than there was: then what has been
// evaluated since is not to be relied on.
func (r *Room) Full() bool { return r.left.Load() < 0 }

// pseudos gives the value of each pseudo parameter.
var pseudos = map[string]func(Scope) any{
	"AWS::NoValue":   func(Scope) any { return noValue{} },
	"AWS::AccountId": func(s Scope) any { return orUnknown(s.AccountID) },
	"AWS::Region":    func(s Scope) any { return orUnknown(s.Region) },
	"AWS::StackId":   func(s Scope) any { return orUnknown(s.StackID) },
	"AWS::StackName": func(s Scope) any { return orUnknown(s.StackName) },
	"AWS::Partition": func(s Scope) any { return orUnknown(s.partition()) },
	"AWS::URLSuffix": func(s Scope) any { return orUnknown(s.suffix()) },
	"AWS::NotificationARNs": func(s Scope) any {
		if s.NotificationARNs == nil {
			return Unknown{}
		}
		return texts(s.NotificationARNs)
	},
}

// partition returns the partition of the region; "" is unknown.
func (s Scope) partition() string {
	switch {
	case s.Region == "":
		return ""
	case strings.HasPrefix(s.Region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(s.Region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// suffix returns the domain of the region's services; "" is unknown.
func (s Scope) suffix() string {
	switch s.partition() {
	case "":
		return ""
	case "aws-cn":
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

func orUnknown(s string) any {
	if s == "" {
		return Unknown{}
	}
	return s
}

func texts(items []string) []any {
	values := make([]any, len(items))
	for i, item := range items {
		values[i] = item
	}
	return values
}
