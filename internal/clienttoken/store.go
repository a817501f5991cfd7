// Package clienttoken keeps the tokens of MCP clients. Each client has its own token, which identifies the client and
// which the user can revoke. The token file has names, dates and SHA-256 sums; a token is shown once, when it is
// created, and never stored.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. Several processes may use one token file: each change locks the file, and
// [Store.Watch] detects changes by other processes.
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

// Placeholder replaces client tokens in text for users and logs; see [MaskTokens].
const Placeholder = Prefix + "..."

var tokenPattern = lazyregexp.New(regexp.QuoteMeta(Prefix) + `[A-Za-z0-9_-]+`)

// MaskTokens replaces each client token in a text with [Placeholder].
func MaskTokens(tokenText string) string {
	return tokenPattern().ReplaceAllString(tokenText, Placeholder)
}

const (
	// Prefix is the prefix of each client token, by which users and secret scanners
	// recognize tokens.
	Prefix          = "otc_"
	tokenBytes      = 32
	shownTokenChars = len(Prefix) + 4
	// maxClients is small because the server compares the token of each request with all client tokens.
	maxClients = 256
	// A process can keep the token file locked while it waits for a slow disk, so lockTimeout is long.
	lockTimeout = 30 * time.Second
	// lastUsedPrecision rounds [Client.LastUsed], so that most requests do not write the token file.
	lastUsedPrecision = time.Minute
	// WatchInterval is how often [Store.Watch] checks whether the token file has changed.
	WatchInterval = time.Second
)

var (
	// ErrUnknown means that no client with a token has the given name.
	ErrUnknown = errors.New("there is no client of this name")
	errRevoked = errors.New("the token of the client was removed")
)

// Client is an MCP client that has a token.
type Client struct {
	Name string `json:"name"`
	// FirstChars is the beginning of the token, such as "otc_a1B2", by which users can
	// recognize a token.
	FirstChars string    `json:"begins"`
	Created    time.Time `json:"created"`
	// LastUsed is when the client last used its token, with a resolution of one minute;
	// zero if the token was never used.
	LastUsed time.Time `json:"last_used,omitzero"`
}

// storedClient is the JSON form of a client in the token file.
type storedClient struct {
	Client
	// TokenHash is the SHA-256 hash of the client's token, in hexadecimal.
	TokenHash string `json:"sha256"`
}

// tokenFile is the JSON content of the token file.
type tokenFile struct {
	Version int            `json:"version"`
	Clients []storedClient `json:"clients"`
}

// Store manages the client tokens in one token file.
type Store struct {
	path          string
	pendingWrites sync.WaitGroup // pendingWrites counts the pending writes of LastUsed

	mu            sync.Mutex // the mutex guards all fields below
	clients       map[string]*activeClient
	lastReadInfo  fs.FileInfo // attributes of the token file at the last read; nil if the file was missing
	cause         error       // why the token file could not be read; nil if it was read
	onRemoved     func(name string)
	lastRequestID int
}

// activeClient is a client whose token is valid, with its running requests.
type activeClient struct {
	storedClient
	tokenHash [sha256.Size]byte
	requests  map[int]context.CancelCauseFunc
}

// Open returns a store that uses the token file at path. The token file need not exist.
// If the token file cannot be read, no client is authenticated, and [Store.List] returns
// the error.
func Open(path string) *Store {
	s := &Store{path: path, clients: map[string]*activeClient{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	return s
}

// OnRemoved sets a function that the store calls for each client whose token was removed or replaced. The store first
// cancels the client's running requests and releases its own lock, and then calls onRemoved.
func (s *Store) OnRemoved(onRemoved func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRemoved = onRemoved
}

var namePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Add creates a client with the given name and returns its new token. The store keeps
// only a hash of the token, so the token cannot be shown again. The name of a client has
// 1 to 64 letters, digits, dots, hyphens and underscores.
func (s *Store) Add(name string) (token string, err error) {
	if !namePattern().MatchString(name) {
		return "", fmt.Errorf("the name %q cannot be used: give 1 to 64 letters, digits, dots, - and _, beginning with a letter or a digit", name)
	}
	randomBytes := make([]byte, tokenBytes)
	if _, err := rand.Read(randomBytes); err != nil { // rand.Read never returns an error
		return "", fmt.Errorf("make a token: %w", err)
	}
	token = Prefix + base64.RawURLEncoding.EncodeToString(randomBytes)
	checksum := sha256.Sum256([]byte(token))
	client := storedClient{Client: Client{Name: name, FirstChars: token[:shownTokenChars], Created: time.Now().UTC()}, TokenHash: hex.EncodeToString(checksum[:])}
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

// Remove removes a client and revokes its token. If no client has the given name, Remove
// returns [ErrUnknown].
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

// List returns all clients that have a token, sorted by name.
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

// NameOf returns the name of the client to which a token belongs; empty if the token is
// invalid.
func (s *Store) NameOf(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client := s.find(token); client != nil {
		return client.Name
	}
	return ""
}

// The caller of find must hold s.mu.
func (s *Store) find(token string) *activeClient {
	checksum := sha256.Sum256([]byte(token))
	var client *activeClient
	for _, c := range s.clients { // no early exit, so that the time does not depend on the token
		if subtle.ConstantTimeCompare(checksum[:], c.tokenHash[:]) == 1 {
			client = c
		}
	}
	return client
}

// Enter authenticates a request by its client token and returns the client's name. If the
// token is unknown, Enter reads the token file again if it has changed, because another
// process may have just added the token. If the token is invalid, ok is false. The
// returned context is cancelled when the user removes the client's token. The caller must
// call endRequest when the request ends.
func (s *Store) Enter(ctx context.Context, token string) (name string, requestCtx context.Context, endRequest func(), ok bool) {
	name, requestCtx, endRequest, ok = s.beginClientRequest(ctx, token)
	if ok || !strings.HasPrefix(token, Prefix) {
		return name, requestCtx, endRequest, ok
	}
	_ = s.Reload() // the error is ignored because List returns the same error
	return s.beginClientRequest(ctx, token)
}

func (s *Store) beginClientRequest(ctx context.Context, token string) (name string, requestCtx context.Context, endRequest func(), ok bool) {
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

// The caller of recordUse must hold s.mu.
func (s *Store) recordUse(c *activeClient) {
	now := time.Now().UTC()
	if now.Sub(c.LastUsed) < lastUsedPrecision {
		return
	}
	c.LastUsed = now
	name, checksum := c.Name, c.TokenHash
	s.pendingWrites.Go(func() {
		// The error is ignored: if the token file cannot be written, only the time of the
		// last use is lost.
		_ = s.change(func(f *tokenFile) error {
			for i := range f.Clients {
				if f.Clients[i].Name == name && f.Clients[i].TokenHash == checksum {
					f.Clients[i].LastUsed = now
				}
			}
			return nil
		})
	})
}

// Reload reads the token file again if the file has changed. Before Reload returns, it
// cancels the running requests of clients whose token was removed.
func (s *Store) Reload() error {
	s.mu.Lock()
	var removedClients []*activeClient
	if s.hasChanged() {
		removedClients = s.read()
	}
	cause := s.cause
	s.mu.Unlock()
	s.revoke(removedClients)
	return cause
}

// Watch reloads the token file whenever another process has changed the file, until ctx
// is cancelled.
func (s *Store) Watch(ctx context.Context) {
	ticker := time.NewTicker(WatchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.Reload() // the error is ignored because List returns the same error
		}
	}
}

// Close blocks until the token file contains all pending changes of [Client.LastUsed].
func (s *Store) Close() { s.pendingWrites.Wait() }

// RepairFile renames a damaged token file, so that tokens can be added again, and returns
// a warning for the user. All tokens in the damaged token file become invalid. If the
// token file is not damaged, RepairFile does nothing and returns "".
func (s *Store) RepairFile() (warning string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := loadFile(s.path); !errors.Is(err, errDamaged) {
		return "", nil
	}
	backupPath, err := statefile.RenameDamagedFile(s.path)
	if err != nil {
		return "", err
	}
	s.read()
	return fmt.Sprintf("the tokens of MCP clients in %s were damaged and are kept as %s; no client has a token now: make new ones with `opentabs client add NAME`", s.path, backupPath), nil
}

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
	encodedJSON, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the tokens of MCP clients: %w", err)
	}
	if err := statefile.Write(s.path, append(encodedJSON, '\n')); err != nil {
		return err
	}
	s.mu.Lock()
	removedClients := s.read()
	s.mu.Unlock()
	s.revoke(removedClients)
	return nil
}

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

// The caller of hasChanged must hold s.mu.
func (s *Store) hasChanged() bool {
	fileInfo, err := os.Stat(s.path)
	if err != nil || s.lastReadInfo == nil {
		return (err == nil) != (s.lastReadInfo != nil)
	}
	return !os.SameFile(fileInfo, s.lastReadInfo) || fileInfo.Size() != s.lastReadInfo.Size() || !fileInfo.ModTime().Equal(s.lastReadInfo.ModTime())
}

// If the token file cannot be read, all tokens are invalid. The caller of read must hold s.mu.
func (s *Store) read() (removedClients []*activeClient) {
	s.lastReadInfo = nil
	if fileInfo, err := os.Stat(s.path); err == nil {
		s.lastReadInfo = fileInfo
	}
	f, err := loadFile(s.path)
	s.cause = err
	clients := map[string]*activeClient{}
	for _, c := range f.Clients {
		client := &activeClient{storedClient: c, requests: map[int]context.CancelCauseFunc{}}
		copy(client.tokenHash[:], hashToken(c.TokenHash))
		if oldClient := s.clients[c.Name]; oldClient != nil && oldClient.tokenHash == client.tokenHash {
			client.requests = oldClient.requests
			if oldClient.LastUsed.After(client.LastUsed) {
				client.LastUsed = oldClient.LastUsed
			}
		}
		clients[c.Name] = client
	}
	for name, oldClient := range s.clients {
		if currentClient := clients[name]; currentClient == nil || currentClient.tokenHash != oldClient.tokenHash {
			removedClients = append(removedClients, oldClient)
		}
	}
	s.clients = clients
	return removedClients
}

var errDamaged = errors.New("damaged")

func loadFile(path string) (tokenFile, error) {
	fileContent, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return tokenFile{}, nil
	}
	if err != nil {
		return tokenFile{}, fmt.Errorf("read the tokens of MCP clients: %w", err)
	}
	var f tokenFile
	isDamaged := json.Unmarshal(fileContent, &f) != nil || f.Version != 1
	for _, c := range f.Clients {
		isDamaged = isDamaged || !namePattern().MatchString(c.Name) || len(hashToken(c.TokenHash)) != sha256.Size
	}
	if isDamaged {
		return tokenFile{}, fmt.Errorf("the tokens of MCP clients in %s are %w, so no client can connect over HTTP: restart the server, which puts the file aside, then make new tokens with `opentabs client add NAME`", path, errDamaged)
	}
	return f, nil
}

func hashToken(clientToken string) []byte {
	b, err := hex.DecodeString(clientToken)
	if err != nil {
		return nil
	}
	return b
}
