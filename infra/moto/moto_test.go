package moto

import "testing"

// The adapters and the command work with moto, but for what differs_test.go lists.
func TestMoto(t *testing.T) {
	s := start(t)
	for _, part := range []struct {
		name string
		test func(*server)
	}{
		{"calls", calls}, {"CloudFormation", cloudLaws}, {"suspend and resume", suspends}, {"processes of Auto Scaling groups", processes}, {"databases", databases}, {"backups", backups}, {"backups of tables", tableBackups}, {"backups of volumes", volumeBackups}, {"a project", lives},
	} {
		t.Run(part.name, func(t *testing.T) {
			one := *s
			one.T = t
			one.reset()
			part.test(&one)
		})
	}
}
