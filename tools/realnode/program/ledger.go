package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	ledgerEntries = 100_000
	wordsAtMost   = 8
	wordLength    = 4096
	connections   = 8
)

// runLedger is a store in memory that speaks as much of RESP as its clients do
// (https://redis.io/docs/latest/develop/reference/protocol-spec/).
func runLedger(ctx context.Context) error {
	var lock sync.Mutex
	entries := map[string]string{}
	return listen(ctx, "6379", func(reader *bufio.Reader, out io.Writer) error {
		words, err := readCommand(reader)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		switch command := strings.ToUpper(words[0]); {
		case command == "PING":
			_, err = io.WriteString(out, "+PONG\r\n")
		case command == "SET" && len(words) == 3:
			if _, known := entries[words[1]]; !known && len(entries) >= ledgerEntries {
				_, err = io.WriteString(out, "-OOM the ledger is full\r\n")
				break
			}
			entries[words[1]] = words[2]
			_, err = io.WriteString(out, "+OK\r\n")
		case command == "GET" && len(words) == 2:
			if value, known := entries[words[1]]; known {
				_, err = fmt.Fprintf(out, "$%d\r\n%s\r\n", len(value), value)
			} else {
				_, err = io.WriteString(out, "$-1\r\n")
			}
		default:
			_, err = io.WriteString(out, "-ERR unknown command\r\n")
		}
		return err
	})
}

// listen serves connections, one round of “answer“ after another, until the context ends.
func listen(ctx context.Context, port string, answer func(*bufio.Reader, io.Writer) error) error {
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		listener.Close()
	}()
	log.Printf("listening on :%s", port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer connection.Close()
			reader := bufio.NewReader(connection)
			for answer(reader, connection) == nil {
			}
		}()
	}
}

func readCommand(reader *bufio.Reader) ([]string, error) {
	count, err := readSize(reader, '*', wordsAtMost)
	if err != nil || count < 1 {
		return nil, errors.Join(err, errors.New("no command"))
	}
	words := make([]string, count)
	for i := range words {
		size, err := readSize(reader, '$', wordLength)
		if err != nil {
			return nil, err
		}
		data := make([]byte, size+2)
		if _, err := io.ReadFull(reader, data); err != nil {
			return nil, err
		}
		words[i] = string(data[:size])
	}
	return words, nil
}

func readSize(reader *bufio.Reader, mark byte, most int) (int, error) {
	line, err := reader.ReadString('\n')
	if err != nil {
		return 0, err
	}
	size, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, string(mark))))
	if err != nil || line[0] != mark || size < 0 || size > most {
		return 0, fmt.Errorf("expected %c and a number of at most %d, observed %q", mark, most, line)
	}
	return size, nil
}

// ledgerClient keeps a few connections. One that failed is closed, and the next call dials anew.
type ledgerClient struct{ pool *pool }

func newLedgerClient(address string) *ledgerClient { return &ledgerClient{newPool(address)} }

func (c *ledgerClient) set(key, value string) error {
	_, err := c.ask(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(value), value))
	return err
}

func (c *ledgerClient) get(key string) error {
	_, err := c.ask(fmt.Sprintf("*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len(key), key))
	return err
}

func (c *ledgerClient) ask(command string) (string, error) {
	return c.pool.exchange(command, func(reader *bufio.Reader) (string, error) {
		line, err := reader.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-") {
			return "", errors.New(line[1:])
		}
		if strings.HasPrefix(line, "$") && line != "$-1" {
			return reader.ReadString('\n')
		}
		return line, nil
	})
}

// pool is a handful of connections to one address.
type pool struct {
	address string
	free    chan *connection
}

type connection struct {
	net.Conn
	reader *bufio.Reader
}

func newPool(address string) *pool { return &pool{address, make(chan *connection, connections)} }

func (p *pool) exchange(request string, read func(*bufio.Reader) (string, error)) (string, error) {
	open, err := p.take()
	if err != nil {
		return "", err
	}
	_ = open.SetDeadline(time.Now().Add(callTimeout))
	if _, err := io.WriteString(open, request); err != nil {
		open.Close()
		return "", err
	}
	answer, err := read(open.reader)
	if err != nil {
		open.Close()
		return "", err
	}
	select {
	case p.free <- open:
	default:
		open.Close()
	}
	return answer, nil
}

func (p *pool) take() (*connection, error) {
	select {
	case open := <-p.free:
		return open, nil
	default:
	}
	dialled, err := net.DialTimeout("tcp", p.address, callTimeout)
	if err != nil {
		return nil, err
	}
	return &connection{dialled, bufio.NewReader(dialled)}, nil
}
