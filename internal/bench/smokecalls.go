package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rs/zerolog"

	"opentabs/internal/clienttoken"
	"opentabs/internal/httpapi"
	"opentabs/plugin"
)

const smokeTool = "smoke__echo"

// smokeArgs is exactly as long as the arguments of the calls in the row "server" of `make bench`.
var smokeArgs = json.RawMessage(`{"text":"` + strings.Repeat("x", 188) + `"}`)

// callCosts are the costs of one tool call over HTTP, measured without a browser.
type callCosts struct {
	ratio float64
	// The field allocs is the number of heap allocations of a tool call, in the client
	// and the server together.
	allocs float64
}

// The client and the servers run in one process, so the allocations include the client's.
func measureSmokeCalls(dir string) (costs callCosts, err error) {
	state := filepath.Join(dir, "state")
	if err := installSmokePlugin(dir, state); err != nil {
		return costs, fmt.Errorf("install the plugin: %w", err)
	}
	clients := clienttoken.Open(filepath.Join(state, "clients.json"))
	clientToken, err := clients.Add("smoke")
	if err != nil {
		return costs, err
	}
	noBrowserServer, err := newNoBrowserServer(state, "administrator")
	if err != nil {
		return costs, err
	}
	noBrowserURL, stopNoBrowser, err := listenInProcess(httpapi.NewServer(noBrowserServer, zerolog.Nop()))
	if err != nil {
		return costs, err
	}
	defer stopNoBrowser()
	baselineURL, stopBaseline, err := listenInProcess(&http.Server{Handler: newBaselineServer()})
	if err != nil {
		return costs, err
	}
	defer stopBaseline()
	call, stopCalls, err := makeSmokeClient(noBrowserURL+"/mcp", clientToken)
	if err != nil {
		return costs, err
	}
	defer stopCalls()
	sendEcho, stopEcho, err := makeSmokeClient(baselineURL+"/echo", "")
	if err != nil {
		return costs, err
	}
	defer stopEcho()
	if costs.ratio, err = compareTimes(60, sendEcho, call); err != nil {
		return costs, err
	}
	costs.allocs, err = countAllocs(2000, call)
	return costs, err
}

func installSmokePlugin(dir, state string) error {
	const code = `(()=>{globalThis.__openTabs.adapters["smoke"]={tools:[]}})();` + "\n"
	const scriptStatement = `(function(){var o=(globalThis).__openTabs;var a=o.adapters["smoke"];a.__adapterHash="%x";Object.freeze(a);})();` + "\n"
	const schema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
	folder := filepath.Join(dir, "smoke-plugin")
	if err := os.MkdirAll(filepath.Join(folder, "dist"), 0o755); err != nil {
		return err
	}
	for name, fileContent := range map[string]string{
		"package.json": `{"name":"opentabs-plugin-smoke","version":"1.0.0","main":"dist/adapter.iife.js",` +
			`"opentabs":{"displayName":"Smoke","description":"Echoes.","urlPatterns":["*://localhost/*"]}}`,
		"dist/tools.json": `{"sdkVersion":"0.1.0","tools":[{"name":"echo","description":"Returns its text.",` +
			`"input_schema":` + schema + `,"output_schema":` + schema + `}]}`,
		"dist/adapter.iife.js": code + fmt.Sprintf(scriptStatement, sha256.Sum256([]byte(code))),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(fileContent), 0o644); err != nil {
			return err
		}
	}
	_, err := plugin.NewStore(state, plugin.StoreOptions{}).Add(folder)
	return err
}

func listenInProcess(server *http.Server) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

func makeSmokeClient(url, token string) (call func() error, stop func(), err error) {
	t, err := connectTarget(url, token)
	if err != nil {
		return nil, nil, err
	}
	c, err := t.acquireConn()
	if err != nil {
		return nil, nil, err
	}
	var body []byte
	return func() error {
		body, _ = t.makeCallRequest(body[:0], smokeTool, smokeArgs, false)
		response, err := c.post(body)
		if err != nil {
			return err
		}
		if errorText := responseError(response); errorText != "" {
			return fmt.Errorf("the call failed: %s", errorText)
		}
		return nil
	}, c.close, nil
}

// Unlike testing.AllocsPerRun, countAllocs keeps the number of processors, because f waits for other goroutines.
func countAllocs(runs int, f func() error) (float64, error) {
	var statsBefore, statsAfter runtime.MemStats
	runtime.ReadMemStats(&statsBefore)
	for range runs {
		if err := f(); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&statsAfter)
	return float64((statsAfter.Mallocs - statsBefore.Mallocs) / uint64(runs)), nil
}
