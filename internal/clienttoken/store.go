// Package clienttoken keeps the tokens of MCP clients that connect over HTTP: one
// for each client, so that the server can identify the client and the user can
// revoke one token without the others. The file has the names, the dates and the
// SHA-256 sums; a token is shown once, when it is created, and never stored.
//
// Start with [Open]. A command adds and removes; the server admits requests with
// [Store.Enter] and follows the file with [Store.Watch].
//
// # Concurrency
//
// A [Store] is safe for concurrent use. Several processes may use one file:
// changes happen under a lock file, and [Store.Watch] finds those of others.
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
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/statefile"
)

const (
	// prefix begins each token, so that users and secret scanners recognize it.
	prefix = "otc_"
	// tokenBytes is the length of a token before it is encoded: 256 bits.
	tokenBytes = 32
	// shownChars is how much of a token a list shows, with the prefix.
	shownChars = len(prefix) + 4
	// maxClients limits the tokens, because each request is compared with all of them.
	maxClients = 256
	// lockWait is how long a change waits for the lock of another process.
	lockWait = 5 * time.Second
	// usedStep is the resolution of the recorded last use of a token.
	usedStep = time.Minute
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
	// Begins is the beginning of the token, to distinguish tokens.
	Begins  string    `json:"begins"`
	Created time.Time `json:"created"`
	// LastUsed is zero for a token that was never used. LastUsed is exact to a minute.
	LastUsed time.Time `json:"last_used,omitzero"`
}

// stored is the entry of a client in the file.
type stored struct {
	Client
	// Sum is the SHA-256 sum of the token, in hex.
	Sum string `json:"sha256"`
}

// file is the content of the file.
type file struct {
	Version int      `json:"version"`
	Clients []stored `json:"clients"`
}

// Store stores the tokens in one file.
type Store struct {
	path string
	work sync.WaitGroup // pending writes of last uses

	mu       sync.Mutex // guards all fields below
	clients  map[string]*admitted
	seen     fs.FileInfo // the file when it was read; nil for none
	problem  error       // why the file could not be read
	removed  func(name string)
	entrance int
}

// admitted is a client whose token gives access to /mcp.
type admitted struct {
	stored
	sum     [sha256.Size]byte
	entered map[int]context.CancelCauseFunc // its requests
}

// Open returns the store in the file at path, which need not exist.
func Open(path string) *Store {
	s := &Store{path: path, clients: map[string]*admitted{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	return s
}

// OnRemoved sets a function that is called, without a lock, for each client whose
// token was removed or replaced, after its requests were cancelled.
func (s *Store) OnRemoved(removed func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = removed
}

// nameRule matches valid names of clients.
var nameRule = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Add creates and returns a token for a new client. The token is not stored and cannot
// be read again.
func (s *Store) Add(name string) (token string, err error) {
	if !nameRule().MatchString(name) {
		return "", fmt.Errorf("the name %q cannot be used: give 1 to 64 letters, digits, dots, - and _, beginning with a letter or a digit", name)
	}
	random := make([]byte, tokenBytes)
	if _, err := rand.Read(random); err != nil { // rand.Read never returns an error
		return "", fmt.Errorf("make a token: %w", err)
	}
	token = prefix + base64.RawURLEncoding.EncodeToString(random)
	sum := sha256.Sum256([]byte(token))
	one := stored{Client: Client{Name: name, Begins: token[:shownChars], Created: time.Now().UTC()}, Sum: hex.EncodeToString(sum[:])}
	return token, s.change(func(f *file) error {
		for _, c := range f.Clients {
			if strings.EqualFold(c.Name, name) {
				return fmt.Errorf("the client %s has a token already, and opentabs cannot show it again. Remove it with `opentabs client remove %[1]s`, or choose another name", c.Name)
			}
		}
		if len(f.Clients) >= maxClients {
			return fmt.Errorf("there are %d clients already: remove one with `opentabs client remove NAME`", maxClients)
		}
		f.Clients = append(f.Clients, one)
		return nil
	})
}

// Remove revokes the token of a client. Remove returns ErrUnknown if no client has this
// name.
func (s *Store) Remove(name string) error {
	return s.change(func(f *file) error {
		i := slices.IndexFunc(f.Clients, func(c stored) bool { return c.Name == name })
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
	list := make([]Client, 0, len(s.clients))
	for _, c := range s.clients {
		list = append(list, c.Client)
	}
	slices.SortFunc(list, func(a, b Client) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// Enter returns the client that has this token, and a context that is cancelled
// with errRevoked when the token is removed. Call leave at the end of the request.
// ok is false if no client has the token.
func (s *Store) Enter(ctx context.Context, token string) (name string, in context.Context, leave func(), ok bool) {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *admitted
	for _, c := range s.clients { // compares the hash with all hashes, so that the time does not depend on the token
		if subtle.ConstantTimeCompare(sum[:], c.sum[:]) == 1 {
			found = c
		}
	}
	if found == nil {
		return "", nil, nil, false
	}
	in, cancel := context.WithCancelCause(ctx)
	s.entrance++
	id := s.entrance
	found.entered[id] = cancel
	s.recordUse(found)
	return found.Name, in, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(found.entered, id)
	}, true
}

// recordUse records that a token was used. The caller holds mu.
func (s *Store) recordUse(c *admitted) {
	now := time.Now().UTC()
	if now.Sub(c.LastUsed) < usedStep {
		return
	}
	c.LastUsed = now
	name, sum := c.Name, c.Sum
	s.work.Go(func() {
		// If the file cannot be written, only the date is lost.
		_ = s.change(func(f *file) error {
			for i := range f.Clients {
				if f.Clients[i].Name == name && f.Clients[i].Sum == sum {
					f.Clients[i].LastUsed = now
				}
			}
			return nil
		})
	})
}

// Reload reads the file if it has changed. Reload cancels the requests of clients that
// were removed before it returns.
func (s *Store) Reload() error {
	s.mu.Lock()
	var gone []*admitted
	if s.hasChanged() {
		gone = s.read()
	}
	problem := s.problem
	s.mu.Unlock()
	s.revoke(gone)
	return problem
}

// Watch reloads the file when other processes change it, until ctx ends.
func (s *Store) Watch(ctx context.Context) {
	tick := time.NewTicker(WatchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.Reload() // List returns the error
		}
	}
}

// Close waits for pending writes.
func (s *Store) Close() { s.work.Wait() }

// Mend renames a damaged file and returns a warning about it, or "" if the file is
// not damaged.
func (s *Store) Mend() (warning string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := loadFile(s.path); !errors.Is(err, errDamaged) {
		return "", nil
	}
	kept, err := statefile.PutAside(s.path)
	if err != nil {
		return "", err
	}
	s.read()
	return fmt.Sprintf("the tokens of MCP clients in %s were damaged and are kept as %s; no client has a token now: make new ones with `opentabs client add NAME`", s.path, kept), nil
}

// change applies a change to the file, under its lock, and to this store.
func (s *Store) change(apply func(*file) error) error {
	unlock, err := statefile.Lock(s.path+".lock", lockWait)
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
	gone := s.read()
	s.mu.Unlock()
	s.revoke(gone)
	return nil
}

// revoke cancels the requests of clients whose token was removed.
func (s *Store) revoke(gone []*admitted) {
	for _, c := range gone {
		s.mu.Lock()
		removed := s.removed
		for _, cancel := range c.entered {
			cancel(errRevoked)
		}
		s.mu.Unlock()
		if removed != nil {
			removed(c.Name)
		}
	}
}

// hasChanged reports whether the file changed since it was read. The caller holds mu.
func (s *Store) hasChanged() bool {
	info, err := os.Stat(s.path)
	if err != nil || s.seen == nil {
		return (err == nil) != (s.seen != nil)
	}
	return !os.SameFile(info, s.seen) || info.Size() != s.seen.Size() || !info.ModTime().Equal(s.seen.ModTime())
}

// read reads the file and returns the clients that lost their tokens. If the file
// cannot be read, no client is admitted. The caller holds mu.
func (s *Store) read() (gone []*admitted) {
	s.seen = nil
	if info, err := os.Stat(s.path); err == nil {
		s.seen = info
	}
	f, err := loadFile(s.path)
	s.problem = err
	clients := map[string]*admitted{}
	for _, c := range f.Clients {
		one := &admitted{stored: c, entered: map[int]context.CancelCauseFunc{}}
		copy(one.sum[:], sumOf(c.Sum))
		if old := s.clients[c.Name]; old != nil && old.sum == one.sum {
			one.entered = old.entered
			if old.LastUsed.After(one.LastUsed) {
				one.LastUsed = old.LastUsed
			}
		}
		clients[c.Name] = one
	}
	for name, old := range s.clients {
		if now := clients[name]; now == nil || now.sum != old.sum {
			gone = append(gone, old)
		}
	}
	s.clients = clients
	return gone
}

var errDamaged = errors.New("damaged")

// loadFile reads the file. A missing file is empty.
func loadFile(path string) (file, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		return file{}, fmt.Errorf("read the tokens of MCP clients: %w", err)
	}
	var f file
	bad := json.Unmarshal(text, &f) != nil || f.Version != 1
	for _, c := range f.Clients {
		bad = bad || !nameRule().MatchString(c.Name) || len(sumOf(c.Sum)) != sha256.Size
	}
	if bad {
		return file{}, fmt.Errorf("the tokens of MCP clients in %s are %w, so no client can connect over HTTP: restart the server, which puts the file aside, then make new tokens with `opentabs client add NAME`", path, errDamaged)
	}
	return f, nil
}

// sumOf reads a sum in hex; nil for anything else.
func sumOf(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}
