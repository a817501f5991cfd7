package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/extension"
	"opentabs/internal/config"
	"opentabs/internal/daemon"
	"opentabs/internal/extensiondir"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/mcpclient"
	"opentabs/internal/realtab"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/wire"
)

// trialBrowser runs the tests of a plugin in a real browser: it has a server, a
// browser with the extension, and the sites, all of its own.
type trialBrowser struct {
	dir    string // everything that is written
	daemon *daemon.Started
	client *mcpclient.Client
	close  []func() // undoes what was begun, the last first

	program string
	plugin  *plugin.Plugin
	browser *realtab.Browser
	site    *realtab.Site

	calling sync.Mutex // held during a call: one at a time
	opens   sync.Mutex // held while a tab is opened: one at a time

	mu     sync.Mutex // guards those below
	answer func(context.Context, any) (json.RawMessage, error)
	tab    *trialTab
	leaves context.CancelFunc // ends what the tab of before, or its opening, waits for
}

var _ jsbuild.Real = (*trialBrowser)(nil)

// startTrialBrowser builds the plugin in dir and starts all that its tests need.
func startTrialBrowser(ctx context.Context, p *program, dir string) (*trialBrowser, error) {
	t := &trialBrowser{}
	if err := t.start(ctx, p, dir); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// start starts everything; what it has begun before an error is for Close.
func (t *trialBrowser) start(ctx context.Context, p *program, dir string) (err error) {
	if t.program, err = realtab.Find(p.getenv); err != nil {
		return &failure{code: exitFailed, err: err}
	}
	if t.dir, err = os.MkdirTemp("", "opentabs-browser-"); err != nil {
		return fmt.Errorf("make a directory for the browser: %w", err)
	}
	t.undo(func() { removeAll(p.out, t.dir) })
	folder := filepath.Join(t.dir, "plugin")
	built, err := jsbuild.BuildPlugin(ctx, dir, jsbuild.Options{Out: filepath.Join(folder, "dist")})
	if err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(built.Dir, "package.json"))
	if err != nil {
		return fmt.Errorf("read the plugin: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), manifest, 0o600); err != nil {
		return fmt.Errorf("write the plugin: %w", err)
	}
	if err := t.serve(ctx, folder); err != nil {
		return err
	}
	if t.site, err = realtab.Listen(t.answered); err != nil {
		return err
	}
	t.undo(t.site.Close)
	t.browser, err = realtab.Start(ctx, realtab.Options{
		Program: t.program, Profile: filepath.Join(t.dir, "profile"), SitePort: t.site.Port(),
		Extension: filepath.Join(t.dir, "extension"), ExtensionID: extension.ID(),
	})
	if err != nil {
		return err
	}
	t.undo(t.browser.Close)
	loading, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	if err := t.inSync(loading); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s has not loaded the extension within %v: Google Chrome loads none from its command line, so set %s to a Chromium", t.program, loadPatience, realtab.ProgramVariable)
		}
		return err
	}
	return nil
}

// loadPatience is how long the browser may take to load the extension.
const loadPatience = 2 * time.Minute

// removeAll removes a directory, and says so if that fails. A browser may still
// write while it ends.
func removeAll(out *terminal.Output, dir string) {
	err := os.RemoveAll(dir)
	for tries := 0; err != nil && tries < 20; tries++ {
		time.Sleep(50 * time.Millisecond)
		err = os.RemoveAll(dir)
	}
	if err != nil {
		out.Notef("%v: remove it yourself", err)
	}
}

func (t *trialBrowser) undo(f func()) { t.close = append(t.close, f) }

// Close ends everything and leaves nothing.
func (t *trialBrowser) Close() {
	for len(t.close) > 0 {
		last := len(t.close) - 1
		t.close[last]()
		t.close = t.close[:last]
	}
}

// serve starts a server that knows the plugin in folder and no other, writes the
// extension for it, and connects to it as an agent.
func (t *trialBrowser) serve(ctx context.Context, folder string) error {
	state := filepath.Join(t.dir, "home")
	dirs := config.Dirs{Config: state, State: state}
	if _, err := dirs.Make(); err != nil {
		return err
	}
	added, err := plugin.NewStore(dirs.State, plugin.StoreOptions{}).Add(folder)
	if err != nil {
		return err
	}
	settings := config.Defaults()
	settings.Port, settings.DiscoverGlobal = 0, false
	v, err := daemon.Start(ctx, home.New(dirs, settings, os.Getenv, nil), zerolog.Nop())
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = v.Serve(serving)
	}()
	t.undo(func() { stop(); <-ended })
	t.daemon = v
	if err := v.Ready(ctx); err != nil {
		return err
	}
	one, ok := v.Registry.Set().Plugin(added.Name)
	if !ok {
		return fmt.Errorf("the server does not take %s in", added.Name)
	}
	if err := v.Policy.Review(one.Name, one.ContentHash(), wire.PermissionAuto, "opentabs plugin test"); err != nil {
		return err
	}
	if one.StartsLate() { // the author tests their own plugin
		if err := v.Policy.SetLateAccess(one.Name, true, "opentabs plugin test"); err != nil {
			return err
		}
	}
	t.plugin = one
	token, err := dirs.Token()
	if err != nil {
		return err
	}
	if _, err := extensiondir.Install(dirs, filepath.Join(t.dir, "extension"), extensiondir.Connection{Port: v.Port(), Key: config.BrowserKey(token)}); err != nil {
		return err
	}
	t.client = mcpclient.New(mcpclient.Options{URL: "http://" + v.Address() + httpapi.CommandPath, Token: token, Name: "opentabs plugin test", Version: version.Version})
	_, err = t.client.Initialize(ctx)
	t.undo(func() {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		_ = t.client.Close(ctx) // the server ends anyway
	})
	return err
}

// lookEvery is the time between two looks whether the browser is as far as it
// should be.
const lookEvery = 20 * time.Millisecond

// until looks until is returns true or an error.
func (t *trialBrowser) until(ctx context.Context, is func() (bool, error)) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if ok, err := is(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-t.browser.Ended():
			return errors.New("the browser has ended")
		}
	}
}

// inSync waits until the browser has the plugin as it is now. A sync that is
// under way may be of what was before, so it takes two.
func (t *trialBrowser) inSync(ctx context.Context) error {
	synced := func() int {
		for _, b := range t.daemon.Hub.Browsers() {
			return b.Syncs
		}
		return 0
	}
	for range 2 {
		before := synced()
		t.daemon.Hub.Sync()
		if err := t.until(ctx, func() (bool, error) { return synced() > before, nil }); err != nil {
			return fmt.Errorf("wait for the extension in the browser: %w", err)
		}
	}
	return nil
}

// Serve implements jsbuild.Real.
func (t *trialBrowser) Serve(answer func(context.Context, any) (json.RawMessage, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answer = answer
}

// answered has the test answer a request of a page.
func (t *trialBrowser) answered(ctx context.Context, r realtab.Request) (realtab.Answer, error) {
	t.mu.Lock()
	answer := t.answer
	t.mu.Unlock()
	if answer == nil {
		return realtab.Answer{Missing: true}, nil
	}
	text, err := answer(ctx, r)
	if err != nil {
		return realtab.Answer{}, err
	}
	var a realtab.Answer
	return a, json.Unmarshal(text, &a)
}

// Ask implements jsbuild.Real.
func (t *trialBrowser) Ask(ctx context.Context, what string, params json.RawMessage) (json.RawMessage, error) {
	var value any
	var err error
	switch what {
	case "open":
		value, err = t.open(ctx, params)
	case "call":
		value, err = t.callTool(ctx, params)
	case "look":
		value, err = t.look(ctx, t.current())
	default:
		err = fmt.Errorf("a test asked for %q, which is not known", what)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
