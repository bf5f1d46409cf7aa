package cloudformation

import (
	"net/url"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// field is one name of a form in the AWS Query protocol, with the names below it:
// Tags.member.1.Key is Tags → member → 1 → Key.
// https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
type field struct {
	value string
	below map[string]*field
}

func fields(form url.Values) *field {
	root := &field{}
	for name, values := range form {
		at := root
		for part := range strings.SplitSeq(name, ".") {
			if at.below == nil {
				at.below = map[string]*field{}
			}
			next := at.below[part]
			if next == nil {
				next = &field{}
				at.below[part] = next
			}
			at = next
		}
		at.value = values[0]
	}
	return root
}

// members are the items of a list, in the order of their numbers.
func (f *field) members(key string) []*field {
	list := f.below[key]
	if list == nil {
		return nil
	}
	numbers := make([]int, 0, len(list.below))
	for name := range list.below {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	sort.Ints(numbers)
	items := make([]*field, len(numbers))
	for i, n := range numbers {
		items[i] = list.below[strconv.Itoa(n)]
	}
	return items
}

// fill copies a form into one of the SDK's input types, which have the same field names.
func (f *field) fill(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return f.fill(v.Elem())
	case reflect.String:
		v.SetString(f.value)
	case reflect.Bool:
		b, err := strconv.ParseBool(f.value)
		if err != nil {
			return malformed(f.value, "a boolean")
		}
		v.SetBool(b)
	case reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(f.value, 10, v.Type().Bits())
		if err != nil {
			return malformed(f.value, "an integer")
		}
		v.SetInt(n)
	case reflect.Slice:
		return f.fillList(v)
	case reflect.Map:
		return f.fillMap(v)
	case reflect.Struct:
		return f.fillStruct(v)
	}
	return nil
}

func (f *field) fillList(v reflect.Value) error {
	items := f.members("member")
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		if err := item.fill(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) fillMap(v reflect.Value) error {
	v.Set(reflect.MakeMap(v.Type()))
	for _, entry := range f.members("entry") {
		key, value := entry.below["key"], entry.below["value"]
		if key == nil || value == nil {
			continue
		}
		element := reflect.New(v.Type().Elem()).Elem()
		if err := value.fill(element); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(key.value).Convert(v.Type().Key()), element)
	}
	return nil
}

func (f *field) fillStruct(v reflect.Value) error {
	for i := range v.NumField() {
		at, ok := f.below[v.Type().Field(i).Name]
		if !ok || !v.Field(i).CanSet() {
			continue
		}
		if err := at.fill(v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func malformed(value, want string) error {
	return &problem{status: 400, code: "MalformedInput", message: strconv.Quote(value) + " is not " + want}
}
