package httpapi

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// While the server is not running, any program of any user can listen on its port. To
// protect the token, a client sends it only to a server that has proved that it has the
// token. To request the proof, the client sends a random challenge, and the server
// returns an HMAC of the challenge, keyed with the token. The HMAC includes the port, so
// that a program on another port cannot relay the challenge to the real server.

// ErrPortTaken reports that the program on the port does not have the token. A client
// sends no token and no request to a program that does not have the token.
var ErrPortTaken = errors.New("the port is in use by another program or another opentabs installation")

// A challenge has minChallengeChars to maxChallengeChars characters: letters, digits, - and _.
const (
	minChallengeChars = 16
	maxChallengeChars = 128
)

func computeProof(token string, port int, challenge string) string {
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "opentabs server\n%d\n%s", port, challenge)
	return hex.EncodeToString(mac.Sum(nil))
}

func isValidChallenge(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return len(s) >= minChallengeChars && len(s) <= maxChallengeChars
}

// Without a token, dialAndCheckProof does not check the server.
func (c *Client) dialAndCheckProof(ctx context.Context, _, _ string) (conn net.Conn, err error) {
	err = retryAfterStall(ctx, c.now, func() error {
		conn, err = c.dialOnceAndCheckProof(ctx)
		return err
	})
	return conn, err
}

func (c *Client) dialOnceAndCheckProof(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	if c.token == "" {
		return conn, nil
	}
	if err := c.checkProof(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (c *Client) checkProof(ctx context.Context, conn net.Conn) error {
	deadline := time.Now().Add(healthTimeout)
	if limit, ok := ctx.Deadline(); ok && limit.Before(deadline) {
		deadline = limit
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return fmt.Errorf("send a request to the server: %w", err)
	}
	challenge := rand.Text()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL("/healthz?challenge="+challenge), nil)
	if err != nil {
		return fmt.Errorf("send a request to the server: %w", err)
	}
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("send a request to the server: %w", err)
	}
	reader := bufio.NewReaderSize(io.LimitReader(conn, 16<<10), 4<<10)
	resp, err := http.ReadResponse(reader, req)
	if err != nil {
		return explainReadError(err)
	}
	defer resp.Body.Close()
	var h Health
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return explainReadError(err)
	}
	want := computeProof(c.token, c.port, challenge)
	if json.Unmarshal(body, &h) != nil || !hmac.Equal([]byte(h.Proof), []byte(want)) {
		return ErrPortTaken
	}
	return conn.SetDeadline(time.Time{})
}

func explainReadError(err error) error {
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() {
		return ErrServerUnresponsive
	}
	if errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("send a request to the server: %w", err)
	}
	return ErrPortTaken
}
