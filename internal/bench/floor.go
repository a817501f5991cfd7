package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// baselineServer is the baseline server: it does only the minimum work for a call in a page.
// For each call, baselineServer decodes the JSON request, sends text to a page and back, and
// encodes the JSON response. Unlike opentabs, baselineServer has no gates, timers, schemas
// or error reports. The routes of baselineServer:
//
//	POST /echo        returns the JSON of the request
//	POST /page/<way>  sends the JSON to the extension and back; for the ways, see floor/worker.js in e2e/bench
//	POST /notes       returns the notifications of the page, as server-sent events
//	GET  /ws          opens the WebSocket of the extension
//	GET  /connected   returns when the extension connected, in milliseconds since 1970, or 0
//	GET  /healthz     returns an empty response
type baselineServer struct {
	lastID chan int

	mu             sync.Mutex // the mutex guards ws, connectedAt, pendingAnswers and notifications
	ws             *websocket.Conn
	connectedAt    time.Time
	pendingAnswers map[int]chan []byte
	notifications  chan []byte
}

func newBaselineServer() http.Handler {
	f := &baselineServer{pendingAnswers: map[int]chan []byte{}, lastID: make(chan int, 1), notifications: make(chan []byte, 1000)}
	f.lastID <- 0
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		echoJSONText(w, r, func(messageBytes []byte) ([]byte, error) { return messageBytes, nil })
	})
	mux.HandleFunc("POST /page/{way}", func(w http.ResponseWriter, r *http.Request) {
		echoJSONText(w, r, func(messageBytes []byte) ([]byte, error) { return f.sendToExtension(r.PathValue("way"), messageBytes) })
	})
	mux.HandleFunc("POST /notes", f.serveNotifications)
	mux.HandleFunc("GET /ws", f.serveExtension)
	mux.HandleFunc("GET /connected", f.serveConnectionTime)
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

func echoJSONText(w http.ResponseWriter, r *http.Request, makeAnswer func([]byte) ([]byte, error)) {
	var v any
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	messageBytes, err := json.Marshal(v)
	if err == nil {
		messageBytes, err = makeAnswer(messageBytes)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(messageBytes)
}

func (f *baselineServer) sendToExtension(route string, messageBytes []byte) ([]byte, error) {
	id := <-f.lastID + 1
	f.lastID <- id
	responses := make(chan []byte, 1)
	f.mu.Lock()
	ws := f.ws
	f.pendingAnswers[id] = responses
	f.mu.Unlock()
	if ws == nil {
		return nil, errors.New("the extension is not connected")
	}
	frame := append(strconv.AppendInt([]byte(route), int64(id), 10), ' ')
	if err := ws.Write(context.Background(), websocket.MessageText, append(frame, messageBytes...)); err != nil {
		return nil, err
	}
	select {
	case messageBytes := <-responses:
		return messageBytes, nil
	case <-time.After(30 * time.Second):
		return nil, errors.New("the page did not answer for 30 s")
	}
}

// serveExtension reads the messages that the extension sends over its WebSocket. A
// message "<route><id> <text>" responds to the request with the number id, and "n<text>"
// is a notification from the page.
func (f *baselineServer) serveExtension(w http.ResponseWriter, r *http.Request) {
	// The baseline server accepts WebSockets from any origin, because it has no secrets.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ws.SetReadLimit(64 << 20)
	f.mu.Lock()
	f.ws, f.connectedAt = ws, time.Now()
	f.mu.Unlock()
	for {
		_, messageBytes, err := ws.Read(context.Background())
		if err != nil {
			return
		}
		if notification, ok := bytes.CutPrefix(messageBytes, []byte("n")); ok {
			select {
			case f.notifications <- notification:
			default:
			}
			continue
		}
		idText, answerText, _ := bytes.Cut(messageBytes, []byte(" "))
		id, err := strconv.Atoi(string(idText[min(1, len(idText)):]))
		if err != nil {
			continue // a keep-alive message has no ID
		}
		f.mu.Lock()
		responses := f.pendingAnswers[id]
		delete(f.pendingAnswers, id)
		f.mu.Unlock()
		if responses != nil {
			responses <- answerText
		}
	}
}

func (f *baselineServer) serveConnectionTime(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	connectedAt := f.connectedAt
	f.mu.Unlock()
	milliseconds := 0.0
	if !connectedAt.IsZero() {
		milliseconds = float64(connectedAt.UnixNano()) / 1e6
	}
	fmt.Fprintf(w, "%.3f", milliseconds)
}

func (f *baselineServer) serveNotifications(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var want struct {
		Params struct {
			Arguments struct {
				Count int `json:"count"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &want); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	controller := http.NewResponseController(w)
	go func() { _, _ = f.sendToExtension("n", body) }()
	for range want.Params.Arguments.Count {
		select {
		case notification := <-f.notifications:
			fmt.Fprintf(w, "data: {\"params\":{\"message\":%q}}\n\n", notification)
			_ = controller.Flush()
		case <-r.Context().Done():
			return
		case <-time.After(30 * time.Second):
			return
		}
	}
	fmt.Fprint(w, "data: {}\n\n")
}
