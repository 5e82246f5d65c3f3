// Command parcels is every program of the app "parcels": its first argument says which one it is.
//
//	desk            the entry: registers parcels with intake, looks them up with tracking
//	intake          writes a parcel to the ledger, and puts it on the belt
//	tracking        reads a parcel from the ledger
//	ledger          a store in memory that speaks RESP (GET, SET, PING)
//	belt            a queue in memory, with a protocol of lines
//	sorter          takes parcels from the belt, and writes to the ledger where they are
//	load-generator  users who register and look up
//
// Everything that it keeps is bounded. It needs nothing but Go's standard library, so that it can be built where no
// image can be pulled.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.SetFlags(log.LstdFlags | log.LUTC)
	roles := map[string]func(context.Context) error{
		"desk":           runDesk,
		"intake":         runIntake,
		"tracking":       runTracking,
		"ledger":         runLedger,
		"belt":           runBelt,
		"sorter":         runSorter,
		"load-generator": runLoad,
		"pause":          runPause,
	}
	if len(os.Args) != 2 || roles[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s desk|intake|tracking|ledger|belt|sorter|load-generator|pause\n", os.Args[0])
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := roles[os.Args[1]](ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// runPause is what holds the namespaces of a pod: it waits until it is told to end.
func runPause(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// require reads a variable without which the program cannot run.
func require(name string) (string, error) {
	value := os.Getenv(name)
	if value == "" {
		return "", fmt.Errorf("required environment variable %s is not set", name)
	}
	return value, nil
}
