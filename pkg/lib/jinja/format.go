package jinja

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format is Python's template.format(**values). The error is an *Error without a position.
func Format(template string, values *Dict, room int) (text string, err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *failure:
			err = f
		default:
			panic(f)
		}
	}()
	e := &evaluator{env: &Environment{Budget: &Budget{Steps: room, Bytes: room}}}
	var a args
	for _, entry := range values.entries {
		if key, ok := entry.Key.(string); ok {
			a.names, a.named = append(a.names, key), append(a.named, entry.Value)
		}
	}
	return e.format(template, a), nil
}

// format is Python's str.format.
// https://docs.python.org/3/library/string.html#formatstrings
func (e *evaluator) format(s string, a args) string {
	var out strings.Builder
	next := int64(0)
	put := func(text string) {
		e.charge(len(text))
		out.WriteString(text)
	}
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			put(s)
			break
		}
		put(s[:i])
		if i+1 < len(s) && s[i+1] == s[i] {
			put(s[i : i+1])
			s = s[i+2:]
			continue
		}
		if s[i] == '}' {
			e.fail("format: a single }: write }}")
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 || strings.IndexByte(s[i+1:i+end], '{') >= 0 {
			e.fail("format: a { is not closed, or { and } are within { and }, which is not supported")
		}
		put(e.field(s[i+1:i+end], a, &next))
		s = s[i+end+1:]
	}
	return out.String()
}

// field is the text of one replacement field.
func (e *evaluator) field(field string, a args, next *int64) string {
	name, spec, _ := strings.Cut(field, ":")
	name, conversion, converts := strings.Cut(name, "!")
	first := name
	if i := strings.IndexAny(name, ".["); i >= 0 {
		first = name[:i]
	}
	rest := name[len(first):]
	if first == "" {
		first = strconv.FormatInt(*next, 10)
		*next++
	}
	v := e.argument(first, a)
	for rest != "" {
		switch {
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			key := rest[1 : 1+end]
			if strings.HasPrefix(key, "_") {
				e.fail("format: %s is not allowed", short(key))
			}
			v, rest = e.attribute(v, key), rest[1+end:]
		default:
			end := strings.IndexByte(rest, ']')
			if rest[0] != '[' || end < 0 {
				e.fail("format: %s is no field", short(field))
			}
			var key any = rest[1:end]
			if i, err := strconv.ParseInt(rest[1:end], 10, 64); err == nil {
				key = i
			}
			v, rest = e.item(v, key), rest[end+1:]
		}
	}
	e.defined(v)
	if converts {
		switch conversion {
		case "r":
			v = e.repr(v)
		case "s":
			v = e.str(v)
		default:
			e.fail("format: the conversion !%s is not supported", short(conversion))
		}
	}
	return e.spec(v, spec)
}

func (e *evaluator) argument(name string, a args) any {
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i >= len(a.list) {
			e.fail("format: there is no argument %d", i)
		}
		return a.list[i]
	}
	for i, given := range a.names {
		if given == name {
			return a.named[i]
		}
	}
	e.fail("format: there is no argument %s", quoted(short(name)))
	return nil
}

// spec formats a value: [[fill]align][sign][0][width][,][.precision][type].
func (e *evaluator) spec(v any, spec string) string {
	if spec == "" {
		return e.str(v)
	}
	written := spec
	take := func(of string) string {
		if spec != "" && strings.IndexByte(of, spec[0]) >= 0 {
			c := spec[:1]
			spec = spec[1:]
			return c
		}
		return ""
	}
	digits := func() (int, bool) {
		n := 0
		for n < len(spec) && '0' <= spec[n] && spec[n] <= '9' {
			n++
		}
		if n == 0 {
			return 0, false
		}
		i, err := strconv.Atoi(spec[:n])
		if err != nil || i > e.env.Budget.Bytes {
			e.exhausted()
		}
		spec = spec[n:]
		return i, true
	}
	fill, align := " ", ""
	if _, size := utf8.DecodeRuneInString(spec); len(spec) > size && strings.IndexByte("<>^=", spec[size]) >= 0 {
		fill, align, spec = spec[:size], spec[size:size+1], spec[size+1:]
	} else {
		align = take("<>^=")
	}
	sign := take("+- ")
	if take("0") != "" && align == "" {
		fill, align = "0", "="
	}
	width, _ := digits()
	comma := take(",")
	precision, hasPrecision := -1, false
	if take(".") != "" {
		if precision, hasPrecision = digits(); !hasPrecision {
			e.fail("format: %s: a precision is missing", quoted(short(written)))
		}
	}
	kind := take("sdfFeEgGxXob%n")
	i, f, isInt, isNumber := number(v)
	if _, isBool := v.(bool); isBool && kind == "" {
		isNumber = false
	}
	var text, minus string
	switch {
	case spec != "", kind == "n", precision > 1000:
		e.fail("format: %s is not supported", quoted(short(written)))
	case !isNumber:
		if s, ok := v.(string); ok {
			text = s
		} else {
			e.fail("format: %s is not supported for a value of type %s", quoted(short(written)), Kind(v))
		}
		if sign+comma != "" || kind != "" && kind != "s" || align == "=" && fill != "0" {
			e.fail("format: %s is for numbers", quoted(short(written)))
		}
		if hasPrecision {
			text = string([]rune(text)[:min(precision, utf8.RuneCountInString(text))])
		}
		if align == "" || align == "=" {
			align = "<"
		}
	case isInt && (kind == "" || strings.Contains("dxXob", kind)):
		if hasPrecision {
			e.fail("format: a whole number has no precision")
		}
		base := map[string]int{"": 10, "d": 10, "x": 16, "X": 16, "o": 8, "b": 2}[kind]
		text = strconv.FormatInt(i, base)
		if kind == "X" {
			text = strings.ToUpper(text)
		}
	case kind != "" && strings.Contains("sdxXob", kind):
		e.fail("format: %s is not for a value of type %s", kind, Kind(v))
	default:
		text = floatText(f, kind, precision)
	}
	if isNumber {
		if strings.HasPrefix(text, "-") {
			minus, text = "-", text[1:]
		} else if sign != "-" {
			minus = sign
		}
		if comma != "" {
			text = thousands(text)
		}
		if align == "=" {
			return minus + e.pad(text, width-len(minus), fill, '>')
		}
		if align == "" {
			align = ">"
		}
	}
	text = minus + text
	missing := width - utf8.RuneCountInString(text)
	if align == "^" && missing > 0 { // Python's format puts the odd one to the right
		e.charge(width * len(fill))
		return strings.Repeat(fill, missing/2) + text + strings.Repeat(fill, missing-missing/2)
	}
	return e.pad(text, width, fill, align[0])
}

// floatText formats a float; a precision of -1 is the default.
func floatText(f float64, kind string, precision int) string {
	if kind == "" && precision < 0 {
		return Float(f)
	}
	suffix := ""
	if kind == "%" {
		f, kind, suffix = f*100, "f", "%"
	}
	if precision < 0 {
		precision = 6
	}
	switch kind {
	case "f", "F", "e", "E":
		return strconv.FormatFloat(f, strings.ToLower(kind)[0], precision, 64) + suffix
	}
	// g: %g of Go differs in the exponents for which it is written in full.
	precision = max(precision, 1)
	exponent := 0
	if f != 0 {
		_, e, _ := strings.Cut(strconv.FormatFloat(f, 'e', precision-1, 64), "e")
		exponent, _ = strconv.Atoi(e)
	}
	if exponent < -4 || exponent >= precision || math.IsInf(f, 0) {
		mantissa, e, has := strings.Cut(strconv.FormatFloat(f, 'e', precision-1, 64), "e")
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		if !has {
			return mantissa
		}
		return mantissa + "e" + e
	}
	text := strconv.FormatFloat(f, 'f', precision-1-exponent, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if kind == "" && !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func thousands(s string) string {
	whole, fraction, has := strings.Cut(s, ".")
	var b strings.Builder
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	if has {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// percent is Python's s % v.
// https://docs.python.org/3/library/stdtypes.html#printf-style-string-formatting
func (e *evaluator) percent(s string, v any) string {
	values, isTuple := v.(Tuple)
	if !isTuple {
		values = Tuple{v}
	}
	named, isDict := v.(*Dict)
	used := 0
	var out strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			i = len(s)
		}
		e.charge(i)
		out.WriteString(s[:i])
		if s = s[i:]; s == "" {
			break
		}
		s = s[1:]
		if strings.HasPrefix(s, "%") {
			out.WriteByte('%')
			s = s[1:]
			continue
		}
		var value any
		if strings.HasPrefix(s, "(") {
			end := strings.IndexByte(s, ')')
			if end < 0 || !isDict {
				e.fail("%%: %%(name)s needs a dict")
			}
			got, ok := named.Get(s[1:end])
			if !ok {
				e.fail("%%: there is no key %s", quoted(short(s[1:end])))
			}
			value, s, used = got, s[end+1:], len(values)
		} else {
			if used >= len(values) {
				e.fail("%%: there are not enough values for the text")
			}
			value = values[used]
			used++
		}
		n := strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
		if n < 0 {
			e.fail("%%: a format is not complete")
		}
		text := e.percentOne(s[:n], s[n:n+1], value)
		e.charge(len(text))
		out.WriteString(text)
		s = s[n+1:]
	}
	if used < len(values) && !isDict {
		e.fail("%%: not all values are used in the text")
	}
	return out.String()
}

// percentOne is one value after flags, width and precision.
func (e *evaluator) percentOne(options, kind string, v any) string {
	e.defined(v)
	flags := options[:len(options)-len(strings.TrimLeft(options, "-+ 0#"))]
	size, precision, hasPrecision := strings.Cut(options[len(flags):], ".")
	width, err := strconv.Atoi("0" + size)
	if err != nil || width > e.env.Budget.Bytes || strings.Contains(flags, "#") {
		e.fail("%%: the format %s is not supported", quoted(short(options+kind)))
	}
	digits, err := strconv.Atoi("0" + precision)
	if err != nil || digits > 1000 {
		e.fail("%%: the format %s is not supported", quoted(short(options+kind)))
	}
	if !hasPrecision {
		digits = -1
	}
	i, f, isInt, isNumber := number(v)
	var text string
	switch kind {
	case "s", "r":
		text = e.str(v)
		if kind == "r" {
			text = e.repr(v)
		}
		if hasPrecision {
			text = string([]rune(text)[:min(digits, utf8.RuneCountInString(text))])
		}
		flags = strings.ReplaceAll(flags, "0", "")
		isNumber = false
	case "d", "i", "u", "x", "X", "o":
		if !isNumber || !isInt && kind != "d" && kind != "i" && kind != "u" || math.Abs(f) >= 1<<63 || hasPrecision {
			e.fail("%%: %s is not for a value of type %s", kind, Kind(v))
		}
		if !isInt {
			i = int64(f)
		}
		text = strconv.FormatInt(i, map[string]int{"x": 16, "X": 16, "o": 8}[kind]+map[bool]int{true: 10}[strings.Contains("diu", kind)])
		if kind == "X" {
			text = strings.ToUpper(text)
		}
	case "f", "F", "e", "E", "g":
		if !isNumber {
			e.fail("%%: %s is not for a value of type %s", kind, Kind(v))
		}
		text = floatText(f, kind, digits)
	default:
		e.fail("%%: the format %s is not supported", quoted(short(options+kind)))
	}
	if isNumber && !strings.HasPrefix(text, "-") {
		switch {
		case strings.Contains(flags, "+"):
			text = "+" + text
		case strings.Contains(flags, " "):
			text = " " + text
		}
	}
	switch {
	case strings.Contains(flags, "-"):
		return e.pad(text, width, " ", '<')
	case strings.Contains(flags, "0"):
		sign := ""
		if strings.ContainsAny(text[:1], "+- ") {
			sign, text = text[:1], text[1:]
		}
		return sign + e.pad(text, width-len(sign), "0", '>')
	}
	return e.pad(text, width, " ", '>')
}
