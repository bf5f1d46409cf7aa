package price

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/golden"
)

var fetch = flag.Bool("fetch", false, "make the table of instances from its sources, which the go command downloads, and compare it, or with -update write it")

// sources are the modules of Go that the table of instances is made from. They are data here: nothing imports them.
// ec2-instances-info has the data of instances.vantage.sh (public domain), and karpenter-provider-aws (Apache-2.0) prices that AWS's price list
// had for us-east-1.
var sources = []Source{
	{"github.com/cristim/ec2-instances-info", "v0.0.0-20250528091325-32acf84f42eb", "h1:exJ9FsMTbotSG5xgDHmFJE84gV3MZ4JRpR8nhbgJz/k=", "2025-05-28", "EC2, RDS, ElastiCache and OpenSearch in all regions"},
	{"github.com/aws/karpenter-provider-aws", "v1.15.2", "h1:RGw64PB2ROUHZIUhBqjO78l3zJ9YctnWeullrr4cxYI=", "2026-07-20", "Linux instances of EC2 in us-east-1 and us-gov-west-1"},
}

// maxTable is how many bytes the table may add to a program.
const maxTable = 300 << 10

// prices are the prices of the table that is made, by key and region.
type prices map[string]map[string]Dollars

// add adds a price of an hour, except for those of local zones, which the sources list as regions.
func (p prices) add(service, kind, name, at string, dollars float64) {
	if dollars <= 0 || !region.MatchString(at) {
		return
	}
	key := strings.Join(strings.Fields(service+" "+kind+" "+name), " ")
	if p[key] == nil {
		p[key] = make(map[string]Dollars)
	}
	p[key][at] = Of(dollars)
}

// text is the table.
func (p prices) text(from []Source) string {
	var b strings.Builder
	for _, s := range from {
		fmt.Fprintln(&b, "source", s.Module, s.Version, s.Sum, s.Date, s.For)
	}
	regions := make(map[string]bool)
	for _, at := range p {
		for r := range at {
			regions[r] = true
		}
	}
	all := slices.Sorted(maps.Keys(regions))
	fmt.Fprintln(&b, "regions", strings.Join(all, " "))
	for _, key := range slices.Sorted(maps.Keys(p)) {
		cells := make([]string, len(all))
		for i, r := range all {
			if d, ok := p[key][r]; ok {
				cells[i] = strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64)
			}
		}
		fmt.Fprintln(&b, key, strings.Join(cells, ","))
	}
	return b.String()
}

// number is a price in the sources: a number, a text, or null.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil {
		f = 0 // null, and N/A
	}
	*n = number(f)
	return nil
}

type offered struct {
	OnDemand number `json:"ondemand"`
}

// read unmarshals one file.
func read[T any](t *testing.T, text []byte) (all []struct {
	Name    string       `json:"instance_type"`
	Pricing map[string]T `json:"pricing"`
}) {
	t.Helper()
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// engines are the engines of RDS by the codes that its price list has for the operation CreateDBInstance. Names of engines in
// the source mix editions and licenses, so they are not used.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_DBInstanceBilling.html
var engines = map[string]string{
	"2": "mysql", "14": "postgres", "18": "mariadb", "16": "aurora-mysql", "21": "aurora-postgresql",
	"5": "oracle-ee", "19": "oracle-se2", "20": "oracle-se2+license",
	"10": "sqlserver-ex+license", "11": "sqlserver-web+license", "12": "sqlserver-se+license", "15": "sqlserver-ee+license",
}

// systems are the operating systems of EC2 as the source calls them.
var systems = map[string]string{"linux": "linux", "rhel": "rhel", "mswin": "windows"}

// caches are the engines of ElastiCache as the source calls them.
var caches = map[string]string{"Redis": "redis", "Memcached": "memcached", "Valkey": "valkey"}

// addFrom adds the prices in the files of ec2-instances-info.
func (p prices) addFrom(t *testing.T, file func(name string) []byte) {
	byKind := func(service, name string, kinds map[string]string) {
		for _, one := range read[map[string]json.RawMessage](t, file(name)) {
			for at, all := range one.Pricing {
				for kind, ours := range kinds {
					var o offered
					if all[kind] != nil && json.Unmarshal(all[kind], &o) == nil {
						p.add(service, ours, one.Name, at, float64(o.OnDemand))
					}
				}
			}
		}
	}
	byKind(EC2, "data/instances.json", systems)
	byKind(RDS, "data/rds-instances.json", engines)
	byKind(ElastiCache, "data/elasticache-instances.json", caches)
	for _, one := range read[offered](t, file("data/opensearch-instances.json")) {
		for at, o := range one.Pricing {
			p.add(OpenSearch, "", one.Name, at, float64(o.OnDemand))
		}
	}
}

var (
	regionLine = regexp.MustCompile(`(?m)^\t"([a-z0-9-]+)": \{$`)
	priceCell  = regexp.MustCompile(`"([a-z0-9.-]+)": ([0-9.]+),`)
)

// addGenerated adds the prices of Linux in a file of Go that karpenter-provider-aws has generated. They are newer.
func (p prices) addGenerated(t *testing.T, text string) {
	t.Helper()
	begins := regionLine.FindAllStringSubmatchIndex(text, -1)
	if len(begins) == 0 {
		t.Fatal("the file of karpenter-provider-aws has no region")
	}
	for i, at := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		for _, cell := range priceCell.FindAllStringSubmatch(text[at[1]:end], -1) {
			dollars, err := strconv.ParseFloat(cell[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			p.add(EC2, "linux", cell[1], text[at[2]:at[3]], dollars)
		}
	}
}

// downloaded returns the files of a module.
func downloaded(t *testing.T, s Source) func(name string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", s.Module+"@"+s.Version)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=", "GO111MODULE=on", "GOWORK=off")
	said, err := cmd.Output() // it also fails if the module needs a newer Go: the data does not
	var got struct{ Zip, Sum, Error string }
	if json.Unmarshal(said, &got) != nil || got.Zip == "" || got.Sum != s.Sum {
		t.Fatalf("%s %s: %v, %s", s.Module, s.Version, err, said)
	}
	r, err := zip.OpenReader(got.Zip)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return func(name string) []byte {
		f, err := r.Open(path.Join(s.Module+"@"+s.Version, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

// The table is made from pinned versions of its sources. make prices downloads them and writes it; with -fetch alone, it is compared.
func TestTableIsMadeFromSources(t *testing.T) {
	if !*fetch {
		t.Skip("needs -fetch: make prices gives it")
	}
	all := make(prices)
	all.addFrom(t, downloaded(t, sources[0]))
	generated := downloaded(t, sources[1])
	for _, partition := range []string{"aws", "aws_us_gov"} {
		all.addGenerated(t, string(generated("pkg/providers/pricing/zz_generated.pricing_"+partition+".go")))
	}
	made := all.text(sources)
	if !golden.Updating() {
		if kept, err := unpack(compressed); err != nil || kept != made {
			t.Errorf("instances.gz is not what its sources say: run make prices (%v)", err)
		}
		return
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, made); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("instances.gz", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d keys, %d bytes, %d compressed: now run go test ./pkg/lib/price -update", len(all), len(made), b.Len())
}

// The generator takes the prices on demand of regions, and none of zones, reservations, or editions that it cannot tell apart. Newer prices
// replace older ones.
func TestGenerator(t *testing.T) {
	files := map[string]string{
		"data/instances.json": `[{"instance_type":"m5.large","pricing":{"us-east-1":{"linux":{"ondemand":"0.09","reserved":{"x":"0.01"}},"mswin":{"ondemand":"0.188"},"unknown":{"ondemand":null},"linuxSQL":{"ondemand":"0.5"}},
			"us-west-2-lax-1":{"linux":{"ondemand":"0.2"}},"us-east-1-wl1-atl1":{"linux":{"ondemand":"0.2"}},"eu-west-1":{"linux":{"ondemand":"N/A"}}}}]`,
		"data/rds-instances.json":         `[{"instance_type":"db.m5.large","pricing":{"us-east-1":{"2":{"ondemand":0.171},"Oracle":{"ondemand":9},"20":{"ondemand":0.438},"401":{"ondemand":7}}}}]`,
		"data/elasticache-instances.json": `[{"instance_type":"cache.t3.micro","pricing":{"eu-west-1":{"Redis":{"ondemand":0.018}}}}]`,
		"data/opensearch-instances.json":  `[{"instance_type":"m5.large.search","pricing":{"us-gov-west-1":{"ondemand":0.142}}}]`,
	}
	all := make(prices)
	all.addFrom(t, func(name string) []byte { return []byte(files[name]) })
	all.addGenerated(t, "var X = map[string]map[T]float64{\n\t\"us-east-1\": {\n\t\t// m5 family\n\t\t\"m5.large\": 0.096000, \"m5.xlarge\": 0.192000,\n\t},\n\t\"us-gov-west-1\": {\n\t\t\"m5.large\": 0.121000,\n\t},\n}\n")
	want := `source m v s d Linux and all
regions eu-west-1 us-east-1 us-gov-west-1
ec2 linux m5.large ,0.096,0.121
ec2 linux m5.xlarge ,0.192,
ec2 windows m5.large ,0.188,
elasticache redis cache.t3.micro 0.018,,
opensearch m5.large.search ,,0.142
rds mysql db.m5.large ,0.171,
rds oracle-se2+license db.m5.large ,0.438,
`
	got := all.text([]Source{{"m", "v", "s", "d", "Linux and all"}})
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	read := parse(got)
	if d, ok := read.price("ec2 linux m5.large", "us-gov-west-1"); !ok || d != Of(0.121) || read.err != nil || read.sources[0] != (Source{"m", "v", "s", "d", "Linux and all"}) {
		t.Errorf("it is read as %v, %v, %v", d, ok, read)
	}
	if _, ok := read.price("ec2 linux m5.large", "eu-west-1"); ok {
		t.Error("a price that is not there is known")
	}
}

// The table is what its sources had when it was made: its digest, how many prices it has, and some of them, are in testdata/summary.txt.
func TestTable(t *testing.T) {
	if len(compressed) > maxTable {
		t.Errorf("the table has %d bytes, at most %d are allowed", len(compressed), maxTable)
	}
	text, err := unpack(compressed)
	if err != nil {
		t.Fatal(err)
	}
	if err := Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(Sources(), sources) {
		t.Errorf("the table says that it is made from %v", Sources())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sha256 %x\n", sha256.Sum256([]byte(text)))
	all, counts := instances(), make(map[string]map[string]int)
	for key := range all.lines {
		service, _, _ := strings.Cut(key, " ")
		if counts[service] == nil {
			counts[service] = make(map[string]int)
		}
		for _, at := range all.regions {
			if d, ok := all.price(key, at); ok {
				counts[service][at]++
				if d <= 0 || d > Of(1000) {
					t.Errorf("%s costs %s an hour in %s", key, d, at)
				}
			}
		}
	}
	for _, service := range slices.Sorted(maps.Keys(counts)) {
		for _, at := range all.regions {
			fmt.Fprintf(&b, "%s in %s: %d\n", service, at, counts[service][at])
		}
	}
	for _, key := range []string{"ec2 linux t3.micro", "ec2 linux m5.large", "ec2 windows m5.large", "ec2 rhel m5.large", "ec2 linux m8g.large", "rds mysql db.t3.medium", "rds postgres db.m5.large",
		"rds aurora-postgresql db.r6g.large", "rds sqlserver-se+license db.m5.large", "elasticache redis cache.t3.micro", "elasticache valkey cache.r7g.large", "opensearch m5.large.search"} {
		for _, at := range []string{"us-east-1", "eu-central-1", "ap-southeast-2"} {
			d, ok := all.price(key, at)
			fmt.Fprintln(&b, key, at, d.Exact(), ok)
		}
	}
	golden.Same(t, "testdata/summary.txt", b.String())
}

// A price that is not known in a region is that of us-east-1, and says so. Regions with other currencies have none.
func TestRegions(t *testing.T) {
	for _, c := range []struct {
		kind, name, region string
		want               Price
		ok                 bool
	}{
		{"linux", "m5.large", "us-east-1", Price{Dollars: Of(0.096), Region: "us-east-1", Unit: Hour}, true},
		{"linux", "m5.large", "eu-central-1", Price{Dollars: Of(0.115), Region: "eu-central-1", Unit: Hour}, true},
		{"linux", "m5.large", "xx-nowhere-1", Price{Dollars: Of(0.096), Region: "us-east-1", Unit: Hour}, true},
		{"linux", "m5.large", "cn-north-1", Price{}, false},
		{"linux", "m5.large", "", Price{}, false},
		{"linux", "m5.enormous", "us-east-1", Price{}, false},
		{"amiga", "m5.large", "us-east-1", Price{}, false},
	} {
		if got, ok := Instance(EC2, c.kind, c.name, c.region); ok != c.ok || got != c.want {
			t.Errorf("%s %s in %s: %+v, %v", c.kind, c.name, c.region, got, ok)
		}
	}
	if p, ok := Flat("nat-gateway", "eu-west-1"); !ok || p.Region != Home || p.Dollars != Of(0.045) || p.Unit != Hour || !strings.Contains(p.Page, "vpc") {
		t.Errorf("a NAT gateway costs %+v, %v", p, ok)
	}
	if _, ok := Flat("nat-gateway", "cn-north-1"); ok {
		t.Error("a price in dollars is used in China")
	}
	if _, ok := Flat("nothing", "us-east-1"); ok {
		t.Error("nothing has a price")
	}
}

// Each line of the table of other prices is a name, a price above 0 and a unit, below the page that it is from.
func TestFlat(t *testing.T) {
	line := regexp.MustCompile(`^(# .*|page https://aws\.amazon\.com/\S+/|[a-z0-9.-]+ [0-9]+\.[0-9]+ (hour|month|GB-month|IOPS-month|MBps-month|metric-month))?$`)
	seen := make(map[string]bool)
	for l := range strings.Lines(flat) {
		l = strings.TrimSuffix(l, "\n")
		name, _, _ := strings.Cut(l, " ")
		if !line.MatchString(l) || seen[name] && name != "page" && name != "#" && name != "" {
			t.Errorf("flat.txt: %q", l)
		}
		seen[name] = true
	}
	for name, p := range flatPrices() {
		if p.Dollars <= 0 || p.Page == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// Amounts are exact to a millionth of a dollar, and written in cents.
func TestDollars(t *testing.T) {
	for d, want := range map[Dollars]string{
		Of(0): "$0.00", Of(0.0016): "$0.0016", Of(0.000065): "$0.000065", Of(0.045): "$0.05", Of(-0.0016): "-$0.0016", Of(0.1): "$0.10", Of(70.08): "$70.08", Of(1234567.891): "$1,234,567.89", Of(-32.85): "-$32.85", Of(0.995): "$1.00", Of(999.999): "$1,000.00",
	} {
		if d.String() != want {
			t.Errorf("%d is %s, want %s", d, d, want)
		}
	}
	if got := Of(0.04048).Exact() + " " + Of(13.04).Exact(); got != "$0.04048 $13.04" {
		t.Error(got)
	}
	text, err := json.Marshal(Of(32.85).USD())
	var back USD
	if err != nil || string(text) != "32.85" || json.Unmarshal(text, &back) != nil || back.Dollars() != Of(32.85) {
		t.Errorf("JSON: %s, %v, %v", text, back, err)
	}
	hour, month := Price{Dollars: Of(0.045), Unit: Hour}, Price{Dollars: Of(0.08), Unit: "GB-month"}
	if hour.Monthly(2) != Of(65.7) || month.Monthly(20) != Of(1.6) {
		t.Errorf("%s, %s", hour.Monthly(2), month.Monthly(20))
	}
}
