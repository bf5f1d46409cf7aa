package reference

import "github.com/stackwright/stackwright/pkg/format/declared"

// ${project}, ${environment}, ${account} and ${region} are properties of the
// stack itself.
var (
	ofProject     = word("project", func(s Scope) string { return s.Project })
	ofEnvironment = word("environment", func(s Scope) string { return s.Environment })
	account       = ofTarget(word("account", func(s Scope) string { return s.Target.Account }))
	region        = ofTarget(word("region", func(s Scope) string { return s.Target.Region }))
)

func word(name string, value func(Scope) string) Kind {
	return Kind{
		Name: name, Syntax: []string{"${" + name + "}"}, Early: true,
		match:   func(body string) (string, bool) { return "", body == name },
		parse:   func(string) (r declared.Reference, ok bool) { return r, true },
		resolve: func(s Scope, _ declared.Reference) (Result, error) { return Result{Text: value(s)}, nil },
	}
}

func ofTarget(k Kind) Kind {
	k.Target = true
	return k
}
