package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	beltLength = 10_000
	pollTime   = 5 * time.Second
	retryTime  = time.Second
)

// runBelt is a queue in memory. A client says "PUT text" and reads "OK" or "FULL", or it says "TAKE" and reads the next
// text, or an empty line if there was none for a while.
func runBelt(ctx context.Context) error {
	belt := make(chan string, beltLength)
	return listen(ctx, "5672", func(reader *bufio.Reader, out io.Writer) error {
		line, err := reader.ReadString('\n')
		if err != nil || len(line) > wordLength {
			return io.ErrUnexpectedEOF
		}
		word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "PUT":
			said := "OK"
			select {
			case belt <- text:
			default:
				said = "FULL"
			}
			_, err = fmt.Fprintln(out, said)
		case "TAKE":
			said := ""
			select {
			case said = <-belt:
			case <-time.After(pollTime):
			}
			if _, err = fmt.Fprintln(out, said); err != nil && said != "" {
				select {
				case belt <- said: // Nobody took it.
				default:
				}
			}
		default:
			_, err = fmt.Fprintln(out, "WHAT")
		}
		return err
	})
}

type beltClient struct{ pool *pool }

func newBeltClient(address string) *beltClient { return &beltClient{newPool(address)} }

func (c *beltClient) publish(text string) error {
	said, err := c.pool.exchange("PUT "+text+"\n", func(reader *bufio.Reader) (string, error) {
		return reader.ReadString('\n')
	})
	if err == nil && strings.TrimSpace(said) != "OK" {
		return fmt.Errorf("the belt says %s", strings.TrimSpace(said))
	}
	return err
}

// runSorter takes from the belt over one connection, which it opens again where it was lost.
func runSorter(ctx context.Context) error {
	beltAddress, err := require("BELT_ADDR")
	if err != nil {
		return err
	}
	ledgerAddress, err := require("LEDGER_ADDR")
	if err != nil {
		return err
	}
	tracer, ledger := newTracer(ctx, "sorter"), newLedgerClient(ledgerAddress)
	go func() {
		for ctx.Err() == nil {
			if err := takeAll(ctx, beltAddress, tracer, ledger); err != nil {
				log.Printf("belt: %v", err)
				time.Sleep(retryTime)
			}
		}
	}()
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthy)
	return serve(ctx, "9000", mux)
}

func takeAll(ctx context.Context, address string, tracer *Tracer, ledger *ledgerClient) error {
	open, err := net.DialTimeout("tcp", address, callTimeout)
	if err != nil {
		return err
	}
	defer open.Close()
	reader := bufio.NewReader(open)
	for ctx.Err() == nil {
		_ = open.SetDeadline(time.Now().Add(pollTime + callTimeout))
		if _, err := io.WriteString(open, "TAKE\n"); err != nil {
			return err
		}
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		id := strings.TrimSpace(line)
		if id == "" {
			continue
		}
		sorted, end := tracer.start(ctx, "parcels process", kindConsumer)
		err = within(sorted, tracer, "SET", kindClient, func() error { return ledger.set(id, "sorted") })
		end(err)
		if err != nil {
			log.Printf("parcel %s: %v", id, err)
		}
	}
	return nil
}
