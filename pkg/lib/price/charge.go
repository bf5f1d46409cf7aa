package price

import (
	"fmt"
	"strconv"
	"strings"
)

// Nothing is the charge of what costs nothing by the hour.
const Nothing = "nothing"

// The service of charges at a price of Flat.
const flatService = "flat"

// Charge writes what n pieces are charged by the hour, at a price of Instance, for Charged: "2 ec2 linux m5.large". Several charges are joined by
// JoinCharges.
func Charge(n float64, service, kind, name string) string {
	return strings.Join(strings.Fields(strconv.FormatFloat(n, 'f', -1, 64)+" "+service+" "+kind+" "+name), " ")
}

// FlatCharge is Charge at a price of Flat, which must be one of an hour: "0.5 flat fargate-vcpu".
func FlatCharge(n float64, name string) string { return Charge(n, flatService, "", name) }

// JoinCharges joins charges; one that is empty makes all unknown.
func JoinCharges(all ...string) string {
	for _, one := range all {
		if one == "" {
			return ""
		}
	}
	return strings.Join(all, "; ")
}

// Charged is what charges cost an hour in a region. It reports false if a price is not known, and for an empty text.
func Charged(text, region string) (Dollars, bool) {
	if text == Nothing {
		return 0, true
	}
	var sum Dollars
	for one := range strings.SplitSeq(text, "; ") {
		words := strings.Fields(one)
		if len(words) < 3 || len(words) > 4 {
			return 0, false
		}
		n, err := strconv.ParseFloat(words[0], 64)
		if err != nil || n < 0 {
			return 0, false
		}
		kind, name := "", words[len(words)-1]
		if len(words) == 4 {
			kind = words[2]
		}
		p, ok := Instance(words[1], kind, name, region)
		if words[1] == flatService {
			p, ok = Flat(name, region)
		}
		if !ok || p.Unit != Hour {
			return 0, false
		}
		sum += p.Times(n)
	}
	return sum, true
}

// Engine is the kind of Instance for an engine of RDS with a license model, both as its API writes them; the license is empty if it is not
// given. It reports false if the table has no prices for it.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
func Engine(engine, license string) (kind string, known bool) {
	switch engine {
	case "mysql", "postgres", "mariadb", "aurora-mysql", "aurora-postgresql", "oracle-ee":
		return engine, true
	case "sqlserver-ee", "sqlserver-se", "sqlserver-ex", "sqlserver-web":
		return engine + "+license", license == "" || license == "license-included"
	case "oracle-se2":
		if license == "license-included" {
			return engine + "+license", true
		}
		return engine, license == "bring-your-own-license"
	}
	return "", false
}

// Database is the charge of a DB instance of RDS, and of its standby if it is in several Availability Zones; empty if its price is not known.
func Database(engine, license, class string, several bool) string {
	kind, known := Engine(engine, license)
	switch {
	case !known || class == "" || class == "db.serverless":
		return ""
	case several && strings.HasPrefix(engine, "sqlserver"):
		return ""
	case several:
		return Charge(2, RDS, kind, class)
	}
	return Charge(1, RDS, kind, class)
}

// PerHour writes an amount an hour, as people read it.
func PerHour(d Dollars) string {
	if d < 10_000 {
		return fmt.Sprintf("%s an hour", d.Exact())
	}
	return fmt.Sprintf("%s an hour", d)
}
