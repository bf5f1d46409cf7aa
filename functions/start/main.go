// Command start is the function that starts runs for uploads, requests and schedules, and restarts failed executions.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main((*wire.App).Start) }
