package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The most characters that the name of a backup may have, and those of them that make it unique. RDS lets the name of a snapshot of a cluster have 63 letters,
// digits and hyphens, of which the first is a letter, no two hyphens follow each other, and the last is none.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
const (
	mostBackupName = 63
	uniqueName     = 24
)

// BackupName is the name of the backup of a resource that a run makes. Nobody who does not know the key of the run knows it before. It is the same however
// often the step is started.
func BackupName(run, key, projectID, snapshot string, d Data) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(run + " " + d.Target.Where() + " " + d.String()))
	var words []string
	for _, word := range strings.FieldsFunc("sw-"+projectID+"-"+snapshot, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}) {
		words = append(words, strings.ToLower(word))
	}
	name := strings.Join(words, "-")
	name = strings.TrimSuffix(name[:min(len(name), mostBackupName-uniqueName-1)], "-")
	return name + "-" + hex.EncodeToString(mac.Sum(nil))[:uniqueName]
}
