package clienttoken

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/statefile"
)

func openStore(t *testing.T) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clients.json")
	s := Open(path)
	t.Cleanup(s.Close)
	return s, path
}

func addClient(t *testing.T, s *Store, name string) string {
	t.Helper()
	token, err := s.Add(name)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func authenticateClient(s *Store, token string) string {
	name, _, endRequest, ok := s.Enter(context.Background(), token)
	if ok {
		endRequest()
	}
	return name
}

// TestTokensAreStoredAsHashes checks that only the file's owner can read the token file,
// and that the file contains no token.
func TestTokensAreStoredAsHashes(t *testing.T) {
	s, path := openStore(t)
	a, b := addClient(t, s, "laptop"), addClient(t, s, "Desk-2.local")
	fileContent, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fileInfo, err := os.Stat(path)
	if err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("mode of the token file = %v, error %v; want 0600", fileInfo.Mode(), err)
	}
	for _, token := range []string{a, b} {
		if strings.Contains(string(fileContent), token) || strings.Contains(string(fileContent), token[shownTokenChars:]) {
			t.Errorf("the token file contains the token %q; want only its hash", token)
		}
		if len(token) != len(Prefix)+43 || !strings.HasPrefix(token, Prefix) {
			t.Errorf("new token = %q; want %q and 43 characters", token, Prefix)
		}
	}
	if a == b {
		t.Errorf("two clients got the same token %q; want different tokens", a)
	}
	clients, err := s.List()
	if err != nil || len(clients) != 2 || clients[0].Name != "Desk-2.local" || clients[1].FirstChars != a[:8] || !clients[1].LastUsed.IsZero() || time.Since(clients[1].Created) > time.Minute {
		t.Errorf("List returned %+v, error %v; want Desk-2.local and a client that never used its token", clients, err)
	}
}

func TestEnterAuthenticatesClient(t *testing.T) {
	s, path := openStore(t)
	token := addClient(t, s, "laptop")
	for presentedToken, want := range map[string]string{
		token: "laptop", "": "", token[:len(token)-1]: "", token + "x": "", strings.ToUpper(token): "", token[4:]: "", "laptop": "",
	} {
		if got := authenticateClient(s, presentedToken); got != want {
			t.Errorf("client of the token %q = %q, want %q", presentedToken, got, want)
		}
	}
	s.Close()
	clients, err := Open(path).List()
	if err != nil || time.Since(clients[0].LastUsed) > time.Minute {
		t.Errorf("List in another process returned %+v, error %v; want a last use within a minute", clients, err)
	}
}

// TestNewTokenWorksImmediately checks that a client can use its token as soon as another
// process has added the token.
func TestNewTokenWorksImmediately(t *testing.T) {
	s, path := openStore(t)
	addClient(t, s, "laptop")
	token := addClient(t, Open(path), "late")
	if got := authenticateClient(s, token); got != "late" {
		t.Errorf("client of the new token = %q, want %q", got, "late")
	}
}

func TestAddRejectsInvalidNames(t *testing.T) {
	s, _ := openStore(t)
	addClient(t, s, "laptop")
	for name, want := range map[string]string{
		"": "cannot be used", "a b": "cannot be used", "-x": "cannot be used", "ä": "cannot be used", "a/b": "cannot be used",
		strings.Repeat("x", 65): "cannot be used", "a\x1b": "cannot be used", "a\n": "cannot be used",
		"laptop": "has a token already", "LapTop": "the client laptop has a token already",
	} {
		if _, err := s.Add(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add(%q) returned the error %v, want %q", name, err, want)
		}
	}
	if err := s.Remove("desk"); !errors.Is(err, ErrUnknown) {
		t.Errorf("Remove of an unknown client returned the error %v; want %v", err, ErrUnknown)
	}
}

func TestRemoveEndsRunningRequests(t *testing.T) {
	for name, removeClient := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) {
			if err := Open(path).Remove("laptop"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			otherStore := Open(path)
			if err := otherStore.Remove("laptop"); err != nil {
				t.Fatal(err)
			}
			addClient(t, otherStore, "laptop")
		},
		"file removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			addClient(t, Open(path), "unrelated")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := openStore(t)
			token := addClient(t, s, "laptop")
			var removedClients []string
			s.OnRemoved(func(name string) { removedClients = append(removedClients, name) })
			_, ctx, endRequest, ok := s.Enter(context.Background(), token)
			if !ok {
				t.Fatal("Enter rejected a valid token; want the client laptop")
			}
			defer endRequest()
			s.Close()
			removeClient(t, path)
			if err := s.Reload(); err != nil {
				t.Fatal(err)
			}
			if ctx.Err() == nil || !errors.Is(context.Cause(ctx), errRevoked) || strings.Join(removedClients, " ") != "laptop" {
				t.Errorf("cause of the request's end = %v, removed clients %v; want %v and laptop", context.Cause(ctx), removedClients, errRevoked)
			}
			if authenticateClient(s, token) != "" {
				t.Error("Enter accepted the removed token; want a rejection")
			}
		})
	}
	t.Run("removal of another client", func(t *testing.T) {
		s, path := openStore(t)
		addClient(t, s, "laptop")
		token := addClient(t, s, "desk")
		_, ctx, endRequest, _ := s.Enter(context.Background(), token)
		defer endRequest()
		s.Close()
		if err := Open(path).Remove("laptop"); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(); err != nil || ctx.Err() != nil || authenticateClient(s, token) != "desk" {
			t.Errorf("after the removal of laptop, Reload error %v, cause of the end of desk's request %v; want neither", err, context.Cause(ctx))
		}
	})
}

func TestWatchReloadsRemovedClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	synctest.Test(t, func(t *testing.T) {
		s := Open(path)
		token := addClient(t, s, "laptop")
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { s.Watch(ctx) })
		if err := Open(path).Remove("laptop"); err != nil {
			t.Fatal(err)
		}
		<-time.After(WatchInterval)
		synctest.Wait()
		if authenticateClient(s, token) != "" {
			t.Error("Enter accepted the token 1 s after its removal; want a rejection")
		}
		stop()
		wg.Wait()
	})
}

// TestDamagedFile checks that a damaged token file authenticates no client, is reported
// as an error, and is never overwritten.
func TestDamagedFile(t *testing.T) {
	for _, damagedText := range []string{"", "{", "[]", `{"version":2,"clients":[]}`, `{"version":1,"clients":[{"name":"a","sha256":"00"}]}`, `{"version":1,"clients":[{"name":"a b","sha256":"` + strings.Repeat("0", 64) + `"}]}`} {
		s, path := openStore(t)
		token := addClient(t, s, "laptop")
		if err := os.WriteFile(path, []byte(damagedText), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(); err == nil || !strings.Contains(err.Error(), "are damaged, so no client can connect") {
			t.Errorf("List with the damaged file %q returned the error %v; want an error that contains %q", damagedText, err, "are damaged, so no client can connect")
		}
		if authenticateClient(s, token) != "" {
			t.Errorf("Enter with the damaged file %q accepted a token; want a rejection", damagedText)
		}
		if _, err := s.Add("desk"); err == nil {
			t.Errorf("Add with the damaged file %q succeeded; want an error", damagedText)
		}
		warning, err := s.RepairFile()
		corruptFiles, globErr := filepath.Glob(path + ".corrupt-*")
		if err != nil || globErr != nil || len(corruptFiles) != 1 || !strings.Contains(warning, "client add") {
			t.Errorf("RepairFile of %q: warning %q, error %v, kept files %v; want a warning and 1 kept file", damagedText, warning, err, corruptFiles)
		}
		addClient(t, s, "desk")
	}
	s, _ := openStore(t)
	if warning, err := s.RepairFile(); warning != "" || err != nil {
		t.Errorf("RepairFile of a valid file: warning %q, error %v; want no warning and no error", warning, err)
	}
}

func TestConcurrentAddsKeepAllClients(t *testing.T) {
	_, path := openStore(t)
	var wg sync.WaitGroup
	for _, name := range strings.Fields("a b c d e f g h") {
		wg.Go(func() {
			if _, err := Open(path).Add(name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if clients, err := Open(path).List(); err != nil || len(clients) != 8 {
		t.Errorf("after 8 concurrent calls of Add, List returned %d clients, error %v; want 8 clients", len(clients), err)
	}
}

func TestAddWaitsForFileLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	synctest.Test(t, func(t *testing.T) {
		unlock, err := statefile.Lock(path+".lock", 0)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(25*time.Second, unlock)
		addClient(t, Open(path), "laptop")
	})
}

func TestMaskTokens(t *testing.T) {
	token, err := Open(filepath.Join(t.TempDir(), "clients.json")).Add("cursor")
	if err != nil {
		t.Fatal(err)
	}
	if got := MaskTokens(`{"T": "` + token + `"}, otc_..., otc_`); got != `{"T": "otc_..."}, otc_..., otc_` {
		t.Errorf("masked text = %s; want the placeholder otc_... instead of the token", got)
	}
}
