package realtab

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const maxBodyBytes = 16 << 20

// Page is the document that a test opens.
type Page struct {
	// URL is the address of the page. The simulated site ignores the fragment of URL (the
	// part after "#").
	URL  string
	HTML string
	// The field Cookies contains the cookies that the site sets for the page, in the form
	// of document.cookie.
	Cookies string
}

// Request is an HTTP request that a page sent to the simulated site. The names of headers
// are in lower case.
type Request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	// The field IsFetchRequest is true if JavaScript code in the page made the request, for
	// example with fetch. The field IsFetchRequest is false if the page itself loads something,
	// such as an image.
	IsFetchRequest bool `json:"fetched"`
}

// Answer is the response that a test gives to an HTTP request of a page.
type Answer struct {
	// The field IsMissing is true if the test defines no response for the requested
	// address.
	IsMissing bool              `json:"missing"`
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"`
	Body      string            `json:"body"`
	// If IsBroken is true, the site closes the connection without a response.
	IsBroken bool `json:"broken"`
}

// Site simulates all websites, with http and https on one port of 127.0.0.1.
type Site struct {
	responder     func(context.Context, Request) (Answer, error)
	port          int
	listener      net.Listener
	server        *http.Server
	acceptedConns *siteListener
	connHandlers  sync.WaitGroup

	mu   sync.Mutex // the mutex guards the field page
	page Page
}

// Listen starts a server that simulates all websites. The function responder returns the
// response to each request that a page makes, except the request for the page itself. The
// server closes the connection without a response if responder returns an error, or if a page
// fetches an address for which responder has no response.
func Listen(responder func(context.Context, Request) (Answer, error)) (*Site, error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("create a certificate for the simulated sites: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("simulate the sites: %w", err)
	}
	s := &Site{responder: responder, listener: listener, acceptedConns: &siteListener{
		address: listener.Addr(), readyConns: make(chan net.Conn), closed: make(chan struct{}),
	}}
	if address, ok := listener.Addr().(*net.TCPAddr); ok {
		s.port = address.Port
	}
	s.server = &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	s.server.SetKeepAlivesEnabled(false) // a browser repeats a request if a reused connection breaks
	tlsConfig := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.connHandlers.Go(func() { s.acceptConns(tlsConfig) })
	s.connHandlers.Go(func() { _ = s.server.Serve(s.acceptedConns) })
	return s, nil
}

// Port returns the number of the port on 127.0.0.1 on which the simulated site listens.
func (s *Site) Port() int { return s.port }

// ShowPage makes the site serve the page p instead of its current page.
func (s *Site) ShowPage(p Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = p
}

// Close stops the server and closes all its connections.
func (s *Site) Close() {
	_ = s.listener.Close()
	_ = s.server.Close()
	s.connHandlers.Wait()
}

func (s *Site) acceptConns(tlsConfig *tls.Config) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			reader := bufio.NewReader(conn)
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			firstByte, err := reader.Peek(1)
			if err != nil {
				_ = conn.Close()
				return
			}
			_ = conn.SetReadDeadline(time.Time{})
			var siteConn net.Conn = &peekedConn{conn, reader}
			if firstByte[0] == 0x16 { // a TLS handshake begins with the byte 0x16
				siteConn = tls.Server(siteConn, tlsConfig)
			}
			s.acceptedConns.passConn(siteConn)
		}()
	}
}

// ServeHTTP responds to one HTTP request of a simulated page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	url := scheme + "://" + r.Host + r.URL.RequestURI()
	isDocument := r.Header.Get("Sec-Fetch-Dest") == "document"
	if r.Header.Get("Sec-Fetch-Dest") == "" { // http requests have no Sec-Fetch-Dest header
		isDocument = strings.Contains(r.Header.Get("Accept"), "text/html")
	}
	if isBrowserRequest(r) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	page := s.page
	s.mu.Unlock()
	if isDocument && r.Method == http.MethodGet && isSameDocument(url, page.URL) {
		page.write(w)
		return
	}
	allowAllOrigins(w.Header(), r)
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.serve(w, r, url, isDocument)
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request, url string, isDocument bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request := Request{Method: r.Method, URL: url, Headers: map[string]string{}, Body: string(body)}
	for name, valueNames := range r.Header {
		request.Headers[strings.ToLower(name)] = strings.Join(valueNames, ", ")
	}
	loadedResourceType := request.Headers["sec-fetch-dest"]
	request.IsFetchRequest = !isDocument && (loadedResourceType == "empty" || loadedResourceType == "" && r.URL.Path != "/favicon.ico")
	response, err := s.responder(r.Context(), request)
	switch {
	case err != nil, response.IsBroken, response.IsMissing && request.IsFetchRequest:
		panic(http.ErrAbortHandler) // net/http then closes the connection
	case response.IsMissing && isDocument:
		Page{}.write(w)
		return
	case response.IsMissing:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	for name, headerValue := range response.Headers {
		w.Header().Set(name, headerValue)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	w.WriteHeader(response.Status)
	_, _ = io.WriteString(w, response.Body)
}

func isBrowserRequest(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "none" && r.Header.Get("Sec-Fetch-Dest") == "empty"
}

func (p Page) write(w http.ResponseWriter) {
	for cookie := range strings.SplitSeq(p.Cookies, ";") {
		if cookie = strings.TrimSpace(cookie); cookie != "" {
			w.Header().Add("Set-Cookie", cookie+"; Path=/")
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	html := p.HTML
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(html)), "<!doctype") {
		html = "<!doctype html>" + html
	}
	_, _ = io.WriteString(w, html)
}

func allowAllOrigins(h http.Header, r *http.Request) {
	h.Set("Cache-Control", "no-store")
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	h.Set("Access-Control-Allow-Private-Network", "true")
}

func isSameDocument(url, page string) bool {
	page, _, _ = strings.Cut(page, "#")
	return url == page || url == page+"/"
}

// siteListener passes connections with and without TLS to one HTTP server.
type siteListener struct {
	address    net.Addr
	readyConns chan net.Conn
	once       sync.Once
	closed     chan struct{}
}

func (l *siteListener) passConn(conn net.Conn) {
	select {
	case l.readyConns <- conn:
	case <-l.closed:
		_ = conn.Close()
	}
}

// The method Accept implements [net.Listener].
func (l *siteListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.readyConns:
		return conn, nil
	case <-l.closed:
		return nil, errors.New("the site is closed")
	}
}

// The method Close implements [net.Listener].
func (l *siteListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// The method Addr implements [net.Listener].
func (l *siteListener) Addr() net.Addr { return l.address }

// peekedConn is a network connection whose first byte the listener has already read.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

// The method Read implements [net.Conn].
func (c *peekedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "opentabs plugin test"},
		DNSNames: []string{"localhost"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}, nil
}
