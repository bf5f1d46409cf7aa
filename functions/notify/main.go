// Command notify is the function that delivers events of runs to web servers and chats, and writes reports of runs.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main((*wire.App).Notify) }
