package function

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// json writes a value on one line, the keys of maps in their order.
var toJSON = Function{
	Name: "json", Syntax: "json(value)", Takes: []Kind{Any}, Gives: Text,
	apply: func(_ *Evaluation, args []any) (any, error) {
		var b bytes.Buffer
		to := json.NewEncoder(&b)
		to.SetEscapeHTML(false)
		if err := to.Encode(args[0]); err != nil {
			return nil, err
		}
		return strings.TrimSuffix(b.String(), "\n"), nil
	},
}

var fromJSON = Function{
	Name: "from_json", Syntax: "from_json(text)", Takes: []Kind{Text}, Gives: Any,
	apply: func(_ *Evaluation, args []any) (any, error) {
		from := json.NewDecoder(strings.NewReader(args[0].(string)))
		from.UseNumber()
		var v any
		if err := from.Decode(&v); err != nil {
			return nil, fmt.Errorf("the text is not JSON: %w", err)
		}
		if _, err := from.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("the text is not JSON: there is more after the first value")
		}
		if depth(v) > MaxDepth {
			return nil, fmt.Errorf("lists and maps are nested too deep: at most %d levels are read", MaxDepth)
		}
		return v, nil
	},
}
