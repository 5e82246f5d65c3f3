package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Kinds and states of spans, as OTLP numbers them.
const (
	kindServer   = 2
	kindClient   = 3
	kindProducer = 4
	kindConsumer = 5
	statusError  = 2

	spansKept   = 4096
	spansAtOnce = 512
)

// Span is one span in OTLP's JSON form (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
type Span struct {
	TraceID  string     `json:"traceId"`
	SpanID   string     `json:"spanId"`
	ParentID string     `json:"parentSpanId,omitempty"`
	Name     string     `json:"name"`
	Kind     int        `json:"kind"`
	Start    string     `json:"startTimeUnixNano"`
	End      string     `json:"endTimeUnixNano"`
	Status   spanStatus `json:"status"`
}

type spanStatus struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Tracer sends spans to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names. What does not fit is dropped: a program
// never waits for its telemetry.
type Tracer struct {
	service string
	address string
	spans   chan Span
	client  *http.Client
}

func newTracer(ctx context.Context, service string) *Tracer {
	t := &Tracer{
		service: service,
		address: os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
		spans:   make(chan Span, spansKept),
		client:  &http.Client{Timeout: 5 * time.Second},
	}
	go t.run(ctx)
	return t
}

type spanKey struct{}

// start begins a span below that of the context, and returns a context of its own and what ends it.
func (t *Tracer) start(ctx context.Context, name string, kind int) (context.Context, func(error)) {
	parent, _ := ctx.Value(spanKey{}).(Span)
	span := Span{TraceID: parent.TraceID, ParentID: parent.SpanID, SpanID: random(8), Name: name, Kind: kind}
	if span.TraceID == "" {
		span.TraceID = random(16)
	}
	began := time.Now()
	return context.WithValue(ctx, spanKey{}, span), func(err error) {
		span.Start, span.End = nanoseconds(began), nanoseconds(time.Now())
		if err != nil {
			span.Status = spanStatus{Code: statusError, Message: err.Error()}
		}
		select {
		case t.spans <- span:
		default:
		}
	}
}

// extract continues the trace that a request brings (https://www.w3.org/TR/trace-context/).
func extract(request *http.Request) context.Context {
	given := request.Header.Get("traceparent")
	if len(given) != 55 {
		return request.Context()
	}
	return context.WithValue(request.Context(), spanKey{}, Span{TraceID: given[3:35], SpanID: given[36:52]})
}

// inject passes the trace of the context on.
func inject(ctx context.Context, request *http.Request) {
	if span, ok := ctx.Value(spanKey{}).(Span); ok {
		request.Header.Set("traceparent", "00-"+span.TraceID+"-"+span.SpanID+"-01")
	}
}

func (t *Tracer) run(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var batch []Span
	for {
		select {
		case <-ctx.Done():
			return
		case span := <-t.spans:
			if batch = append(batch, span); len(batch) < spansAtOnce {
				continue
			}
		case <-ticker.C:
		}
		if len(batch) > 0 && t.address != "" {
			t.send(batch)
		}
		batch = batch[:0]
	}
}

func (t *Tracer) send(spans []Span) {
	type object = map[string]any
	name := object{"key": "service.name", "value": object{"stringValue": t.service}}
	body, err := json.Marshal(object{"resourceSpans": []any{object{
		"resource":   object{"attributes": []any{name}},
		"scopeSpans": []any{object{"spans": spans}},
	}}})
	if err != nil {
		log.Printf("spans cannot be encoded: %v", err)
		return
	}
	answer, err := t.client.Post(t.address+"/v1/traces", "application/json", bytes.NewReader(body))
	if err != nil {
		log.Printf("spans are lost: %v", err)
		return
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	if answer.StatusCode != http.StatusOK {
		log.Printf("spans are lost: the collector answers %s", answer.Status)
	}
}

func random(size int) string {
	data := make([]byte, size)
	_, _ = rand.Read(data)
	return hex.EncodeToString(data)
}

func nanoseconds(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }
