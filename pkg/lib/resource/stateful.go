package resource

import (
	"strings"
	"sync"
)

// stateful lists the types whose resources hold data that is lost when the resource is
// deleted, each with what is lost. It is made by hand. All types that AWS's specification
// for the CDK calls stateful are in it, but nested stacks, which other templates describe.
const stateful = `
AWS::ACMPCA::CertificateAuthority            a certificate authority
AWS::APS::Workspace                          metrics
AWS::AmazonMQ::Broker                        messages
AWS::ApiGateway::ApiKey                      a key that clients use
AWS::AppSync::ApiKey                         a key that clients use
AWS::AuditManager::Assessment                evidence
AWS::Backup::BackupVault                     backups
AWS::Backup::LogicallyAirGappedBackupVault   backups
AWS::BedrockAgentCore::Dataset               data
AWS::BedrockAgentCore::Memory                what agents remember
AWS::Cases::Domain                           cases
AWS::Cassandra::Keyspace                     a database
AWS::Cassandra::Table                        a table
AWS::Chime::AppInstance                      messages
AWS::Cloud9::EnvironmentEC2                  the files of a user
AWS::CloudFront::KeyValueStore               keys and values
AWS::CloudHSM::Cluster                       keys: what they have encrypted can no longer be read
AWS::CloudTrail::EventDataStore              recorded events
AWS::CodeArtifact::Domain                    packages
AWS::CodeArtifact::Repository                packages
AWS::CodeCommit::Repository                  source code
AWS::CodeStar::GitHubRepository              source code
AWS::Cognito::IdentityPool                   the identities of users
AWS::Cognito::UserPool                       the accounts of users
AWS::Cognito::UserPoolUser                   the account of a user
AWS::Connect::DataTable                      a table
AWS::Connect::Instance                       contacts and recordings
AWS::CustomerProfiles::Domain                profiles
AWS::DAX::Cluster                            a cache
AWS::DMS::ReplicationInstance                the state of replications
AWS::DSQL::Cluster                           a database
AWS::DataZone::Domain                        a catalogue
AWS::Detective::Graph                        a graph of behaviour
AWS::DirectoryService::MicrosoftAD           a directory
AWS::DirectoryService::SimpleAD              a directory
AWS::DocDB::DBCluster                        a database
AWS::DocDB::DBInstance                       an instance of a database
AWS::DocDB::GlobalCluster                    a database
AWS::DocDBElastic::Cluster                   a database
AWS::DocDBElastic::ClusterSnapshot           a snapshot
AWS::DynamoDB::Backup                        a backup
AWS::DynamoDB::GlobalTable                   a table
AWS::DynamoDB::Table                         a table
AWS::EC2::EIP                                a public address, which others may know
AWS::EC2::Instance                           the data on its disks
AWS::EC2::Volume                             a disk
AWS::ECR::PublicRepository                   images
AWS::ECR::Repository                         images
AWS::EFS::FileSystem                         a file system
AWS::EKS::Cluster                            the state of a Kubernetes cluster
AWS::EMR::Cluster                            the data on its disks
AWS::EMR::WALWorkspace                       write-ahead logs
AWS::ElastiCache::CacheCluster               the data in memory
AWS::ElastiCache::GlobalReplicationGroup     the data in memory
AWS::ElastiCache::ReplicationGroup           the data in memory
AWS::ElastiCache::ServerlessCache            the data in memory
AWS::ElastiCache::Snapshot                   a snapshot
AWS::Elasticsearch::Domain                   indexes
AWS::EventSchemas::Registry                  schemas
AWS::Events::Archive                         archived events
AWS::FSx::Backup                             a backup
AWS::FSx::FileCache                          a cache
AWS::FSx::FileSystem                         a file system
AWS::FSx::Snapshot                           a snapshot
AWS::FSx::StorageVirtualMachine              volumes
AWS::FSx::Volume                             a volume
AWS::FinSpace::Environment                   data
AWS::Forecast::Dataset                       data
AWS::GameLift::GameSessionQueue              waiting players
AWS::Glue::Database                          the catalogue of a database
AWS::Glue::Registry                          schemas
AWS::Glue::Schema                            versions of a schema
AWS::Glue::Table                             the catalogue of a table
AWS::Grafana::Workspace                      dashboards
AWS::HealthImaging::Datastore                medical images
AWS::HealthLake::FHIRDatastore               health records
AWS::IAM::AccessKey                          a key that clients use
AWS::IAM::User                               keys and the password of a user
AWS::ImageBuilder::Image                     an image
AWS::IoTAnalytics::Channel                   messages
AWS::IoTAnalytics::Dataset                   data
AWS::IoTAnalytics::Datastore                 data
AWS::IoTSiteWise::Asset                      measurements
AWS::IoTTwinMaker::Workspace                 entities
AWS::KMS::Key                                a key: what it has encrypted can no longer be read
AWS::KMS::ReplicaKey                         a replica of a key
AWS::Kendra::Index                           an index
AWS::Kinesis::Stream                         records
AWS::KinesisAnalyticsV2::Application         the state and the snapshots of an application
AWS::KinesisFirehose::DeliveryStream         records that are not delivered yet
AWS::KinesisVideo::Stream                    recordings
AWS::Lightsail::Bucket                       objects
AWS::Lightsail::Database                     a database
AWS::Lightsail::Disk                         a disk
AWS::Lightsail::Instance                     the data on its disk
AWS::Location::GeofenceCollection            geofences
AWS::Location::Tracker                       positions
AWS::Logs::LogGroup                          logs
AWS::Logs::LogStream                         logs
AWS::MSK::Cluster                            topics and their messages
AWS::MSK::ServerlessCluster                  topics and their messages
AWS::MSK::Topic                              messages
AWS::MWAA::Environment                       the history of workflows
AWS::MediaStore::Container                   objects
AWS::MemoryDB::Cluster                       a database
AWS::MemoryDB::MultiRegionCluster            a database
AWS::MemoryDB::Snapshot                      a snapshot
AWS::Neptune::DBCluster                      a database
AWS::Neptune::DBInstance                     an instance of a database
AWS::Neptune::GlobalCluster                  a database
AWS::NeptuneGraph::Graph                     a database
AWS::NeptuneGraph::GraphSnapshot             a snapshot
AWS::ODB::CloudAutonomousVmCluster           databases
AWS::ODB::CloudVmCluster                     databases
AWS::Omics::AnnotationStore                  annotations
AWS::Omics::ReferenceStore                   reference genomes
AWS::Omics::SequenceStore                    sequences
AWS::Omics::VariantStore                     variants
AWS::OpenSearchServerless::Collection        indexes
AWS::OpenSearchServerless::CollectionIndex   an index
AWS::OpenSearchServerless::Index             an index
AWS::OpenSearchService::Domain               indexes
AWS::OpsWorks::Volume                        a disk
AWS::OpsWorksCM::Server                      the data of a server
AWS::Organizations::Account                  an account with all that is in it
AWS::PaymentCryptography::Key                a key: what it has encrypted can no longer be read
AWS::Personalize::Dataset                    data
AWS::Pinpoint::App                           endpoints and campaigns
AWS::QBusiness::Application                  conversations
AWS::QBusiness::Index                        an index
AWS::QLDB::Ledger                            a ledger
AWS::QuickSight::DataSet                     imported data
AWS::RDS::ClusterSnapshot                    a snapshot
AWS::RDS::DBCluster                          a database
AWS::RDS::DBInstance                         a database
AWS::RDS::DBSnapshot                         a snapshot
AWS::RDS::GlobalCluster                      a database
AWS::Redshift::Cluster                       a database
AWS::Redshift::Snapshot                      a snapshot
AWS::RedshiftServerless::Namespace           a database
AWS::RedshiftServerless::Snapshot            a snapshot
AWS::Rekognition::Collection                 faces
AWS::Rekognition::Dataset                    images
AWS::Route53::HostedZone                     the name servers of a domain
AWS::S3::Bucket                              objects
AWS::S3Express::DirectoryBucket              objects
AWS::S3Files::FileSystem                     a file system
AWS::S3Outposts::Bucket                      objects
AWS::S3Tables::Table                         a table
AWS::S3Tables::TableBucket                   tables
AWS::S3Vectors::Index                        vectors
AWS::S3Vectors::VectorBucket                 vectors
AWS::SCN::Dataset                            data
AWS::SCN::Instance                           data
AWS::SDB::Domain                             a database
AWS::SES::MailManagerArchive                 archived messages
AWS::SQS::Queue                              messages
AWS::SSM::Parameter                          a value and its history
AWS::SSMIncidents::ReplicationSet            incidents
AWS::SageMaker::Cluster                      the data on its disks
AWS::SageMaker::Domain                       the files of users
AWS::SageMaker::FeatureGroup                 features
AWS::SageMaker::MlflowApp                    experiments
AWS::SageMaker::MlflowTrackingServer         experiments
AWS::SageMaker::ModelPackageGroup            models
AWS::SageMaker::NotebookInstance             the files on its disk
AWS::SageMaker::Space                        the files of a user
AWS::SageMaker::UserProfile                  the files of a user
AWS::SecretsManager::Secret                  a secret and its versions
AWS::Serverless::SimpleTable                 a table
AWS::StorageGateway::Tape                    a tape
AWS::StorageGateway::Volume                  a disk
AWS::Timestream::Database                    a database
AWS::Timestream::InfluxDBBackup              a backup
AWS::Timestream::InfluxDBCluster             a database
AWS::Timestream::InfluxDBInstance            a database
AWS::Timestream::Table                       a table
AWS::VerifiedPermissions::PolicyStore        policies
AWS::VoiceID::Domain                         voice prints
AWS::Wisdom::KnowledgeBase                   content
AWS::WorkSpaces::Workspace                   the disks of a user
AWS::WorkspacesInstances::Volume             a disk
AWS::WorkspacesInstances::WorkspaceInstance  the data on its disks
`

// Stateful returns what is lost when a resource of the type is deleted, and whether it
// holds data at all.
func Stateful(typ string) (lost string, ok bool) {
	lost, ok = losses()[typ]
	return lost, ok
}

var losses = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(stateful) {
		if typ, lost, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[typ] = strings.TrimSpace(lost)
		}
	}
	return all
})
