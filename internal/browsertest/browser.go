// Package browsertest runs the tests of a plugin in a real browser, for `opentabs plugin test --browser`.
//
// Package browsertest starts a daemon, a Chromium with the extension, and a simulation of the plugin's sites, with a
// temporary profile and state directory. [Browser] implements TestBrowser.
package browsertest

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
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/wire"
)

// Options configure [Start]. All fields are required.
type Options struct {
	// Dir is the directory of the plugin.
	Dir string
	// Getenv reads environment variables. An environment variable can name the browser's
	// program.
	Getenv func(string) string
	// Warnf receives warnings for the user of `opentabs plugin test`.
	Warnf func(format string, args ...any)
}

// Browser is a browser with a daemon and simulated sites for the tests of one plugin.
type Browser struct {
	dir      string
	daemon   *daemon.StartedDaemon
	client   *mcpclient.Client
	cleanups []func()

	program string
	plugin  *plugin.Plugin
	browser *realtab.Browser
	site    *realtab.Site

	callLock     sync.Mutex // callLock is locked during a call, so that calls run one at a time
	openTabMutex sync.Mutex // openTabMutex is locked while a tab opens, so that tabs open one at a time

	mu        sync.Mutex // guards all fields below
	responder func(context.Context, any) (json.RawMessage, error)
	tab       *testTab
	cancelTab context.CancelFunc // cancelTab ends the calls of the current tab, or stops opening the tab
}

var _ jsbuild.TestBrowser = (*Browser)(nil)

// Start builds the plugin and starts a daemon, a browser and simulated sites for the
// plugin's tests.
func Start(ctx context.Context, o Options) (*Browser, error) {
	t := &Browser{}
	if err := t.start(ctx, o); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Program returns the path of the browser's program.
func (t *Browser) Program() string { return t.program }

// If start returns an error, the caller must call Close to end the processes that are already running.
func (t *Browser) start(ctx context.Context, o Options) (err error) {
	if t.program, err = realtab.Find(o.Getenv); err != nil {
		return err
	}
	if t.dir, err = os.MkdirTemp("", "opentabs-browser-"); err != nil {
		return fmt.Errorf("make a directory for the browser: %w", err)
	}
	t.addCleanup(func() { removeAll(o.Warnf, t.dir) })
	pluginDir := filepath.Join(t.dir, "plugin")
	buildResult, err := jsbuild.BuildPlugin(ctx, o.Dir, jsbuild.Options{Out: filepath.Join(pluginDir, "dist")})
	if err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(buildResult.Dir, "package.json"))
	if err != nil {
		return fmt.Errorf("read the plugin: %w", err)
	}
	if err := os.WriteFile(filepath.Join(pluginDir, "package.json"), manifest, 0o600); err != nil {
		return fmt.Errorf("write the plugin: %w", err)
	}
	if err := t.serve(ctx, pluginDir); err != nil {
		return err
	}
	if t.site, err = realtab.Listen(t.answerRequest); err != nil {
		return err
	}
	t.addCleanup(t.site.Close)
	t.browser, err = realtab.Start(ctx, realtab.Options{
		Program: t.program, Profile: filepath.Join(t.dir, "profile"), SitePort: t.site.Port(),
		Extension: filepath.Join(t.dir, "extension"), ExtensionID: extension.ID(),
	})
	if err != nil {
		return err
	}
	t.addCleanup(t.browser.Close)
	loadCtx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	if err := t.waitForSync(loadCtx); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s has not loaded the extension within %v: Google Chrome loads none from its command line, so set %s to a Chromium", t.program, loadTimeout, realtab.ProgramVariable)
		}
		return err
	}
	return nil
}

const loadTimeout = 2 * time.Minute

// removeAll makes several attempts, because a browser still writes files while it exits.
func removeAll(warnf func(string, ...any), dir string) {
	err := os.RemoveAll(dir)
	for attempt := 0; err != nil && attempt < 20; attempt++ {
		time.Sleep(50 * time.Millisecond)
		err = os.RemoveAll(dir)
	}
	if err != nil {
		warnf("%v: remove it yourself", err)
	}
}

func (t *Browser) addCleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Close stops the browser and the daemon, and removes their files.
func (t *Browser) Close() {
	for len(t.cleanups) > 0 {
		lastIndex := len(t.cleanups) - 1
		t.cleanups[lastIndex]()
		t.cleanups = t.cleanups[:lastIndex]
	}
}

func (t *Browser) serve(ctx context.Context, pluginDir string) error {
	homeDir := filepath.Join(t.dir, "home")
	dirs := config.Dirs{Config: homeDir, State: homeDir}
	if _, err := dirs.CreateDirs(); err != nil {
		return err
	}
	addedPlugin, err := plugin.NewStore(dirs.State, plugin.StoreOptions{}).Add(pluginDir)
	if err != nil {
		return err
	}
	settings := config.Defaults()
	settings.Port, settings.DiscoverGlobal = 0, false
	startedDaemon, err := daemon.Start(ctx, home.New(dirs, settings, os.Getenv, nil), zerolog.Nop())
	if err != nil {
		return err
	}
	serveCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	serveDone := make(chan struct{})
	go func() {
		defer close(serveDone)
		_ = startedDaemon.Serve(serveCtx)
	}()
	t.addCleanup(func() { stop(); <-serveDone })
	t.daemon = startedDaemon
	if err := startedDaemon.WaitUntilLoaded(ctx); err != nil {
		return err
	}
	testedPlugin, ok := startedDaemon.Registry.Set().Plugin(addedPlugin.Name)
	if !ok {
		return fmt.Errorf("the server did not load %s", addedPlugin.Name)
	}
	if err := startedDaemon.Policy.Review(testedPlugin.Name, testedPlugin.ContentHash(), wire.PermissionAuto, "opentabs plugin test"); err != nil {
		return err
	}
	if testedPlugin.StartsAfterPageScripts() { // the author trusts the plugin
		if err := startedDaemon.Policy.SetLateStartAccess(testedPlugin.Name, true, "opentabs plugin test"); err != nil {
			return err
		}
	}
	t.plugin = testedPlugin
	token, err := dirs.Token()
	if err != nil {
		return err
	}
	if _, err := extensiondir.Install(dirs, filepath.Join(t.dir, "extension"), extensiondir.Connection{Port: startedDaemon.Port(), Key: config.BrowserKey(token)}, extensiondir.KeepDebuggerChoice); err != nil {
		return err
	}
	t.client = mcpclient.New(mcpclient.Options{URL: "http://" + startedDaemon.Address() + httpapi.CommandPath, Token: token, Name: "opentabs plugin test", Version: version.Version})
	_, err = t.client.Initialize(ctx)
	t.addCleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = t.client.Close(ctx) // an error of Close does not matter, because the server stops next
	})
	return err
}

const closeTimeout = time.Second

const pollInterval = 20 * time.Millisecond

const parseTimeout = 3 * time.Second

func (t *Browser) pollUntil(ctx context.Context, isDone func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if ok, err := isDone(); ok || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-t.browser.Ended():
			return errors.New("the browser has exited")
		}
	}
}

// waitForSync waits for two further syncs, because one in progress could have read the plugin too early.
func (t *Browser) waitForSync(ctx context.Context) error {
	readSyncCount := func() int {
		for _, b := range t.daemon.Hub.Browsers() {
			return b.SyncCount
		}
		return 0
	}
	for range 2 {
		countBefore := readSyncCount()
		t.daemon.Hub.Sync()
		if err := t.pollUntil(ctx, func() (bool, error) { return readSyncCount() > countBefore, nil }); err != nil {
			return fmt.Errorf("wait for the extension in the browser: %w", err)
		}
	}
	return nil
}

// SetResponder implements [jsbuild.TestBrowser].
func (t *Browser) SetResponder(responder func(context.Context, any) (json.RawMessage, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.responder = responder
}

func (t *Browser) answerRequest(ctx context.Context, r realtab.Request) (realtab.Answer, error) {
	t.mu.Lock()
	responder := t.responder
	t.mu.Unlock()
	if responder == nil {
		return realtab.Answer{IsMissing: true}, nil
	}
	responseJSON, err := responder(ctx, r)
	if err != nil {
		return realtab.Answer{}, err
	}
	var a realtab.Answer
	return a, json.Unmarshal(responseJSON, &a)
}

// The method Do implements [jsbuild.TestBrowser].
func (t *Browser) Do(ctx context.Context, operation string, params json.RawMessage) (json.RawMessage, error) {
	var value any
	var err error
	switch operation {
	case "open":
		value, err = t.open(ctx, params)
	case "call":
		value, err = t.callTool(ctx, params)
	case "look":
		value, err = t.readState(ctx, t.currentTab())
	default:
		err = fmt.Errorf("a test sent the unknown request %q", operation)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
