package moto

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sdkec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"
	sdkredshift "github.com/aws/aws-sdk-go-v2/service/redshift"

	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
)

// The adapter backs up moto's databases: a snapshot gets its name, a repeated request is the same snapshot, and one that is deleted is gone. A DB instance of a cluster
// holds no data of its own.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
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
	warehouses := sdkredshift.NewFromConfig(s.config)
	_, err = warehouses.CreateCluster(s.Context(), &sdkredshift.CreateClusterInput{
		ClusterIdentifier: aws.String("saved-warehouse"), ClusterType: aws.String("single-node"), NodeType: aws.String("ra3.large"), DBName: aws.String("dev"), MasterUsername: aws.String("awsuser"), MasterUserPassword: aws.String("Password1"),
	})
	if err != nil {
		s.Fatal(err)
	}
	clients := in[rds.BackupClient](client)
	for id, b := range map[string]backup.Backer{
		"Saved": rds.InstanceSnapshots(clients), "saved-cluster": rds.ClusterSnapshots(clients), "saved-warehouse": redshift.NewSnapshots(in[redshift.BackupClient](warehouses)),
	} {
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

// tableBackups backs up a table of moto: names of backups are not unique, and a repeated request is the same backup all the same. One that another program has made is
// not deleted.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
func tableBackups(s *server) {
	client := sdkdynamodb.NewFromConfig(s.config)
	id := "saved"
	_, err := client.CreateTable(s.Context(), &sdkdynamodb.CreateTableInput{
		TableName: &id, BillingMode: dynamotypes.BillingModePayPerRequest,
		AttributeDefinitions: []dynamotypes.AttributeDefinition{{AttributeName: aws.String("k"), AttributeType: dynamotypes.ScalarAttributeTypeS}},
		KeySchema:            []dynamotypes.KeySchemaElement{{AttributeName: aws.String("k"), KeyType: dynamotypes.KeyTypeHash}},
	})
	if err != nil {
		s.Fatal(err)
	}
	b := dynamodb.NewBackups(in[dynamodb.BackupClient](client))
	if seen, err := b.See(s.Context(), target, []string{id, "nobody"}); err != nil || len(seen) != 1 || seen[id].Unready != "" {
		s.Errorf("seen %+v: %v", seen, err)
	}
	arn, err := b.BackUp(s.Context(), target, id, "sw-one", nil)
	again, same := b.BackUp(s.Context(), target, id, "sw-one", nil)
	other, another := b.BackUp(s.Context(), target, id, "sw-other", nil)
	if err := errors.Join(err, same, another); err != nil || arn == "" || again != arn || other == arn {
		s.Errorf("the backups are %s, %s and %s: %v", arn, again, other, err)
	}
	if made, err := b.Backup(s.Context(), target, arn); made.State != backup.Available || err != nil {
		s.Errorf("the backup is %+v: %v", made, err)
	}
	for _, want := range []fault.Kind{"", fault.Missing} {
		if err := b.Delete(s.Context(), target, arn); want == "" && err != nil || want != "" && !fault.Is(err, want) {
			s.Errorf("delete: %v, want %q", err, want)
		}
	}
	if _, err := b.Find(s.Context(), target, id, "sw-one"); !fault.Is(err, fault.Missing) {
		s.Errorf("a deleted backup is found: %v", err)
	}
	theirs, err := client.CreateBackup(s.Context(), &sdkdynamodb.CreateBackupInput{TableName: &id, BackupName: aws.String("nightly")})
	if err != nil {
		s.Fatal(err)
	}
	if err := b.Delete(s.Context(), target, *theirs.BackupDetails.BackupArn); !fault.Is(err, fault.Refused) {
		s.Errorf("a backup of another program: %v", err)
	}
	if _, err := b.BackUp(s.Context(), target, "nobody", "sw-nobody", nil); !fault.Is(err, fault.Missing) {
		s.Errorf("nobody is backed up: %v", err)
	}
}

// volumeBackups backs up a volume of moto: CreateSnapshot has no token, and a repeated request is the same snapshot all the same. One that another program has made, with the tags of
// the volume, is not deleted.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSnapshot.html
func volumeBackups(s *server) {
	client := sdkec2.NewFromConfig(s.config)
	made, err := client.CreateVolume(s.Context(), &sdkec2.CreateVolumeInput{AvailabilityZone: aws.String(region + "a"), Size: aws.Int32(1)})
	if err != nil {
		s.Fatal(err)
	}
	id := *made.VolumeId
	b := ec2.NewSnapshots(in[ec2.BackupClient](client))
	if seen, err := b.See(s.Context(), target, []string{id, "vol-0123456789abcdef0"}); err != nil || len(seen) != 1 || seen[id].Unready != "" {
		s.Errorf("seen %+v: %v", seen, err)
	}
	tags := map[string]string{"stackwright:project": "shop@prod"}
	arn, err := b.BackUp(s.Context(), target, id, "sw-one", tags)
	again, same := b.BackUp(s.Context(), target, id, "sw-one", tags)
	other, another := b.BackUp(s.Context(), target, id, "sw-other", tags)
	if err := errors.Join(err, same, another); err != nil || arn == "" || again != arn || other == arn {
		s.Errorf("the snapshots are %s, %s and %s: %v", arn, again, other, err)
	}
	if made, err := b.Backup(s.Context(), target, arn); made.State != backup.Available || err != nil {
		s.Errorf("the snapshot is %+v: %v", made, err)
	}
	for _, want := range []fault.Kind{"", fault.Missing} {
		if err := b.Delete(s.Context(), target, arn); want == "" && err != nil || want != "" && !fault.Is(err, want) {
			s.Errorf("delete: %v, want %q", err, want)
		}
	}
	if _, err := b.Find(s.Context(), target, id, "sw-one"); !fault.Is(err, fault.Missing) {
		s.Errorf("a deleted snapshot is found: %v", err)
	}
	theirs, err := client.CreateSnapshot(s.Context(), &sdkec2.CreateSnapshotInput{VolumeId: &id})
	if err != nil {
		s.Fatal(err)
	}
	if err := b.Delete(s.Context(), target, "arn:aws:ec2:"+region+"::snapshot/"+*theirs.SnapshotId); !fault.Is(err, fault.Refused) {
		s.Errorf("a snapshot of another program: %v", err)
	}
	if _, err := b.BackUp(s.Context(), target, "vol-0123456789abcdef0", "sw-nobody", nil); !fault.Is(err, fault.Missing) {
		s.Errorf("nobody is backed up: %v", err)
	}
}
