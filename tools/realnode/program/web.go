package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

const (
	callTimeout = 2 * time.Second
	// Who calls a program waits longer than that for its own callees.
	peerTimeout = 3 * time.Second
)

// serve answers HTTP until the context ends, and then what is under way.
func serve(ctx context.Context, port string, handler http.Handler) error {
	server := &http.Server{Addr: ":" + port, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		bounded, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(bounded)
	}()
	log.Printf("listening on %s", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// traced makes a handler of what may fail: a failure is told in the log, in the span, and to the caller.
func traced(t *Tracer, name string, work func(context.Context, *http.Request) error) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		ctx, end := t.start(extract(request), name, kindServer)
		err := work(ctx, request)
		end(err)
		if err != nil {
			log.Printf("%s: %v", name, err)
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(answer, "ok")
	}
}

// peer is another program that is called over HTTP.
type peer struct {
	base   string
	client *http.Client
	tracer *Tracer
}

func newPeer(base string, tracer *Tracer) *peer {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &peer{base: base, client: &http.Client{Timeout: peerTimeout, Transport: transport}, tracer: tracer}
}

func (p *peer) call(ctx context.Context, method, path string) (err error) {
	ctx, end := p.tracer.start(ctx, method, kindClient)
	defer func() { end(err) }()
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, nil)
	if err != nil {
		return err
	}
	inject(ctx, request)
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s%s answers %s", p.base, path, answer.Status)
	}
	return nil
}

func healthy(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, "ok") }

func runDesk(ctx context.Context) error {
	intakeURL, err := require("INTAKE_URL")
	if err != nil {
		return err
	}
	trackingURL, err := require("TRACKING_URL")
	if err != nil {
		return err
	}
	tracer := newTracer(ctx, "desk")
	intake, tracking := newPeer(intakeURL, tracer), newPeer(trackingURL, tracer)
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthy)
	mux.HandleFunc("POST /parcels", traced(tracer, "POST /parcels", func(ctx context.Context, r *http.Request) error {
		return intake.call(ctx, "POST", "/register?id="+parcel(r))
	}))
	mux.HandleFunc("GET /parcels", traced(tracer, "GET /parcels", func(ctx context.Context, r *http.Request) error {
		return tracking.call(ctx, "GET", "/find?id="+parcel(r))
	}))
	return serve(ctx, "8080", mux)
}

func runIntake(ctx context.Context) error {
	address, err := require("LEDGER_ADDR")
	if err != nil {
		return err
	}
	beltAddress, err := require("BELT_ADDR")
	if err != nil {
		return err
	}
	tracer := newTracer(ctx, "intake")
	ledger, belt := newLedgerClient(address), newBeltClient(beltAddress)
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthy)
	mux.HandleFunc("POST /register", traced(tracer, "POST /register", func(ctx context.Context, r *http.Request) error {
		id := parcel(r)
		if err := within(ctx, tracer, "SET", kindClient, func() error { return ledger.set(id, "registered") }); err != nil {
			return err
		}
		return within(ctx, tracer, "parcels publish", kindProducer, func() error { return belt.publish(id) })
	}))
	return serve(ctx, "9000", mux)
}

// trackingConfig is the file that tracking reads.
type trackingConfig struct {
	Ledger struct {
		Addr string `json:"addr"`
	} `json:"ledger"`
}

func runTracking(ctx context.Context) error {
	path := os.Getenv("CONFIG_FILE")
	if path == "" {
		path = "/conf/tracking.json"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var config trackingConfig
	if err := json.Unmarshal(data, &config); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if config.Ledger.Addr == "" {
		return fmt.Errorf("%s: ledger.addr is empty", path)
	}
	tracer := newTracer(ctx, "tracking")
	ledger := newLedgerClient(config.Ledger.Addr)
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthy)
	mux.HandleFunc("GET /find", traced(tracer, "GET /find", func(ctx context.Context, r *http.Request) error {
		return within(ctx, tracer, "GET", kindClient, func() error { return ledger.get(parcel(r)) })
	}))
	return serve(ctx, "9000", mux)
}

func within(ctx context.Context, t *Tracer, name string, kind int, work func() error) error {
	_, end := t.start(ctx, name, kind)
	err := work()
	end(err)
	return err
}

// parcel is the number of a parcel, of which there are only so many.
func parcel(r *http.Request) string {
	id := r.URL.Query().Get("id")
	if len(id) == 0 || len(id) > 8 {
		return "0"
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return "0"
		}
	}
	return id
}
