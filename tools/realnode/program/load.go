package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"
)

const (
	usersAtMost = 500
	parcels     = 1000
	userTimeout = 10 * time.Second
)

// runLoad is so many users. Each waits between one and three seconds, registers a parcel, and looks two up.
func runLoad(ctx context.Context) error {
	target, err := require("TARGET_URL")
	if err != nil {
		return err
	}
	users, err := strconv.Atoi(os.Getenv("USERS"))
	if err != nil || users < 0 || users > usersAtMost {
		return fmt.Errorf("USERS=%q: expected a number up to %d", os.Getenv("USERS"), usersAtMost)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = usersAtMost
	client := &http.Client{Timeout: userTimeout, Transport: transport}
	for range users {
		go func() {
			for ctx.Err() == nil {
				time.Sleep(time.Second + rand.N(2*time.Second))
				send(ctx, client, "POST", target)
				send(ctx, client, "GET", target)
				send(ctx, client, "GET", target)
			}
		}()
	}
	log.Printf("%d users of %s", users, target)
	<-ctx.Done()
	return nil
}

func send(ctx context.Context, client *http.Client, method, target string) {
	address := fmt.Sprintf("%s/parcels?id=%d", target, rand.IntN(parcels))
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		log.Printf("%s %s: %v", method, address, err)
		return
	}
	answer, err := client.Do(request)
	if err != nil {
		log.Printf("%s %s: %v", method, address, err)
		return
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode >= http.StatusInternalServerError {
		log.Printf("%s %s: %s", method, address, answer.Status)
	}
}
