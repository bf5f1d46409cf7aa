package expression

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// structs are the types of Go's structs. The value of one is a map that Plain has made.
type structs struct {
	types.Provider
	fields map[string]map[string]*types.FieldType // by struct and field
}

// typeOf returns the type that a value has in expressions.
func (s *structs) typeOf(value any) (*types.Type, error) { return s.of(reflect.TypeOf(value)) }

func (s *structs) of(t reflect.Type) (*types.Type, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return types.TimestampType, nil
	case t.Kind() == reflect.Interface:
		return types.DynType, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return types.StringType, nil
	case reflect.Bool:
		return types.BoolType, nil
	case reflect.Int, reflect.Int64:
		return types.IntType, nil
	case reflect.Float64:
		return types.DoubleType, nil
	case reflect.Slice:
		element, err := s.of(t.Elem())
		return types.NewListType(element), err
	case reflect.Map:
		element, err := s.of(t.Elem())
		return types.NewMapType(types.StringType, element), err
	case reflect.Struct:
		return s.object(t)
	}
	return nil, fmt.Errorf("values of type %s have no type in expressions", t)
}

func (s *structs) object(t reflect.Type) (*types.Type, error) {
	name := t.Name()
	if _, ok := s.fields[name]; ok {
		return types.NewObjectType(name), nil
	}
	fields := make(map[string]*types.FieldType)
	s.fields[name] = fields
	for _, f := range jsonFields(t) {
		key := jsonName(f)
		of, err := s.of(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", key, name, err)
		}
		fields[key] = &types.FieldType{
			Type: of,
			IsSet: func(v any) bool {
				values, _ := v.(map[string]any)
				got := reflect.ValueOf(values[key])
				return got.IsValid() && !got.IsZero() && (got.Kind() != reflect.Slice && got.Kind() != reflect.Map || got.Len() > 0)
			},
			GetFrom: func(v any) (any, error) {
				values, _ := v.(map[string]any)
				value, ok := values[key]
				if !ok {
					return nil, fmt.Errorf("%s has no value of %s", name, key)
				}
				return value, nil
			},
		}
	}
	return types.NewObjectType(name), nil
}

// jsonFields are the fields that encoding/json writes, those of embedded structs too.
func jsonFields(t reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	outer := make(map[string]bool)
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" && len(f.Index) == 1 {
			outer[name] = true
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" && (len(f.Index) == 1 || !outer[name]) {
			all = append(all, f)
		}
	}
	return all
}

// jsonName is the name of a field in JSON; "" if it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	return name
}

// FindStructType implements types.Provider.
func (s *structs) FindStructType(name string) (*types.Type, bool) {
	if _, ok := s.fields[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return nil, false
}

// FindStructFieldNames implements types.Provider.
func (s *structs) FindStructFieldNames(name string) ([]string, bool) {
	var all []string
	for field := range s.fields[name] {
		all = append(all, field)
	}
	return all, all != nil
}

// FindStructFieldType implements types.Provider.
func (s *structs) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	f, ok := s.fields[name][field]
	return f, ok
}

// NewValue implements types.Provider. Expressions make no structs.
func (s *structs) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("a value of type %s cannot be made", name)
}

// namedFields are structs, with the fields that an expression names and that they lack.
type namedFields struct {
	*structs
	missed []miss
}

type miss struct{ of, field string }

// FindStructFieldType implements types.Provider.
func (a *namedFields) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	f, ok := a.structs.FindStructFieldType(name, field)
	if !ok {
		a.missed = append(a.missed, miss{name, field})
	}
	return f, ok
}

// Plain makes of a value what Evaluate takes: maps, lists, texts, numbers, truth values and
// times. A pointer is what it points to; one to nothing is the zero value.
func Plain(value any) any { return plain(reflect.ValueOf(value)) }

func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if t, ok := v.Interface().(time.Time); ok {
		return t
	}
	if n, ok := v.Interface().(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i
		}
		f, _ := n.Float64() // it was read as a number
		return f
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() && v.Kind() == reflect.Pointer {
			return plain(reflect.Zero(v.Type().Elem()))
		}
		return plain(v.Elem())
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Float64:
		return v.Float()
	case reflect.Slice:
		all := make([]any, v.Len())
		for i := range all {
			all[i] = plain(v.Index(i))
		}
		return all
	case reflect.Map:
		all := make(map[string]any, v.Len())
		for key, value := range v.Seq2() {
			all[key.String()] = plain(value)
		}
		return all
	case reflect.Struct:
		all := make(map[string]any)
		for _, f := range jsonFields(v.Type()) {
			all[jsonName(f)] = plain(v.FieldByIndex(f.Index))
		}
		return all
	}
	return nil
}
