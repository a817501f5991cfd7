package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"opentabs/internal/npm/npmtest"
)

const fakeProgram = `#!/bin/sh
case "$1" in
  --version) echo opentabs 0.1.0 ;;
  exit) exit "$2" ;;
  echo) cat; echo error >&2 ;;
  wait) trap 'echo stopped; exit 9' TERM; echo ready; while :; do sleep 0.05; done ;;
  kill) kill -KILL $$ ;;
esac
`

// The current directory becomes the root of the repository until the test ends.
func newRelease(t *testing.T, targets []target) release {
	t.Helper()
	r := release{outDir: t.TempDir(), version: "0.1.0", commit: "abc", url: "https://example.com/latest", commitTime: time.Unix(1_700_000_000, 0).UTC()}
	for _, target := range targets {
		path := r.programPath(target)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for path, fileContent := range map[string]string{path: fakeProgram, r.extraFileOfTarget(target, licensesFile): "Terms of the libraries.\n"} {
			if err := os.WriteFile(path, []byte(fileContent), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

func writeFiles(t *testing.T, r release, targets []target) {
	t.Helper()
	for _, target := range targets {
		if err := r.writeArchive(target); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.writeManifests(targets); err != nil {
		t.Fatal(err)
	}
	if err := r.writeChecksums(); err != nil {
		t.Fatal(err)
	}
}

func TestReleaseIsReproducible(t *testing.T) {
	t.Chdir("../..")
	var checksums [2]string
	for i := range checksums {
		r := newRelease(t, allTargets)
		writeFiles(t, r, allTargets)
		fileContent, err := os.ReadFile(filepath.Join(r.outDir, checksumsFile))
		if err != nil {
			t.Fatal(err)
		}
		checksums[i] = string(fileContent)
	}
	if checksums[0] != checksums[1] {
		t.Errorf("two releases of one commit have the checksums\n%s\nand\n%s\nwant equal checksums", checksums[0], checksums[1])
	}
	for _, want := range []string{
		"  opentabs_0.1.0_darwin_arm64.tar.gz\n", "  opentabs_0.1.0_windows_amd64.zip\n", "  opentabs.rb\n", "  scoop.json\n", "  install.sh\n", "  Containerfile\n",
	} {
		if !strings.Contains(checksums[0], want) {
			t.Errorf("checksums.txt has no line with %q:\n%s", want, checksums[0])
		}
	}
}

func TestManifestsContainChecksums(t *testing.T) {
	t.Chdir("../..")
	r := newRelease(t, allTargets)
	writeFiles(t, r, allTargets)
	for file, system := range map[string]target{"opentabs.rb": {"darwin", "arm64"}, "scoop.json": {"windows", "arm64"}} {
		fileContent, err := os.ReadFile(filepath.Join(r.outDir, file))
		if err != nil {
			t.Fatal(err)
		}
		hash, err := r.hashOf(r.archiveName(system))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(fileContent), `"`+hash+`"`) || !strings.Contains(string(fileContent), `"`+r.url+"/"+r.archiveName(system)+`"`) {
			t.Errorf("%s lacks the hash or the address of %s, want both:\n%s", file, r.archiveName(system), fileContent)
		}
		if strings.HasSuffix(file, ".json") && !json.Valid(fileContent) {
			t.Errorf("%s is not valid JSON:\n%s", file, fileContent)
		}
	}
}

func TestSBOMListsModulesAndEmbeddedPackages(t *testing.T) {
	t.Chdir("../..")
	currentTarget := target{runtime.GOOS, runtime.GOARCH}
	r := newRelease(t, nil)
	test, err := os.ReadFile(os.Args[0]) // os.Args[0] is the test binary, which contains Go modules
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(r.programPath(currentTarget)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.programPath(currentTarget), test, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.writeSBOM(currentTarget); err != nil {
		t.Fatal(err)
	}
	fileContent, err := os.ReadFile(filepath.Join(r.outDir, r.baseName(currentTarget)+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"pkg:golang/stdlib@1.`, `"pkg:npm/zod@4.`, `"pkg:npm/preact@`, `"bomFormat": "CycloneDX"`} {
		if !strings.Contains(string(fileContent), want) {
			t.Errorf("the SBOM does not contain %s:\n%s", want, fileContent)
		}
	}
}

func TestLicenses(t *testing.T) {
	t.Chdir("../..")
	currentTarget := target{runtime.GOOS, runtime.GOARCH}
	r := newRelease(t, []target{currentTarget})
	test, err := os.ReadFile(os.Args[0]) // os.Args[0] is the test binary, which contains Go modules
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.programPath(currentTarget), test, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.writeLicenses(t.Context(), currentTarget); err != nil {
		t.Fatal(err)
	}
	fileContent, err := os.ReadFile(r.extraFileOfTarget(currentTarget, licensesFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo standard library go1.", "\ngithub.com/evanw/esbuild v", "\npreact 1", " (npm)\n", "Permission is hereby granted"} {
		if !strings.Contains(string(fileContent), want) {
			t.Errorf("the licenses do not contain %q", want)
		}
	}
	if _, err := readLicenses(t.TempDir()); err == nil {
		t.Error("readLicenses of a library without a license returned no error, want an error")
	}
}

func runInstaller(t *testing.T, r release, home string) (string, error) {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(r.outDir)))
	defer server.Close()
	cmd := exec.Command("sh", filepath.Join(r.outDir, "install.sh"))
	cmd.Env = append(os.Environ(), "HOME="+home, "OPENTABS_INSTALL_DIR=", "OPENTABS_RELEASE_URL="+server.URL)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func TestInstallScript(t *testing.T) {
	t.Chdir("../..")
	currentTargets := []target{{runtime.GOOS, runtime.GOARCH}}
	r := newRelease(t, currentTargets)
	writeFiles(t, r, currentTargets)
	home := filepath.Join(t.TempDir(), "my home")
	program := filepath.Join(home, ".local", "bin", "opentabs")
	for range 2 {
		output, err := runInstaller(t, r, home)
		if err != nil || !strings.Contains(output, "opentabs 0.1.0 is installed: "+program+"\n") || !strings.Contains(output, `export PATH="`+filepath.Dir(program)+`:$PATH"`) ||
			!strings.Contains(output, `Next, run: "`+program+`" setup`) {
			t.Fatalf("install.sh ended with the error %v, want the path of the program and the next command in its output: %s", err, output)
		}
	}
	if output, err := exec.Command(program, "--version").Output(); err != nil || string(output) != "opentabs 0.1.0\n" {
		t.Errorf("the installed program printed %q, error %v; want opentabs 0.1.0", output, err)
	}
	dirEntries, err := os.ReadDir(filepath.Dir(program))
	if err != nil || len(dirEntries) != 1 {
		t.Errorf("files in the folder of the program = %v, want only the program; error %v", dirEntries, err)
	}

	archive := filepath.Join(r.outDir, r.archiveName(currentTargets[0]))
	if err := os.WriteFile(archive, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	emptyHome := t.TempDir()
	output, err := runInstaller(t, r, emptyHome)
	if err == nil || !strings.Contains(output, "the checksum of "+r.archiveName(currentTargets[0])+" is ") || !strings.Contains(output, "nothing was installed") {
		t.Errorf("install.sh of a damaged archive ended with the error %v, want a message about the checksum: %s", err, output)
	}
	if _, err := os.Stat(filepath.Join(emptyHome, ".local")); err == nil {
		t.Error("install.sh of a damaged archive wrote into the home directory, want no files")
	}
	installCmd := exec.Command("sh", filepath.Join(r.outDir, "install.sh"))
	installCmd.Env = append(os.Environ(), "HOME="+emptyHome, "OPENTABS_RELEASE_URL=http://example.com/x")
	if output, err := installCmd.CombinedOutput(); err == nil || !strings.Contains(string(output), "is not encrypted") {
		t.Errorf("install.sh with an unencrypted address ended with the error %v, want a message that the address is not encrypted: %s", err, output)
	}
}

func startRegistry(t *testing.T, r release) []string {
	t.Helper()
	registry := &npmtest.Registry{}
	files, err := filepath.Glob(filepath.Join(r.outDir, "npm", "*.tgz"))
	if err != nil || len(files) < 3 {
		t.Fatalf("npm packages in the release = %v, want at least 3; error %v", files, err)
	}
	for _, file := range files {
		packedPackage, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		publish(t, registry, packedPackage)
	}
	zod, err := npmtest.PackFolder("node_modules/zod")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, registry, zod)
	server := httptest.NewServer(registry)
	t.Cleanup(server.Close)
	return append(os.Environ(), "npm_config_registry="+server.URL+"/", "npm_config_cache="+t.TempDir(), "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false", "HOME="+t.TempDir())
}

func publish(t *testing.T, registry *npmtest.Registry, packedPackage []byte) {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(packedPackage))
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(zip); ; {
		header, err := entries.Next()
		if err != nil {
			t.Fatalf("a packed npm package has no package.json, want one: %v", err)
		}
		if header.Name != "package/package.json" {
			continue
		}
		readBytes, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Name, Version string }
		manifest := map[string]any{}
		if err := json.Unmarshal(readBytes, &m); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(readBytes, &manifest); err != nil {
			t.Fatal(err)
		}
		registry.Publish(npmtest.Version{Name: m.Name, Version: m.Version, File: packedPackage, Manifest: manifest})
		return
	}
}

func runInFolder(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin = strings.NewReader("input\n")
	output, err := cmd.CombinedOutput()
	return string(output), err
}
