// Package realtab runs a real browser for the tests of plugins: a headless Chromium
// with its own profile and one unpacked extension. In it, all host names lead to one
// [Site], which simulates all web sites.
//
// Start with [Listen] for the site, [Find] for the program and [Start] for the
// browser; then [Browser.Open].
//
// # Concurrency
//
// A [Browser], a [Tab] and a [Site] are safe for concurrent use.
package realtab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// ProgramVariable is the environment variable with the path of the browser.
const ProgramVariable = "CHROMIUM"

// programs are the usual names of Chromium. Google Chrome does not accept an unpacked
// extension on its command line.
var programs = map[string][]string{
	"darwin":  {"/Applications/Chromium.app/Contents/MacOS/Chromium", "chromium"},
	"windows": {"chromium"},
}

// closeTimeout is how long a browser may take to exit after Close.
const closeTimeout = 10 * time.Second

// Find returns the path of the browser: the value of [ProgramVariable], or a program
// with a usual name. getenv is os.Getenv except in tests.
func Find(getenv func(string) string) (string, error) {
	if name := getenv(ProgramVariable); name != "" {
		program, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s is %q, which is not an executable program: set it to the path of a Chromium", ProgramVariable, name)
		}
		return program, nil
	}
	names := programs[runtime.GOOS]
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

// Options configure a browser. All are required.
type Options struct {
	// Program is the path of the browser.
	Program string
	// Profile is a folder that is empty or missing.
	Profile string
	// Extension is the folder of the unpacked extension, ExtensionID its id. The
	// extension may run user scripts.
	Extension, ExtensionID string
	// SitePort is the port on 127.0.0.1 to which all host names lead.
	SitePort int
}

// Browser is a running browser.
type Browser struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once the process has ended
	tools *devtools
}

// Start starts a browser, which runs until it is closed. ctx is for the start.
func Start(ctx context.Context, o Options) (*Browser, error) {
	if err := prepareProfile(o); err != nil {
		return nil, err
	}
	cmd := exec.Command(o.Program, o.flags()...)
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Program, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Program, err)
	}
	b := &Browser{cmd: cmd, ended: make(chan struct{})}
	address := make(chan string, 1)
	last := make(chan string, 1)
	go func() {
		defer close(b.ended)
		last <- readAddress(output, address)
		_, _ = io.Copy(io.Discard, output) // a full pipe would stop it
		_ = cmd.Wait()                     // the exit code is not needed
	}()
	select {
	case url := <-address:
		if b.tools, err = dialDevtools(ctx, url); err == nil {
			return b, nil
		}
	case line := <-last:
		err = fmt.Errorf("%s exited before it opened its DevTools: %s", o.Program, line)
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.kill()
	return nil, err
}

// readAddress reads the output of a browser until the line with the address of its
// DevTools. If there is no such line, it returns the last line.
func readAddress(output io.Reader, address chan<- string) (last string) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		last = lines.Text()
		if url, ok := strings.CutPrefix(last, "DevTools listening on "); ok {
			address <- strings.TrimSpace(url)
			return ""
		}
	}
	return last
}

// prepareProfile writes the browser settings of a plugin developer.
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

func (o Options) flags() []string {
	flags := []string{
		"--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-proxy-server", "--disable-sync",
		"--disable-background-networking", "--disable-component-update", "--disable-background-timer-throttling",
		"--user-data-dir=" + o.Profile, "--remote-debugging-port=0",
		"--disable-extensions-except=" + o.Extension, "--load-extension=" + o.Extension,
		// The sites are simulated, with a self-signed certificate. The server of opentabs
		// is at 127.0.0.1.
		"--ignore-certificate-errors",
		fmt.Sprintf("--host-resolver-rules=MAP * 127.0.0.1:%d, EXCLUDE 127.0.0.1", o.SitePort),
	}
	if os.Geteuid() == 0 { // Chromium's sandbox does not work for root
		flags = append(flags, "--no-sandbox")
	}
	return append(flags, "about:blank")
}

// Ended returns a channel that is closed when the browser has exited.
func (b *Browser) Ended() <-chan struct{} { return b.ended }

// Close ends the browser and waits for its end.
func (b *Browser) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if b.tools.do(ctx, "", "Browser.close", struct{}{}, nil) == nil {
		select {
		case <-b.ended:
		case <-ctx.Done():
		}
	}
	b.kill()
	b.tools.close()
}

// kill ends the process, if it runs, and waits for its end.
func (b *Browser) kill() {
	_ = b.cmd.Process.Kill() // it fails if it has ended
	<-b.ended
}

// Clear removes all cookies.
func (b *Browser) Clear(ctx context.Context) error {
	return b.tools.do(ctx, "", "Storage.clearCookies", struct{}{}, nil)
}

// Tab is a tab of a browser.
type Tab struct {
	tools           *devtools
	target, session string
}

// Open opens a tab at url, after removing the stored data of the site at origin.
// script runs in each document of the tab before other scripts.
func (b *Browser) Open(ctx context.Context, url, origin, script string) (*Tab, error) {
	t := &Tab{tools: b.tools}
	var target struct {
		TargetID string `json:"targetId"`
	}
	if err := t.tools.do(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return nil, err
	}
	t.target = target.TargetID
	var session struct {
		SessionID string `json:"sessionId"`
	}
	attach := map[string]any{"targetId": t.target, "flatten": true}
	err := t.tools.do(ctx, "", "Target.attachToTarget", attach, &session)
	t.session = session.SessionID
	steps := []struct {
		method string
		params map[string]any
	}{
		{"Page.enable", map[string]any{}},
		{"Storage.clearDataForOrigin", map[string]any{"origin": origin, "storageTypes": "all"}},
		{"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}},
	}
	for _, step := range steps {
		if err == nil {
			err = t.tools.do(ctx, t.session, step.method, step.params, nil)
		}
	}
	if err == nil {
		err = t.Go(ctx, url)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return nil, errors.Join(err, t.Close(ctx))
	}
	return t, nil
}

// Go navigates the tab to url. It returns when the navigation has started.
func (t *Tab) Go(ctx context.Context, url string) error {
	var went struct {
		ErrorText string `json:"errorText"`
	}
	if err := t.tools.do(ctx, t.session, "Page.navigate", map[string]any{"url": url}, &went); err != nil {
		return err
	}
	if went.ErrorText != "" {
		return fmt.Errorf("the browser can't open %s: %s", url, went.ErrorText)
	}
	return nil
}

// IsParsed reports whether the HTML of the tab's document is complete.
func (t *Tab) IsParsed(ctx context.Context) (bool, error) {
	var answer struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
	}
	expression := map[string]any{"expression": "document.readyState !== 'loading'"}
	err := t.tools.do(ctx, t.session, "Runtime.evaluate", expression, &answer)
	return answer.Result.Value, err
}

// URL returns the URL of the tab's document.
func (t *Tab) URL(ctx context.Context) (string, error) {
	var is struct {
		TargetInfo struct {
			URL string `json:"url"`
		} `json:"targetInfo"`
	}
	err := t.tools.do(ctx, "", "Target.getTargetInfo", map[string]any{"targetId": t.target}, &is)
	return is.TargetInfo.URL, err
}

// Close closes the tab.
func (t *Tab) Close(ctx context.Context) error {
	return t.tools.do(ctx, "", "Target.closeTarget", map[string]any{"targetId": t.target}, nil)
}
