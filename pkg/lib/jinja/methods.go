package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// globals are the functions that every template has.
var globals map[string]any

func init() {
	globals = map[string]any{
		"range": &callable{"range", func(e *evaluator, a args) any {
			b := e.bind("range", a, "start", "stop", "step")
			n := numbers{0, b.int(0, 0), 1}
			if b.given[1] {
				n = numbers{b.int(0, 0), b.int(1, 0), b.int(2, 1)}
			}
			const most = 1 << 40
			if n.step == 0 || n.from > most || n.from < -most || n.to > most || n.to < -most || n.step > most || n.step < -most {
				e.fail("range: the step is 0, or a number is too large")
			}
			return n
		}},
		"dict": &callable{"dict", func(e *evaluator, a args) any {
			d := NewDict()
			if len(a.list) > 1 {
				e.fail("dict takes at most 1 argument without a name")
			}
			e.update(d, a)
			return d
		}},
		"namespace": &callable{"namespace", func(e *evaluator, a args) any {
			d := NewDict()
			e.update(d, a)
			return &namespace{d}
		}},
		"cycler": &callable{"cycler", func(e *evaluator, a args) any {
			if len(a.list) == 0 {
				e.fail("cycler needs at least one argument")
			}
			at := 0
			return &state{field: func(name string) (any, bool) {
				switch name {
				case "current":
					return a.list[at], true
				case "next":
					return &callable{"next", func(*evaluator, args) any {
						v := a.list[at]
						at = (at + 1) % len(a.list)
						return v
					}}, true
				case "reset":
					return &callable{"reset", func(*evaluator, args) any { at = 0; return nil }}, true
				}
				return nil, false
			}}
		}},
		"joiner": &callable{"joiner", func(e *evaluator, a args) any {
			between := e.bind("joiner", a, "sep").str(0, ", ")
			used := false
			return &callable{"joiner", func(*evaluator, args) any {
				if used {
					return between
				}
				used = true
				return ""
			}}
		}},
		"lipsum": Undefined{Why: "lipsum is not supported: its text is different each time"},
	}
}

// update adds entries to a dictionary, as dict.update does.
func (e *evaluator) update(d *Dict, a args) {
	for _, v := range a.list {
		if other, ok := e.defined(v).(*Dict); ok {
			e.charge(64 * other.Len())
			for _, entry := range slices.Clone(other.entries) {
				d.Put(entry)
			}
			continue
		}
		for _, pair := range e.items(v) {
			items := e.items(pair)
			if len(items) != 2 {
				e.fail("expected pairs of a key and a value")
			}
			e.set(d, items[0], items[1])
		}
	}
	for i, name := range a.names {
		e.set(d, name, a.named[i])
	}
}

// method returns a method of a value's type, or nil.
func (e *evaluator) method(of any, name string) any {
	var call func(*evaluator, args) any
	switch v := of.(type) {
	case string:
		call = textMethod(v, name)
	case *Dict:
		call = dictMethod(v, name)
	case *List:
		call = listMethod(v, name)
	case Tuple:
		if name == "index" || name == "count" {
			call = listMethod(&List{v}, name)
		}
	}
	if call == nil {
		return nil
	}
	return &callable{name, call}
}

// dictChanges are the methods of dictionaries that take any arguments.
var dictChanges = map[string]func(*evaluator, *Dict, args){"update": (*evaluator).update}

func dictMethod(d *Dict, name string) func(*evaluator, args) any {
	if change := dictChanges[name]; change != nil {
		return func(e *evaluator, a args) any { change(e, d, a); return nil }
	}
	switch name {
	case "get":
		return func(e *evaluator, a args) any {
			b := e.bind("get", a, "key", "default")
			if v, ok := d.Get(b.any(0, nil)); ok {
				return v
			}
			return b.any(1, nil)
		}
	case "keys", "values", "items":
		return func(e *evaluator, a args) any {
			e.bind(name, a)
			var all []any
			for _, p := range e.pairs(d) {
				switch name {
				case "keys":
					p = p.(Tuple)[0]
				case "values":
					p = p.(Tuple)[1]
				}
				all = append(all, p)
			}
			return view{"dict_" + name, all}
		}
	case "setdefault":
		return func(e *evaluator, a args) any {
			b := e.bind("setdefault", a, "key", "default")
			if v, ok := d.Get(b.any(0, nil)); ok {
				return v
			}
			e.set(d, b.any(0, nil), b.any(1, nil))
			return b.any(1, nil)
		}
	case "pop":
		return func(e *evaluator, a args) any {
			b := e.bind("pop", a, "key", "default")
			v, ok := d.Get(b.any(0, nil))
			if !ok && !b.given[1] {
				e.fail("pop: there is no key %s", e.repr(b.any(0, nil)))
			}
			if !ok {
				return b.values[1]
			}
			e.charge(32 * d.Len())
			d.Delete(b.any(0, nil))
			return v
		}
	case "copy":
		return func(e *evaluator, a args) any { e.bind(name, a); e.charge(64 * d.Len()); return d.Copy() }
	case "clear":
		return func(e *evaluator, a args) any { e.bind(name, a); *d = *NewDict(); return nil }
	}
	return nil
}

func listMethod(l *List, name string) func(*evaluator, args) any {
	switch name {
	case "append":
		return func(e *evaluator, a args) any {
			b := e.bind(name, a, "object")
			e.charge(32)
			l.Items = append(l.Items, b.any(0, nil))
			return nil
		}
	case "extend":
		return func(e *evaluator, a args) any {
			items := e.items(e.bind(name, a, "iterable").any(0, nil))
			e.charge(16 * len(items))
			l.Items = slices.Concat(l.Items, items)
			return nil
		}
	case "insert":
		return func(e *evaluator, a args) any {
			b := e.bind(name, a, "index", "object")
			i, size := b.int(0, 0), int64(len(l.Items))
			if i < 0 {
				i += size
			}
			e.charge(16 * (len(l.Items) + 1))
			l.Items = slices.Insert(l.Items, int(min(max(i, 0), size)), b.any(1, nil))
			return nil
		}
	case "pop":
		return func(e *evaluator, a args) any {
			i, size := e.bind(name, a, "index").int(0, -1), int64(len(l.Items))
			if i < 0 {
				i += size
			}
			if i < 0 || i >= size {
				e.fail("pop: there is no such item")
			}
			v := l.Items[i]
			e.charge(16 * len(l.Items))
			l.Items = slices.Concat(l.Items[:i], l.Items[i+1:])
			return v
		}
	case "index", "remove", "count":
		return func(e *evaluator, a args) any {
			want := e.bind(name, a, "value").any(0, nil)
			n := int64(0)
			for i, v := range l.Items {
				if !e.equal(v, want, 0) {
					continue
				}
				n++
				switch name {
				case "index":
					return int64(i)
				case "remove":
					l.Items = slices.Concat(l.Items[:i], l.Items[i+1:])
					return nil
				}
			}
			if name != "count" {
				e.fail("%s: the value is not in the list", name)
			}
			return n
		}
	case "sort":
		return func(e *evaluator, a args) any {
			l.Items = e.sort(l.Items, e.bind(name, a, "reverse").bool(0, false), func(v any) any { return v })
			return nil
		}
	case "reverse":
		return func(e *evaluator, a args) any {
			e.bind(name, a)
			l.Items = slices.Clone(l.Items)
			slices.Reverse(l.Items)
			return nil
		}
	case "copy":
		return func(e *evaluator, a args) any { e.bind(name, a); return e.list(slices.Clone(l.Items)) }
	case "clear":
		return func(e *evaluator, a args) any { e.bind(name, a); l.Items = nil; return nil }
	}
	return nil
}

// textMethods are those without arguments that make text.
var textMethods = map[string]func(string) string{
	"capitalize": capitalized, "lower": strings.ToLower, "upper": strings.ToUpper, "casefold": strings.ToLower,
	"swapcase": func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsUpper(r) {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, s)
	},
	// Words of Python's title begin after everything that is no letter.
	"title": func(s string) string {
		within := false
		return strings.Map(func(r rune) rune {
			defer func() { within = unicode.IsLetter(r) }()
			if within {
				return unicode.ToLower(r)
			}
			return unicode.ToTitle(r)
		}, s)
	},
}

// textTests are methods that test each character.
var textTests = map[string]func(rune) bool{
	"isalpha": unicode.IsLetter, "isdigit": unicode.IsDigit, "isdecimal": unicode.IsDigit, "isnumeric": unicode.IsNumber, "isspace": unicode.IsSpace,
	"isalnum": func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) },
}

func textMethod(s, name string) func(*evaluator, args) any {
	if f := textMethods[name]; f != nil {
		return func(e *evaluator, a args) any { e.bind(name, a); e.charge(2 * len(s)); return f(s) }
	}
	if f := textTests[name]; f != nil {
		return func(e *evaluator, a args) any {
			e.bind(name, a)
			return s != "" && strings.IndexFunc(s, func(r rune) bool { return !f(r) }) < 0
		}
	}
	switch name {
	case "islower":
		return func(*evaluator, args) any { return cased(s, unicode.IsUpper, unicode.IsLower) }
	case "isupper":
		return func(*evaluator, args) any { return cased(s, unicode.IsLower, unicode.IsUpper) }
	case "startswith", "endswith":
		return func(e *evaluator, a args) any {
			v := e.bind(name, a, "prefix").any(0, nil)
			all, isTuple := v.(Tuple)
			if !isTuple {
				all = Tuple{v}
			}
			for _, one := range all {
				part, ok := one.(string)
				if !ok {
					e.fail("%s: expected text, found %s", name, Kind(one))
				}
				if name == "startswith" && strings.HasPrefix(s, part) || name == "endswith" && strings.HasSuffix(s, part) {
					return true
				}
			}
			return false
		}
	case "strip", "lstrip", "rstrip":
		return func(e *evaluator, a args) any {
			b := e.bind(name, a, "chars")
			in := unicode.IsSpace
			if b.any(0, nil) != nil {
				chars := b.str(0, "")
				in = func(r rune) bool { return strings.ContainsRune(chars, r) }
			}
			out := s
			if name != "rstrip" {
				out = strings.TrimLeftFunc(out, in)
			}
			if name != "lstrip" {
				out = strings.TrimRightFunc(out, in)
			}
			return out
		}
	case "removeprefix":
		return func(e *evaluator, a args) any { return strings.TrimPrefix(s, e.bind(name, a, "prefix").str(0, "")) }
	case "removesuffix":
		return func(e *evaluator, a args) any { return strings.TrimSuffix(s, e.bind(name, a, "suffix").str(0, "")) }
	case "replace":
		return func(e *evaluator, a args) any {
			b := e.bind(name, a, "old", "new", "count")
			if !b.given[1] {
				e.fail("replace needs what to replace and the replacement")
			}
			return e.replace(s, b.str(0, ""), b.str(1, ""), b.int(2, -1))
		}
	case "count", "find", "rfind", "index":
		return func(e *evaluator, a args) any {
			part := e.bind(name, a, "sub").str(0, "")
			i := strings.Index(s, part)
			switch name {
			case "count":
				return int64(strings.Count(s, part))
			case "rfind":
				i = strings.LastIndex(s, part)
			case "index":
				if i < 0 {
					e.fail("index: the text is not found")
				}
			}
			if i < 0 {
				return int64(-1)
			}
			return int64(utf8.RuneCountInString(s[:i]))
		}
	case "split", "rsplit":
		return func(e *evaluator, a args) any {
			b := e.bind(name, a, "sep", "maxsplit")
			most := int(min(max(b.int(1, -1), -1), int64(len(s))+1))
			var parts []string
			if b.any(0, nil) == nil {
				parts = words(s, most, name == "rsplit")
			} else {
				sep := b.str(0, "")
				if sep == "" {
					e.fail("%s: the separator is empty", name)
				}
				parts = split(s, sep, most, name == "rsplit")
			}
			return e.texts(parts)
		}
	case "splitlines":
		return func(e *evaluator, a args) any {
			return e.texts(splitlines(s, e.bind(name, a, "keepends").bool(0, false)))
		}
	case "join":
		return func(e *evaluator, a args) any {
			var out strings.Builder
			for i, v := range e.items(e.bind(name, a, "iterable").any(0, nil)) {
				part, ok := v.(string)
				if !ok {
					e.fail("join: item %d is %s and not text", i, Kind(v))
				}
				if i > 0 {
					e.charge(len(s))
					out.WriteString(s)
				}
				e.charge(len(part))
				out.WriteString(part)
			}
			return out.String()
		}
	case "ljust", "rjust", "center":
		return func(e *evaluator, a args) any {
			b := e.bind(name, a, "width", "fillchar")
			fill := b.str(1, " ")
			if utf8.RuneCountInString(fill) != 1 {
				e.fail("%s: fill with one character", name)
			}
			return e.pad(s, b.size(0, 0), fill, map[string]byte{"ljust": '<', "rjust": '>', "center": '^'}[name])
		}
	case "zfill":
		return func(e *evaluator, a args) any {
			width := e.bind(name, a, "width").size(0, 0)
			sign := ""
			if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
				sign = s[:1]
			}
			return sign + e.pad(s[len(sign):], width-len(sign), "0", '>')
		}
	case "format":
		return func(e *evaluator, a args) any { return e.format(s, a) }
	}
	return nil
}

// texts is a list of texts.
func (e *evaluator) texts(parts []string) *List {
	all := make([]any, 0, len(parts))
	e.charge(32 * len(parts))
	for _, p := range parts {
		all = append(all, p)
	}
	return &List{all}
}

func split(s, sep string, most int, right bool) []string {
	if most < 0 {
		return strings.Split(s, sep)
	}
	if !right {
		return strings.SplitN(s, sep, most+1)
	}
	var all []string
	for range most {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		all = append(all, s[i+len(sep):])
		s = s[:i]
	}
	all = append(all, s)
	slices.Reverse(all)
	return all
}

// words splits at space.
func words(s string, most int, right bool) []string {
	if most < 0 {
		return strings.Fields(s)
	}
	var all []string
	if right {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
		for s != "" && len(all) < most {
			i := strings.LastIndexFunc(s, unicode.IsSpace)
			if i < 0 {
				break
			}
			_, size := utf8.DecodeRuneInString(s[i:])
			all = append(all, s[i+size:])
			s = strings.TrimRightFunc(s[:i], unicode.IsSpace)
		}
		if s != "" {
			all = append(all, s)
		}
		slices.Reverse(all)
		return all
	}
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	for s != "" && len(all) < most {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i < 0 {
			break
		}
		all = append(all, s[:i])
		s = strings.TrimLeftFunc(s[i:], unicode.IsSpace)
	}
	if s != "" {
		all = append(all, s)
	}
	return all
}
