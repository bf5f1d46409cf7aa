// Package price has public prices of AWS: of instances by region, from lists that others publish, and of what costs
// the same whatever its size, from a table that is kept by hand.
//
// All prices are on demand, in US dollars, without taxes, discounts and free tiers. They are for estimates.
package price

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the tables
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// instances.gz is the table of instances. Its lines are made by TestTableIsMadeFromSources, which make prices runs. The first
// lines say where the prices are from (source) and for which regions they are (regions). Each other line is a key and the
// prices of an hour in these regions, separated by commas; empty where there is none.
//
//go:embed instances.gz
var compressed []byte

// flat.txt is the table of all other prices. It is kept by hand.
//
//go:embed flat.txt
var flat string

// Hours is how many hours a month has, as AWS's calculator counts them.
const Hours = 730

// Home is the region whose prices are used where no others are known.
const Home = "us-east-1"

// Dollars is an amount of money, in millionths of a US dollar.
type Dollars int64

// Of returns an amount in dollars.
func Of(dollars float64) Dollars { return Dollars(math.Round(dollars * 1e6)) }

// Times multiplies an amount.
func (d Dollars) Times(n float64) Dollars { return Dollars(math.Round(float64(d) * n)) }

// Exact writes the amount with all its digits, two at least after the point, as prices of hours are written.
func (d Dollars) Exact() string {
	text := strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64)
	if _, cents, _ := strings.Cut(text, "."); len(cents) < 2 {
		text = strconv.FormatFloat(float64(d)/1e6, 'f', 2, 64)
	}
	return "$" + text
}

// String writes the amount in dollars and cents, or as Exact if it is less than a cent.
func (d Dollars) String() string {
	sign, n := "", int64(d)
	if n < 0 {
		sign, n = "-", -n
	}
	if n > 0 && n < 10_000 {
		return sign + Dollars(n).Exact()
	}
	cents := (n + 5_000) / 10_000
	whole := strconv.FormatInt(cents/100, 10)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("%s$%s.%02d", sign, whole, cents%100)
}

// USD is an amount in dollars, as JSON has it.
type USD float64

// USD returns the amount in dollars.
func (d Dollars) USD() USD { return USD(d) / 1e6 }

// Dollars returns the amount in millionths.
func (u USD) Dollars() Dollars { return Of(float64(u)) }

// A Price is a price and the region that it is for.
type Price struct {
	Dollars
	Region string // Home if the price in the region is not known
	Unit   string // what it is for: Hour, or as in flat.txt
	Page   string // of AWS, where it stands; empty for instances
}

// Hour is the unit of prices of instances.
const Hour = "hour"

// Monthly is what n pieces cost a month.
func (p Price) Monthly(n float64) Dollars {
	if p.Unit == Hour {
		n *= Hours
	}
	return p.Times(n)
}

// A Source is where prices are from.
type Source struct {
	Module  string // of Go
	Version string
	Sum     string // the checksum of the module, as in go.sum
	Date    string // of the newest prices
	For     string // which prices
}

// table is the table of instances as it is used.
type table struct {
	sources []Source
	regions []string
	lines   map[string]string // by key
	err     error
}

var instances = sync.OnceValue(func() table {
	text, err := unpack(compressed)
	if err != nil {
		return table{err: err}
	}
	return parse(text)
})

func unpack(packed []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("table of prices: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("table of prices: %w", err)
	}
	return string(text), nil
}

// parse reads the text of the table.
func parse(text string) table {
	t := table{lines: make(map[string]string)}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.SplitN(line, " ", 6)
		switch {
		case words[0] == "source" && len(words) == 6:
			t.sources = append(t.sources, Source{words[1], words[2], words[3], words[4], words[5]})
		case words[0] == "regions":
			t.regions = strings.Fields(line)[1:]
		default:
			i := strings.LastIndexByte(line, ' ')
			if i < 0 {
				t.err = fmt.Errorf("table of prices: the line %q has no prices", line)
				return t
			}
			t.lines[line[:i]] = line[i+1:]
		}
	}
	return t
}

// price is the price of a key in a region of the table.
func (t table) price(key, region string) (Dollars, bool) {
	line, i := t.lines[key], slices.Index(t.regions, region)
	if line == "" || i < 0 {
		return 0, false
	}
	cell := strings.Split(line, ",")[i]
	n, err := strconv.ParseFloat(cell, 64)
	return Of(n), err == nil
}

// Err says why the table of instances cannot be read; nil if it can.
func Err() error { return instances().err }

// Sources lists where the prices of instances are from.
func Sources() []Source { return slices.Clone(instances().sources) }

// The services whose instances have prices.
const (
	EC2         = "ec2"
	RDS         = "rds"
	ElastiCache = "elasticache"
	OpenSearch  = "opensearch"
)

// Instance returns the price of an hour of an instance of a service in a region. The kind is the operating system of EC2 (linux,
// rhel, windows), the engine of RDS in the words of its API, with +license if the license is included, the engine of
// ElastiCache, and empty for OpenSearch. Where the region has no price, it is that of Home. It reports false if that is not known
// either, and for regions in China, which have other currencies.
func Instance(service, kind, name, region string) (Price, bool) {
	if !usable(region) {
		return Price{}, false
	}
	key := strings.Join(strings.Fields(service+" "+kind+" "+name), " ")
	for _, at := range []string{region, Home} {
		if d, ok := instances().price(key, at); ok {
			return Price{Dollars: d, Region: at, Unit: Hour}, true
		}
	}
	return Price{}, false
}

// region is a region as its code is written.
var region = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)

// usable reports whether the prices in a region are in US dollars.
func usable(code string) bool { return region.MatchString(code) && !strings.HasPrefix(code, "cn-") }

var flatPrices = sync.OnceValue(func() map[string]Price {
	all := make(map[string]Price)
	page := ""
	for line := range strings.Lines(flat) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "page":
			page = words[1]
		default:
			n, err := strconv.ParseFloat(words[1], 64)
			if err != nil || len(words) < 3 {
				continue // a test refuses it
			}
			all[words[0]] = Price{Of(n), Home, strings.Join(words[2:], " "), page}
		}
	}
	return all
})

// Flat returns the price of a name in flat.txt, for a region: that of Home, because no others are known. It reports false if there is no
// such name, and for regions in China.
func Flat(name, region string) (Price, bool) {
	p, ok := flatPrices()[name]
	return p, ok && usable(region)
}
