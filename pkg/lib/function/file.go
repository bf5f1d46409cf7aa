package function

import "errors"

// file reads a file of the project. Steps do not have the files, and so its argument must be
// known before.
var file = Function{
	Name: "file", Syntax: "file(path)", Takes: []Kind{Text}, Gives: Text, Early: true,
	apply: func(e *Evaluation, args []any) (any, error) {
		if e.Files == nil {
			return nil, errors.New("the files of the project are not at hand")
		}
		return e.Files(args[0].(string))
	},
}
