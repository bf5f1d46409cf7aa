// Command notify is the function that delivers events of runs to web servers.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main((*wire.App).Notify) }
