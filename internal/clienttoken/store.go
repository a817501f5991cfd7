// Package clienttoken keeps the tokens of MCP clients. Each client has its own token,
// which identifies the client and which the user can revoke. The token file has names,
// dates and SHA-256 sums; a token is shown once, when it is created, and never stored.
//
// Start with [Open]. A command adds and removes tokens; the server admits requests with
// [Store.Enter] and follows the token file with [Store.Watch].
//
// # Concurrency
//
// A [Store] is safe for concurrent use. Several processes may use one token file:
// changes happen under a lock file, and [Store.Watch] finds the changes of other
// processes.
package clienttoken

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/statefile"
)

// Placeholder replaces tokens in texts that the user sees.
const Placeholder = Prefix + "..."

// tokenPattern matches client tokens.
var tokenPattern = lazyregexp.New(regexp.QuoteMeta(Prefix) + `[A-Za-z0-9_-]+`)

// Mask replaces each client token in a text by [Placeholder].
func Mask(text string) string { return tokenPattern().ReplaceAllString(text, Placeholder) }

const (
	// Prefix is the prefix of each client token. It helps users and secret scanners to
	// recognize a token.
	Prefix = "otc_"
	// tokenBytes is the length of a token before it is encoded: 256 bits.
	tokenBytes = 32
	// shownTokenChars is the number of characters of a token that a list shows,
	// including the prefix.
	shownTokenChars = len(Prefix) + 4
	// maxClients limits the tokens, because each request is compared with all of them.
	maxClients = 256
	// lockTimeout is how long a change waits for the lock of another process.
	lockTimeout = 5 * time.Second
	// lastUsedPrecision is the resolution of the recorded last use of a token.
	lastUsedPrecision = time.Minute
	// WatchInterval is how often Watch checks the file.
	WatchInterval = time.Second
)

var (
	// ErrUnknown is the error for a name that no client has.
	ErrUnknown = errors.New("there is no client of this name")
	// errRevoked is the cancellation cause of requests whose token was removed.
	errRevoked = errors.New("the token of the client was removed")
)

// Client is one client that has a token.
type Client struct {
	Name string `json:"name"`
	// FirstChars is the beginning of the token, to distinguish tokens.
	FirstChars string    `json:"begins"`
	Created    time.Time `json:"created"`
	// LastUsed is zero for a token that was never used. LastUsed has a resolution of
	// one minute.
	LastUsed time.Time `json:"last_used,omitzero"`
}

// storedClient is the entry of a client in the file.
type storedClient struct {
	Client
	// TokenHash is the SHA-256 sum of the token, in hex.
	TokenHash string `json:"sha256"`
}

// tokenFile is the JSON form of the file of client tokens.
type tokenFile struct {
	Version int            `json:"version"`
	Clients []storedClient `json:"clients"`
}

// Store stores the tokens in one file.
type Store struct {
	path          string
	pendingWrites sync.WaitGroup // pending writes of last uses

	mu            sync.Mutex // guards all fields below
	clients       map[string]*activeClient
	readInfo      fs.FileInfo // the token file when it was read; nil without a file
	problem       error       // why the token file could not be read
	onRemoved     func(name string)
	lastRequestID int
}

// activeClient is a client whose token gives access to /mcp.
type activeClient struct {
	storedClient
	tokenHash [sha256.Size]byte
	requests  map[int]context.CancelCauseFunc // cancels each running request, by request ID
}

// Open returns the store in the file at path, which need not exist.
func Open(path string) *Store {
	s := &Store{path: path, clients: map[string]*activeClient{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	return s
}

// OnRemoved sets a function that is called, without a lock, for each client whose
// token was removed or replaced, after its requests were cancelled.
func (s *Store) OnRemoved(onRemoved func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRemoved = onRemoved
}

// namePattern matches valid names of clients.
var namePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Add creates and returns a token for a new client. The token is not stored and cannot
// be read again.
func (s *Store) Add(name string) (token string, err error) {
	if !namePattern().MatchString(name) {
		return "", fmt.Errorf("the name %q cannot be used: give 1 to 64 letters, digits, dots, - and _, beginning with a letter or a digit", name)
	}
	random := make([]byte, tokenBytes)
	if _, err := rand.Read(random); err != nil { // rand.Read never returns an error
		return "", fmt.Errorf("make a token: %w", err)
	}
	token = Prefix + base64.RawURLEncoding.EncodeToString(random)
	sum := sha256.Sum256([]byte(token))
	client := storedClient{Client: Client{Name: name, FirstChars: token[:shownTokenChars], Created: time.Now().UTC()}, TokenHash: hex.EncodeToString(sum[:])}
	return token, s.change(func(f *tokenFile) error {
		for _, c := range f.Clients {
			if strings.EqualFold(c.Name, name) {
				return fmt.Errorf("the client %s has a token already, and opentabs cannot show it again. Remove it with `opentabs client remove %[1]s`, or choose another name", c.Name)
			}
		}
		if len(f.Clients) >= maxClients {
			return fmt.Errorf("there are %d clients already: remove one with `opentabs client remove NAME`", maxClients)
		}
		f.Clients = append(f.Clients, client)
		return nil
	})
}

// Remove revokes the token of a client. Remove returns ErrUnknown if no client has the
// given name.
func (s *Store) Remove(name string) error {
	return s.change(func(f *tokenFile) error {
		i := slices.IndexFunc(f.Clients, func(c storedClient) bool { return c.Name == name })
		if i < 0 {
			return ErrUnknown
		}
		f.Clients = slices.Delete(f.Clients, i, i+1)
		return nil
	})
}

// List returns the clients by name.
func (s *Store) List() ([]Client, error) {
	if err := s.Reload(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clients := make([]Client, 0, len(s.clients))
	for _, c := range s.clients {
		clients = append(clients, c.Client)
	}
	slices.SortFunc(clients, func(a, b Client) int { return cmp.Compare(a.Name, b.Name) })
	return clients, nil
}

// NameOf returns the name of the client that has a token; empty if no client has the
// token.
func (s *Store) NameOf(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client := s.find(token); client != nil {
		return client.Name
	}
	return ""
}

// find returns the client that has a token, or nil. The caller of find must lock s.mu.
func (s *Store) find(token string) *activeClient {
	sum := sha256.Sum256([]byte(token))
	var client *activeClient
	for _, c := range s.clients { // compares the hash with all hashes, so that the time does not depend on the token
		if subtle.ConstantTimeCompare(sum[:], c.tokenHash[:]) == 1 {
			client = c
		}
	}
	return client
}

// Enter returns the name of the client that has a token, and a context that is cancelled
// with errRevoked when the token is removed. The caller must call the returned function
// endRequest at the end of the request. ok is false if no client has the token.
func (s *Store) Enter(ctx context.Context, token string) (name string, requestCtx context.Context, endRequest func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.find(token)
	if client == nil {
		return "", nil, nil, false
	}
	requestCtx, cancel := context.WithCancelCause(ctx)
	s.lastRequestID++
	id := s.lastRequestID
	client.requests[id] = cancel
	s.recordUse(client)
	return client.Name, requestCtx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(client.requests, id)
	}, true
}

// recordUse records that a token was used. The caller holds mu.
func (s *Store) recordUse(c *activeClient) {
	now := time.Now().UTC()
	if now.Sub(c.LastUsed) < lastUsedPrecision {
		return
	}
	c.LastUsed = now
	name, sum := c.Name, c.TokenHash
	s.pendingWrites.Go(func() {
		// If the token file cannot be written, only the date of the last use is lost.
		_ = s.change(func(f *tokenFile) error {
			for i := range f.Clients {
				if f.Clients[i].Name == name && f.Clients[i].TokenHash == sum {
					f.Clients[i].LastUsed = now
				}
			}
			return nil
		})
	})
}

// Reload reads the token file if it has changed. Reload cancels the requests of clients
// that were removed before it returns.
func (s *Store) Reload() error {
	s.mu.Lock()
	var removedClients []*activeClient
	if s.hasChanged() {
		removedClients = s.read()
	}
	problem := s.problem
	s.mu.Unlock()
	s.revoke(removedClients)
	return problem
}

// Watch reloads the token file when other processes change it, until ctx ends.
func (s *Store) Watch(ctx context.Context) {
	tick := time.NewTicker(WatchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.Reload() // the error is ignored here, because List returns it
		}
	}
}

// Close waits until pending writes of last uses are in the token file.
func (s *Store) Close() { s.pendingWrites.Wait() }

// RepairFile renames a damaged token file and returns a warning, or "" if the file is not
// damaged.
func (s *Store) RepairFile() (warning string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := loadFile(s.path); !errors.Is(err, errDamaged) {
		return "", nil
	}
	keptAs, err := statefile.PutAside(s.path)
	if err != nil {
		return "", err
	}
	s.read()
	return fmt.Sprintf("the tokens of MCP clients in %s were damaged and are kept as %s; no client has a token now: make new ones with `opentabs client add NAME`", s.path, keptAs), nil
}

// change locks the token file, applies a change to the file, and updates the store.
func (s *Store) change(apply func(*tokenFile) error) error {
	unlock, err := statefile.Lock(s.path+".lock", lockTimeout)
	if err != nil {
		return fmt.Errorf("change the tokens of MCP clients: %w", err)
	}
	defer unlock()
	f, err := loadFile(s.path)
	if err != nil {
		return err
	}
	if err := apply(&f); err != nil {
		return err
	}
	f.Version = 1
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the tokens of MCP clients: %w", err)
	}
	if err := statefile.Write(s.path, append(text, '\n')); err != nil {
		return err
	}
	s.mu.Lock()
	removedClients := s.read()
	s.mu.Unlock()
	s.revoke(removedClients)
	return nil
}

// revoke cancels the requests of clients whose token was removed.
func (s *Store) revoke(removedClients []*activeClient) {
	for _, c := range removedClients {
		s.mu.Lock()
		onRemoved := s.onRemoved
		for _, cancel := range c.requests {
			cancel(errRevoked)
		}
		s.mu.Unlock()
		if onRemoved != nil {
			onRemoved(c.Name)
		}
	}
}

// hasChanged reports whether the token file changed since it was read. The caller holds
// mu.
func (s *Store) hasChanged() bool {
	info, err := os.Stat(s.path)
	if err != nil || s.readInfo == nil {
		return (err == nil) != (s.readInfo != nil)
	}
	return !os.SameFile(info, s.readInfo) || info.Size() != s.readInfo.Size() || !info.ModTime().Equal(s.readInfo.ModTime())
}

// read reads the token file and returns the clients that lost their tokens. If the file
// cannot be read, no client is admitted. The caller holds mu.
func (s *Store) read() (removedClients []*activeClient) {
	s.readInfo = nil
	if info, err := os.Stat(s.path); err == nil {
		s.readInfo = info
	}
	f, err := loadFile(s.path)
	s.problem = err
	clients := map[string]*activeClient{}
	for _, c := range f.Clients {
		client := &activeClient{storedClient: c, requests: map[int]context.CancelCauseFunc{}}
		copy(client.tokenHash[:], hashOfToken(c.TokenHash))
		if oldClient := s.clients[c.Name]; oldClient != nil && oldClient.tokenHash == client.tokenHash {
			client.requests = oldClient.requests
			if oldClient.LastUsed.After(client.LastUsed) {
				client.LastUsed = oldClient.LastUsed
			}
		}
		clients[c.Name] = client
	}
	for name, oldClient := range s.clients {
		if now := clients[name]; now == nil || now.tokenHash != oldClient.tokenHash {
			removedClients = append(removedClients, oldClient)
		}
	}
	s.clients = clients
	return removedClients
}

var errDamaged = errors.New("damaged")

// loadFile decodes the token file at path. For a missing file, loadFile returns no
// clients and no error.
func loadFile(path string) (tokenFile, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return tokenFile{}, nil
	}
	if err != nil {
		return tokenFile{}, fmt.Errorf("read the tokens of MCP clients: %w", err)
	}
	var f tokenFile
	isDamaged := json.Unmarshal(text, &f) != nil || f.Version != 1
	for _, c := range f.Clients {
		isDamaged = isDamaged || !namePattern().MatchString(c.Name) || len(hashOfToken(c.TokenHash)) != sha256.Size
	}
	if isDamaged {
		return tokenFile{}, fmt.Errorf("the tokens of MCP clients in %s are %w, so no client can connect over HTTP: restart the server, which puts the file aside, then make new tokens with `opentabs client add NAME`", path, errDamaged)
	}
	return f, nil
}

// hashOfToken decodes a SHA-256 sum in hex, and returns nil for any other text.
func hashOfToken(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}
