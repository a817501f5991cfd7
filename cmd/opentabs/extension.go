package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/statefile"
	"opentabs/internal/version"
)

// connectionFile has the server's port, and the key that the extension and the
// server prove to each other (config.BrowserKey).
const connectionFile = "connection.json"

// connection is the content of connectionFile.
type connection struct {
	Port int    `json:"port"`
	Key  string `json:"key"`
}

// installRecord remembers where the extension was written, and what was.
type installRecord struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
}

func newExtensionCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:     "extension",
		Short:   "Write the browser extension",
		Example: "  opentabs extension install\n  opentabs extension path",
	}, newExtensionInstallCmd(p), newExtensionPathCmd(p))
}

type extensionInstallOptions struct {
	program *program
	dir     string
}

func newExtensionInstallCmd(p *program) *cobra.Command {
	opts := extensionInstallOptions{program: p}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the unpacked extension and say how to load it",
		Long: `Write the extension, with the port and a key of this installation in it, into
a folder that stays the same, and print the steps in Chrome. Run it again after
an update of opentabs or a change of the port, then reload the extension.`,
		Example: "  opentabs extension install\n  opentabs extension install --dir ~/opentabs-extension",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runExtensionInstall(cmd.Context(), opts) },
	}
	cmd.Flags().StringVar(&opts.dir, "dir", "", "write it into `DIR` (default a folder of the state directory)")
	return cmd
}

func runExtensionInstall(ctx context.Context, opts extensionInstallOptions) error {
	p := opts.program
	dirs, err := p.home()
	if err != nil {
		return err
	}
	settings, err := p.settings(dirs, nil)
	if err != nil {
		return err
	}
	token, err := dirs.Token()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(opts.dir)
	if err != nil {
		return fmt.Errorf("find --dir %s: %w", opts.dir, err)
	}
	if opts.dir == "" {
		dir = dirs.ExtensionDir()
	}
	// A server that runs knows its port better than the settings do.
	port := settings.Port
	server, serverErr := findServer(ctx, dirs, settings)
	if serverErr == nil {
		port = server.port
	}
	if port == 0 {
		return usage("the port is 0, so the extension cannot know it: set a port, or start the server first")
	}
	if err := checkFolder(dir); err != nil {
		return err
	}
	warnings, err := config.MakePrivate(dir)
	for _, w := range warnings {
		p.out.say("%s", w)
	}
	if err != nil {
		return err
	}
	if _, ok := readInstallRecord(dirs); !ok && config.Exists(dirs.ExtensionRecord()) {
		kept, err := statefile.PutAside(dirs.ExtensionRecord())
		if err != nil {
			return err
		}
		p.out.say("the note where the extension is, %s, was damaged and is kept as %s; if the extension was in another folder, remove that one from Chrome", dirs.ExtensionRecord(), kept)
	}
	if err := writeExtension(dirs, dir, connection{Port: port, Key: config.BrowserKey(token)}); err != nil {
		return err
	}
	if serverErr == nil { // it puts the adapters into the folder
		if err := httpapi.NewClient(server.port, token).Reload(ctx); err != nil {
			return fmt.Errorf("tell the server (pid %d): %w", server.PID, err)
		}
	}
	p.out.text(installSteps(dir))
	return nil
}

func installSteps(dir string) string {
	return fmt.Sprintf(`The extension is in
  %s

In Chrome:
  1. Open chrome://extensions and switch on "Developer mode" (top right).
  2. Choose "Load unpacked" and the folder above. If opentabs is there already,
     press its reload button instead.
  3. Open the extension's "Details" and switch on "Allow User Scripts".
  4. Reload the tabs in which you want to use a plugin.
  5. Press the opentabs button in the toolbar: the side panel says whether it is
     connected. The server must run: opentabs serve`, dir)
}

// writeExtension writes the extension into dir. Each file is replaced in one
// step, the manifest last, and what an older version wrote is removed; the
// adapters and what is not ours stay.
func writeExtension(dirs config.Dirs, dir string, c connection) error {
	statefile.RemoveLeftovers(dir)
	files, err := jsbuild.Extension(version.Version)
	if err != nil {
		return fmt.Errorf("bundle the extension: %w", err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write %s: %w", connectionFile, err)
	}
	files[connectionFile] = append(text, '\n')
	names := slices.SortedFunc(maps.Keys(files), manifestLast)
	for _, name := range names {
		if err := replaceFile(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	if err := removeLeftovers(dirs, dir, names); err != nil {
		return err
	}
	record, err := json.Marshal(installRecord{Dir: dir, Files: names})
	if err != nil {
		return fmt.Errorf("remember the extension's folder: %w", err)
	}
	return statefile.Write(dirs.ExtensionRecord(), record)
}

// manifestLast orders names so that Chrome finds a manifest only where the
// files it names are.
func manifestLast(a, b string) int {
	switch "manifest.json" {
	case a:
		return 1
	case b:
		return -1
	}
	return strings.Compare(a, b)
}

// checkFolder refuses a folder that holds something else.
func checkFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the extension: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, connectionFile)); err != nil {
		return usage("%s holds other files than an opentabs extension: name an empty or a new folder with --dir", dir)
	}
	return nil
}

// replaceFile writes a file and the folders above it, unless it is the same.
// Only its owner can open it.
func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		if err := os.Chmod(path, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return nil
	}
	return statefile.Write(path, content)
}

// removeLeftovers removes what an older version wrote into dir and this one did
// not.
func removeLeftovers(dirs config.Dirs, dir string, names []string) error {
	record, ok := readInstallRecord(dirs)
	if !ok || record.Dir != dir {
		return nil
	}
	for _, name := range record.Files {
		if slices.Contains(names, name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old file: %w", err)
		}
	}
	return nil
}

func readInstallRecord(dirs config.Dirs) (installRecord, bool) {
	var record installRecord
	text, err := os.ReadFile(dirs.ExtensionRecord())
	if err != nil || json.Unmarshal(text, &record) != nil || record.Dir == "" {
		return installRecord{}, false
	}
	return record, true
}

// extensionFolder returns the folder that the extension was written to, and
// false if it was not or is gone.
func extensionFolder(dirs config.Dirs) (string, bool) {
	dir := dirs.ExtensionDir()
	if record, ok := readInstallRecord(dirs); ok {
		dir = record.Dir
	}
	_, err := os.Stat(filepath.Join(dir, connectionFile))
	return dir, err == nil
}

type extensionPathOptions struct{ program *program }

func newExtensionPathCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the folder that the extension is in",
		Example: "  opentabs extension path",
		Args:    atMost(0),
		RunE:    func(*cobra.Command, []string) error { return runExtensionPath(extensionPathOptions{program: p}) },
	}
}

func runExtensionPath(opts extensionPathOptions) error {
	dirs, err := config.FindDirs(opts.program.getenv)
	if err != nil {
		return usage("%v", err)
	}
	dir, ok := extensionFolder(dirs)
	if !ok {
		return &failure{code: exitFailed, err: errors.New("the extension is not installed yet: run opentabs extension install")}
	}
	opts.program.out.line("%s", dir)
	return nil
}
