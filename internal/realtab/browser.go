// Package realtab runs a real browser for the tests of plugins: a headless Chromium with
// a separate profile and one unpacked extension. All host names in the browser resolve to
// one [Site], which simulates all websites.
//
// [Listen] starts the simulated site, [Find] finds the browser's program, [Start] starts
// the browser, and [Browser.Open] opens a tab.
//
// # Concurrency
//
// A [Browser], a [Tab] and a [Site] are safe for concurrent use.
package realtab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// ProgramVariable is the environment variable that contains the path of the browser.
const ProgramVariable = "CHROMIUM"

// The variable programs contains the usual program names of Chromium, by operating
// system. Google Chrome cannot be used, because Chrome does not accept an unpacked
// extension on its command line.
var programs = map[string][]string{
	"darwin":  {"/Applications/Chromium.app/Contents/MacOS/Chromium", "chromium"},
	"windows": {"chromium"},
}

const closeTimeout = 10 * time.Second

var errExited = errors.New("the browser has exited")

// Find returns the path of the browser: the value of [ProgramVariable], or a program with
// a usual name. The argument getenv is os.Getenv except in tests.
func Find(getenv func(string) string) (string, error) {
	if name := getenv(ProgramVariable); name != "" {
		program, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s is %q, which is not an executable program: set it to the path of a Chromium", ProgramVariable, name)
		}
		return program, nil
	}
	names := programs[goruntime.GOOS]
	if names == nil {
		names = []string{"chromium", "chromium-browser", "/usr/lib/chromium/chromium"}
	}
	for _, name := range names {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("there is no Chromium (looked for %s): install one, or set %s to its path; Google Chrome can't be used, because it does not accept an unpacked extension on its command line",
		strings.Join(names, ", "), ProgramVariable)
}

// Options configure a [Browser]. All fields of Options are required.
type Options struct {
	// Program is the path of the executable file of the browser.
	Program string
	// Profile is the folder for the browser's profile. The profile folder must be empty
	// or missing.
	Profile string
	// Extension is the folder of the unpacked extension, and ExtensionID is the extension's
	// ID. In this browser, extensions are allowed to run user scripts.
	Extension, ExtensionID string
	// SitePort is the port on 127.0.0.1 to which all host names resolve.
	SitePort int
}

// Browser is a running headless Chromium.
type Browser struct {
	ctx          context.Context
	closeBrowser context.CancelFunc
}

// Start starts a browser, which runs until Close. If ctx ends before the browser has started,
// Start returns an error. A started browser continues to run after the end of ctx.
func Start(ctx context.Context, o Options) (*Browser, error) {
	if err := prepareProfile(o); err != nil {
		return nil, err
	}
	browserCtx, cancelBrowser := context.WithCancel(context.WithoutCancel(ctx))
	allocator, closeBrowser := chromedp.NewExecAllocator(browserCtx, o.chromeFlags()...)
	discardLog := func(string, ...any) {} // chromedp would log unknown events
	b := &Browser{closeBrowser: closeBrowser}
	b.ctx, _ = chromedp.NewContext(allocator, chromedp.WithLogf(discardLog), chromedp.WithErrorf(discardLog))
	// During the start, closeBrowser would race with chromedp.
	keepBrowserRunning := context.AfterFunc(ctx, cancelBrowser)
	err := chromedp.Do(b.ctx)
	switch {
	case !keepBrowserRunning():
		b.kill()
		return nil, ctx.Err()
	case err != nil:
		b.kill()
		lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
		return nil, fmt.Errorf("%s did not start: %s", o.Program, strings.TrimSpace(lines[len(lines)-1]))
	}
	return b, nil
}

func prepareProfile(o Options) error {
	preferences, err := json.Marshal(map[string]any{"extensions": map[string]any{
		"ui":       map[string]any{"developer_mode": true},
		"settings": map[string]any{o.ExtensionID: map[string]any{"user_scripts_enabled": true}},
	}})
	if err != nil {
		return fmt.Errorf("prepare the browser's profile: %w", err)
	}
	dir := filepath.Join(o.Profile, "Default")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("prepare the browser's profile: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Preferences"), preferences, 0o600); err != nil {
		return fmt.Errorf("prepare the browser's profile: %w", err)
	}
	return nil
}

func (o Options) chromeFlags() []chromedp.ExecAllocatorOption {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(o.Program), chromedp.UserDataDir(o.Profile), chromedp.Flag("headless", "new"), chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("disable-extensions-except", o.Extension), chromedp.Flag("load-extension", o.Extension),
		// The simulated sites have a self-signed certificate. The rules for host names
		// exclude 127.0.0.1, because the opentabs server uses this address.
		chromedp.IgnoreCertErrors,
		chromedp.Flag("host-resolver-rules", fmt.Sprintf("MAP * 127.0.0.1:%d, EXCLUDE 127.0.0.1", o.SitePort)),
	}
	for _, name := range []string{
		"disable-quic", "no-proxy-server", "disable-sync", "disable-background-networking", "disable-component-update", "disable-background-timer-throttling",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	return options
}

// Ended returns a channel that is closed when the browser has exited.
func (b *Browser) Ended() <-chan struct{} { return chromedp.FromContext(b.ctx).Browser.LostConnection }

// Close closes the browser and blocks until the browser has exited.
func (b *Browser) Close() {
	ctx, cancel := context.WithTimeout(b.ctx, closeTimeout)
	defer cancel()
	_ = chromedp.Cancel(ctx)
	b.kill()
}

func (b *Browser) kill() {
	b.closeBrowser()
	chromedp.FromContext(b.ctx).Allocator.Wait()
}

func (b *Browser) explainError(err error) error {
	select {
	case <-b.Ended():
		return errExited
	default:
		return fmt.Errorf("control the browser: %w", err)
	}
}

func runBrowserCommand[P, R any](ctx context.Context, b *Browser, c cdp.Command[P, R], params P) (R, error) {
	result, err := cdp.Call(ctx, chromedp.FromContext(b.ctx).Browser, c, params)
	if err != nil {
		err = b.explainError(err)
	}
	return result, err
}

// Clear removes all cookies from the browser.
func (b *Browser) Clear(ctx context.Context) error {
	_, err := runBrowserCommand(ctx, b, storage.ClearCookies, storage.ClearCookiesParams{})
	return err
}

// Tab is one tab of a [Browser].
type Tab struct {
	browser *Browser
	ctx     context.Context
}

// Open deletes the stored data of the site at origin and then opens a tab at url. The
// JavaScript code script runs in each document of the tab before the page's scripts.
func (b *Browser) Open(ctx context.Context, url, origin, script string) (*Tab, error) {
	t := &Tab{browser: b}
	t.ctx, _ = chromedp.NewContext(b.ctx, chromedp.WithNewWindow(false))
	keepTabOpen := context.AfterFunc(ctx, func() { _ = chromedp.Cancel(t.ctx) })
	err := chromedp.Do(t.ctx)
	if !keepTabOpen() {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, b.explainError(err)
	}
	_, err = runTabCommand(ctx, t, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"})
	if err == nil {
		_, err = runTabCommand(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	}
	if err == nil {
		err = t.Go(ctx, url)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func runTabCommand[P, R any](ctx context.Context, t *Tab, c cdp.Command[P, R], params P) (R, error) {
	result, err := cdp.Call(ctx, chromedp.FromContext(t.ctx).Target, c, params)
	if err != nil {
		err = t.browser.explainError(err)
	}
	return result, err
}

// Go navigates the tab to url. Go returns as soon as the navigation has started, and does
// not wait until the page has loaded.
func (t *Tab) Go(ctx context.Context, url string) error {
	navigation, err := runTabCommand(ctx, t, page.Navigate, page.NavigateParams{URL: url})
	if err == nil && navigation.ErrorText != "" {
		err = fmt.Errorf("the browser can't open %s: %s", url, navigation.ErrorText)
	}
	return err
}

// HasParsedDocument reports whether the HTML of the tab's document is parsed completely.
func (t *Tab) HasParsedDocument(ctx context.Context) (bool, error) {
	result, err := runTabCommand(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.readyState !== 'loading'"})
	return err == nil && string(result.Result.Value) == "true", err
}

// URL returns the URL of the tab's document.
func (t *Tab) URL(ctx context.Context) (string, error) {
	info, err := runBrowserCommand(ctx, t.browser, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: chromedp.FromContext(t.ctx).Target.TargetID})
	if err != nil {
		return "", err
	}
	return info.TargetInfo.URL, nil
}

// Close closes the tab.
func (t *Tab) Close() error {
	if err := chromedp.Cancel(t.ctx); err != nil {
		return t.browser.explainError(err)
	}
	return nil
}
