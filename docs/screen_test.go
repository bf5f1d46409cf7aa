package docs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The size of the terminal.
const (
	rows    = 24
	columns = 80
)

// A terminal is what a terminal shows. It knows the control sequences that the
// command uses, and refuses all others.
type terminal struct {
	cells    [rows][]rune
	row, col int
}

var sequence = regexp.MustCompile(`^\x1b\[(\??)(\d*)(?:;\d+)*([A-Za-z])`)

// draw returns what a terminal shows when it was sent a text: the lines, without
// blanks at their ends and without empty lines at the end.
func draw(sent string) (string, error) {
	t := new(terminal)
	for sent != "" {
		if sent[0] == '\x1b' {
			m := sequence.FindStringSubmatch(sent)
			if m == nil {
				return "", fmt.Errorf("unknown control sequence %q", sent[:min(len(sent), 10)])
			}
			if err := t.control(m[1], m[2], m[3]); err != nil {
				return "", err
			}
			sent = sent[len(m[0]):]
			continue
		}
		r, size := utf8.DecodeRuneInString(sent)
		if err := t.put(r); err != nil {
			return "", err
		}
		sent = sent[size:]
	}
	var lines []string
	for _, row := range t.cells {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n", nil
}

// control carries out a control sequence.
func (t *terminal) control(private, number, letter string) error {
	n, err := strconv.Atoi("0" + number)
	switch {
	case err != nil:
		return err
	case letter == "m", private == "?": // colours; whether the cursor is shown
	case letter == "A":
		t.row = max(0, t.row-max(1, n))
	case letter == "K" && n == 0:
		t.clear(t.row, t.col)
	case letter == "J" && n == 0:
		t.clear(t.row, t.col)
		for row := t.row + 1; row < rows; row++ {
			t.clear(row, 0)
		}
	default:
		return fmt.Errorf("unknown control sequence ESC[%s%s%s", private, number, letter)
	}
	return nil
}

// clear empties a row from a column on.
func (t *terminal) clear(row, col int) {
	t.cells[row] = t.cells[row][:min(col, len(t.cells[row]))]
}

// put shows a character where the cursor is.
func (t *terminal) put(r rune) error {
	switch {
	case r == '\r':
		t.col = 0
		return nil
	case r == '\n':
		t.down()
		return nil
	case !unicode.IsPrint(r):
		return fmt.Errorf("unknown control character %q", r)
	}
	if t.col == columns {
		t.col = 0
		t.down()
	}
	for len(t.cells[t.row]) <= t.col {
		t.cells[t.row] = append(t.cells[t.row], ' ')
	}
	t.cells[t.row][t.col] = r
	t.col++
	return nil
}

// down moves the cursor to the next row. From the last one, all rows move up.
func (t *terminal) down() {
	if t.row++; t.row == rows {
		copy(t.cells[:], t.cells[1:])
		t.row, t.cells[rows-1] = rows-1, nil
	}
}

func TestDraw(t *testing.T) {
	for sent, want := range map[string]string{
		"one\r\ntwo\r\n":                       "one\ntwo\n",
		"one\r\ntwo\r\n\r\x1b[2Athree\x1b[K\n": "three\ntwo\n",
		"one\r\ntwo\r\n\r\x1b[2A\x1b[J":        "\n",
		"\x1b[1;31mred\x1b[0m":                 "red\n",
		strings.Repeat("x", 81):                strings.Repeat("x", 80) + "\nx\n",
		strings.Repeat("l\r\n", 30) + "last":   strings.Repeat("l\n", 23) + "last\n",
		"ünï ✓":                                "ünï ✓\n",
	} {
		if got, err := draw(sent); got != want || err != nil {
			t.Errorf("of %q it shows %q (%v), want %q", sent, got, err, want)
		}
	}
	for _, sent := range []string{"\x1b[3S", "\x07", "\x1b]0;title\x07"} {
		if _, err := draw(sent); err == nil {
			t.Errorf("%q is understood", sent)
		}
	}
}
