package diagram_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/diagram"
)

// hostile are texts that could be taken for markup, or end what they stand in.
var hostile = []string{`</text><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a&b'c", "]]>", "\x00\x1b[31m\xff", `"]; click s0 "https://x"`, strings.Repeat("長", 200), ""}

// elements reads a drawing, which has to be XML, and returns the names of its elements and attributes, and its texts.
func elements(t *testing.T, drawing string) (names map[string]int, texts []string) {
	t.Helper()
	names = make(map[string]int)
	for d := xml.NewDecoder(strings.NewReader(drawing)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names, texts
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, drawing)
		}
		switch token := token.(type) {
		case xml.StartElement:
			names[token.Name.Local]++
			for _, a := range token.Attr {
				names["@"+a.Name.Local]++
			}
		case xml.CharData:
			texts = append(texts, string(token))
		}
	}
}

// Names are data in drawings and never markup, and drawings load nothing.
func TestNamesAreNoMarkup(t *testing.T) {
	g := diagram.Graph{Title: hostile[0]}
	line := diagram.Timeline{Title: hostile[0], End: time.Time{}.Add(time.Hour), Groups: []diagram.Group{{Name: hostile[1]}}}
	for i, name := range hostile {
		g.Nodes = append(g.Nodes, diagram.Node{Name: name, Detail: name})
		g.Edges = append(g.Edges, diagram.Edge{From: 0, To: i, Label: name})
		line.Groups[0].Bars = append(line.Groups[0].Bars, diagram.Bar{Name: name, Detail: name, End: line.End})
	}
	for _, drawing := range []string{g.SVG(), line.SVG()} {
		names, texts := elements(t, drawing)
		for name := range names {
			if !strings.Contains(" svg title rect text g path ", " "+name+" ") && !strings.HasPrefix(name, "@") || strings.HasPrefix(name, "@on") || name == "@style" || name == "@href" {
				t.Errorf("a drawing has %s", name)
			}
		}
		if all := strings.Join(texts, "\n"); !strings.Contains(all, hostile[0]) || !strings.Contains(all, "a&b'c") {
			t.Errorf("the names are missing in %s", all)
		}
	}
	mermaid := g.Mermaid()
	if lines := strings.Count(mermaid, "\n"); lines != 1+len(g.Nodes)+len(g.Edges) || strings.Contains(mermaid, "<") || strings.Contains(mermaid, `"]; click`) {
		t.Errorf("%s", mermaid)
	}
	if gantt := line.Mermaid(); strings.Count(gantt, "\n") != 5+len(hostile) {
		t.Errorf("%s", gantt)
	}
}

// corner finds the boxes of a graph.
var corner = regexp.MustCompile(`<rect x="(\d+)" y="(\d+)" width="(\d+)"`)

// Each node stands to the right of what it comes after, and no two at one place.
func TestNodesStandBehindWhatTheyComeAfter(t *testing.T) {
	g := diagram.Graph{Title: "shop"}
	for i := range 40 {
		g.Nodes = append(g.Nodes, diagram.Node{Name: fmt.Sprint("stack", i)})
		for j := range i {
			if (i*7+j*3)%5 == 0 {
				g.Edges = append(g.Edges, diagram.Edge{From: j, To: i})
			}
		}
	}
	var at [][3]int
	seen := make(map[[3]int]bool)
	for _, m := range corner.FindAllStringSubmatch(g.SVG(), -1) {
		var box [3]int
		for i := range box {
			n, err := strconv.Atoi(m[i+1])
			if err != nil {
				t.Fatal(err)
			}
			box[i] = n
		}
		if seen[box] {
			t.Errorf("two nodes are at %v", box)
		}
		seen[box], at = true, append(at, box)
	}
	if len(at) != len(g.Nodes) {
		t.Fatalf("%d boxes", len(at))
	}
	for _, e := range g.Edges {
		if at[e.To][0] < at[e.From][0]+at[e.From][2] {
			t.Errorf("%d comes after %d, and stands at %v, not to the right of %v", e.To, e.From, at[e.To], at[e.From])
		}
	}
}

// A graph with a cycle, which nothing should have, is drawn all the same.
func TestCycleIsDrawn(t *testing.T) {
	g := diagram.Graph{Nodes: []diagram.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Edges: []diagram.Edge{{From: 0, To: 1}, {From: 1, To: 0}, {From: 2, To: 2}}}
	if names, _ := elements(t, g.SVG()); names["rect"] != 1+len(g.Nodes) || names["path"] != len(g.Edges) {
		t.Errorf("%v", names)
	}
	if names, _ := elements(t, (diagram.Graph{}).SVG()); names["rect"] != 1 {
		t.Errorf("an empty graph is %v", names)
	}
}

// A bar is as long as its time, from when it began.
func TestBarsAreAsLongAsTheirTimes(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	line := diagram.Timeline{Start: start, End: at(100), Groups: []diagram.Group{{Name: "eu", Bars: []diagram.Bar{
		{Name: "a", Start: at(0), End: at(50), Colour: diagram.Good}, {Name: "b", Ready: at(50), Start: at(60), End: at(100), Colour: diagram.Active, Critical: true},
	}}}}
	var x, width [2]float64
	for i, m := range regexp.MustCompile(`<rect x="([\d.]+)" y="\d+" width="([\d.]+)"`).FindAllStringSubmatch(line.SVG(), -1) {
		if _, err := fmt.Sscan(m[1]+" "+m[2], &x[i], &width[i]); err != nil {
			t.Fatal(err)
		}
	}
	if width[0] != 450 || width[1] != 360 || x[1]-x[0] != 540 {
		t.Errorf("at %v, %v wide", x, width)
	}
	const want = "  section eu\n  a :done, b0, 1772366400000, 1772369400000\n  b :crit, active, b1, 1772370000000, 1772372400000\n"
	if got := line.Mermaid(); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	for _, whole := range []time.Duration{0, time.Second, time.Hour, 400 * time.Hour, 90 * 24 * time.Hour} {
		line.End = start.Add(whole)
		if marks := strings.Count(line.SVG(), `font-size="11"`); marks < 1 || marks > 21 {
			t.Errorf("a timeline of %s has %d marks", whole, marks)
		}
	}
}
