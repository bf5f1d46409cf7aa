package price

import "testing"

// A charge is a count at a price. One that is not known makes the sum unknown, and not smaller.
func TestCharged(t *testing.T) {
	for text, want := range map[string]Dollars{
		Nothing:                             0,
		Charge(2, EC2, "linux", "m5.large"): Of(0.192),
		FlatCharge(0.5, "fargate-vcpu"):     Of(0.02024),
		JoinCharges(Charge(1, OpenSearch, "", "m5.large.search"), Charge(1, EC2, "linux", "m5.large")): Of(0.238),
		Database("postgres", "postgresql-license", "db.m5.large", true):                                Of(0.356),
		Database("aurora-mysql", "", "db.r6g.large", false):                                            Of(0.26),
	} {
		if got, ok := Charged(text, Home); !ok || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "2", "two ec2 linux m5.large", "-1 ec2 linux m5.large", "2 ec2 linux m9.huge", "1 flat kms-key", "1 flat nobody", JoinCharges(Charge(1, EC2, "linux", "m5.large"), ""),
		JoinCharges(Charge(1, EC2, "linux", "m5.large"), Charge(1, EC2, "linux", "m9.huge")),
		Database("oracle-se2", "", "db.m5.large", false), Database("sqlserver-se", "license-included", "db.m5.large", true), Database("aurora-mysql", "", "db.serverless", false), Database("mysql", "", "", false),
	} {
		if got, ok := Charged(text, Home); ok {
			t.Errorf("%q: %s", text, got)
		}
	}
	if _, ok := Charged(Charge(2, EC2, "linux", "m5.large"), "cn-north-1"); ok {
		t.Error("a price in China is known")
	}
	if got := PerHour(Of(0.0052)) + ", " + PerHour(Of(0.356)); got != "$0.0052 an hour, $0.36 an hour" {
		t.Error(got)
	}
}
