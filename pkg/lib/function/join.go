package function

var joinItems = Function{
	Name: "join", Syntax: "join(separator, list)", Takes: []Kind{Text, List}, Gives: Text, Apart: 1,
	apply: func(_ *Evaluation, args []any) (any, error) { return join(args[0].(string), args[1].([]any)) },
}
