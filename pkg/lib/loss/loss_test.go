package loss_test

import (
	"maps"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/loss"
)

// One question mark stands for each character, whatever its size in bytes.
func TestOf(t *testing.T) {
	for text, want := range map[string]string{"": "", "a?b": "a?b", "Größe": "Gr??e", "東京🗼": "???", "\x7f": "\x7f", "e\u0301": "e?"} {
		if got := loss.Of(text); got != want || !loss.Same(want, text) || loss.Beyond(text) != (want != text) || loss.Beyond(got) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if loss.Same("Gr??e", "Gräue") || loss.Same("Größe", "Gr??e") || !loss.Possible("a?") || loss.Possible("Größe") {
		t.Error("other texts are the same")
	}
}

// A text is replaced only by one for which CloudFormation may have returned it.
func TestUndo(t *testing.T) {
	got := loss.Undo(map[string]string{"a": "K?ln", "b": "K?ln", "c": "x"}, map[string]string{"a": "Köln", "b": "Kern", "d": "ü"})
	if want := map[string]string{"a": "Köln", "b": "K?ln", "c": "x"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDoubt(t *testing.T) {
	if got := loss.Doubt("a?b?"); got != "a\uFFFD?b\uFFFD?" || loss.Doubts(got) != 2 || loss.Doubts("a?b\uFFFD") != 0 {
		t.Errorf("%q", got)
	}
}
