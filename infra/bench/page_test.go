package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
)

// docs/performance.md shows what was measured last, and nothing else.
func TestPageShowsTheRecord(t *testing.T) {
	r, err := read("measured.json")
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.fill(old)
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != string(want) {
		t.Errorf("%s does not show infra/bench/measured.json: run go run ./infra/bench -only '^$'", page)
	}
}

// A row shows the largest of its figures. A target that is missed is explained, and a
// figure that is missing says why.
func TestFigures(t *testing.T) {
	r := record{
		"order":    {Figures: map[string]float64{"max_parallel/20x5": 1.01, "max_parallel/50x2": 1.10}},
		"deploy":   {Error: "not finished within 3m0s", Figures: map[string]float64{"seconds/deploy 1600": 9, "cpu seconds/deploy 1600": 8}},
		"makespan": {Figures: map[string]float64{"makespan/8x10": 1.01}},
		"sceptre":  {Figures: map[string]float64{"ratio/sceptre/makespan/deploy": 3.5}},
	}
	for _, want := range []string{
		"| makespan ÷ least possible, 80 to 100 stacks, ten at a time |  | 1.100 |  | ≤ 1.050 | missed by 4.8 % |",
		"| deploy of 1,600 instant stacks 40 wide |  | 9.0 s | 8.0 s | ≤ 10.0 s | reached |",
		"| time per stack at 10,000 ÷ at 1,000 |  | – |  | ≤ 1.50 | not finished within 3m0s |",
		"| makespan ÷ critical path, 80 stacks 8 × 10 | 3.500 | 1.010 |  | ≤ 1.020 | reached |",
		"| an idle installation, a month |  | – |  | ≤ $1.00 | not measured |",
	} {
		if !strings.Contains(r.figures(), want+"\n") {
			t.Errorf("the table has no row\n%s\n%s", want, r.figures())
		}
	}
	missed := r.missed()
	if !strings.HasPrefix(missed, "- **makespan ÷ least possible, 80 to 100 stacks, ten at a time**: 1.100 instead of 1.050. ") || strings.Count(missed, "\n") != 1 {
		t.Errorf("the rows that are missed are\n%s", missed)
	}
}

// Every row has a producer, and all producers together have less than ten minutes.
func TestProducers(t *testing.T) {
	measures := make(map[string]bool)
	sum := time.Duration(0)
	for _, p := range all {
		measures[p.name] = true
		sum += p.budget
	}
	for _, row := range figure.Rows {
		if !measures[row.By] {
			t.Errorf("nothing measures %s: there is no producer %q", row.Title, row.By)
		}
	}
	if sum > 10*time.Minute {
		t.Errorf("make bench may take %s, want at most ten minutes", sum)
	}
}

// A producer that does not finish keeps the figures that it has, and is no error.
func TestBudget(t *testing.T) {
	slow := producer{"slow", "", 10 * time.Millisecond, func(ctx context.Context, b *measurement) error {
		b.figures["first"] = 1
		<-ctx.Done()
		return ctx.Err()
	}}
	s, err := slow.session(&measurement{})
	if err != nil || s.Error != "not finished within 10ms" || s.Figures["first"] != 1 {
		t.Errorf("the session is %+v, %v", s, err)
	}
	broken := producer{"broken", "", time.Minute, func(context.Context, *measurement) error { return errors.New("it fails") }}
	if s, err := broken.session(&measurement{}); err == nil || s.Error != "it fails" {
		t.Errorf("the session is %+v, %v", s, err)
	}
}
