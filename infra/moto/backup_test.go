package moto

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
)

// The adapter backs up moto's databases: a snapshot gets its name, a repeated request is the same snapshot, and one that is deleted is gone. A DB instance of a cluster
// holds no data of its own.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
func backups(s *server) {
	client := sdkrds.NewFromConfig(s.config)
	_, err := client.CreateDBInstance(s.Context(), &sdkrds.CreateDBInstanceInput{
		DBInstanceIdentifier: aws.String("Saved"), Engine: aws.String("mysql"), DBInstanceClass: aws.String("db.t3.micro"), AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("admin"), MasterUserPassword: aws.String("password1"),
	})
	if err != nil {
		s.Fatal(err)
	}
	_, err = client.CreateDBCluster(s.Context(), &sdkrds.CreateDBClusterInput{DBClusterIdentifier: aws.String("saved-cluster"), Engine: aws.String("aurora-mysql"), MasterUsername: aws.String("admin"), MasterUserPassword: aws.String("password1")})
	if err != nil {
		s.Fatal(err)
	}
	clients := in[rds.BackupClient](client)
	for id, b := range map[string]backup.Backer{"Saved": rds.InstanceSnapshots(clients), "saved-cluster": rds.ClusterSnapshots(clients)} {
		seen, err := b.See(s.Context(), target, []string{id, "nobody"})
		if err != nil || len(seen) != 1 || seen[id].Unready != "" {
			s.Errorf("%s: seen %+v: %v", id, seen, err)
		}
		tags := map[string]string{"stackwright:project": "shop@prod", "stackwright:snapshot": "before"}
		arn, err := b.BackUp(s.Context(), target, id, "sw-shop-prod-before-1", tags)
		if err != nil || arn == "" {
			s.Errorf("%s: back up: %v", id, err)
			continue
		}
		if again, err := b.BackUp(s.Context(), target, id, "sw-shop-prod-before-1", tags); again != arn || err != nil {
			s.Errorf("%s: the same request makes %s instead of %s: %v", id, again, arn, err)
		}
		if made, err := b.Backup(s.Context(), target, arn); made.State != backup.Available || err != nil {
			s.Errorf("%s: the backup is %+v: %v", id, made, err)
		}
		for _, want := range []fault.Kind{"", fault.Missing} {
			if err := b.Delete(s.Context(), target, arn); want == "" && err != nil || want != "" && !fault.Is(err, want) {
				s.Errorf("%s: delete: %v, want %q", id, err, want)
			}
		}
		if _, err := b.Find(s.Context(), target, id, "sw-shop-prod-before-1"); !fault.Is(err, fault.Missing) {
			s.Errorf("%s: a deleted backup is found: %v", id, err)
		}
		if _, err := b.BackUp(s.Context(), target, "nobody", "sw-nobody", nil); !fault.Is(err, fault.Missing) {
			s.Errorf("%s: nobody is backed up: %v", id, err)
		}
	}
}
