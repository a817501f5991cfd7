package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"
)

// The variable templates contains the sources of the release files that contain the
// version or the address of the release, such as install.sh.
//
//go:embed files
var templates embed.FS

const packagerModule = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"

// manifestData are the values that the templates use. Archives maps an operating system and a
// processor to the name of the release archive, such as Archives["linux"]["amd64"]. Hashes maps an
// operating system and a processor to the SHA-256 hash of their release archive.
type manifestData struct {
	URL, Version   string
	Archives       map[string]map[string]string
	Hashes         map[string]map[string]string
	BrewSystems    map[string]string
	BrewProcessors map[string]string
}

// The Homebrew formula and the Scoop manifest are written only if the release has archives for all supported operating
// systems and processors.
func (r release) writeManifests(targets []target) error {
	facts := manifestData{
		URL: r.url, Version: r.version, Archives: map[string]map[string]string{}, Hashes: map[string]map[string]string{},
		BrewSystems:    map[string]string{"darwin": "macos", "linux": "linux"},
		BrewProcessors: map[string]string{"amd64": "intel", "arm64": "arm"},
	}
	for _, t := range targets {
		if facts.Hashes[t.os] == nil {
			facts.Archives[t.os], facts.Hashes[t.os] = map[string]string{}, map[string]string{}
		}
		hash, err := r.hashOf(r.archiveName(t))
		if err != nil {
			return err
		}
		facts.Archives[t.os][t.arch], facts.Hashes[t.os][t.arch] = r.archiveName(t), hash
	}
	files := []string{"install.sh", "Containerfile"}
	if len(targets) == len(allTargets) {
		files = append(files, "opentabs.rb", "scoop.json")
	}
	for _, name := range files {
		manifest, err := fillTemplate(name, facts)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.outDir, name), manifest, 0o644); err != nil {
			return err
		}
	}
	return os.Chmod(filepath.Join(r.outDir, "install.sh"), 0o755)
}

func fillTemplate(name string, facts any) ([]byte, error) {
	parsedTemplate, err := template.New(name).Option("missingkey=error").ParseFS(templates, "files/"+name)
	if err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	err = parsedTemplate.Execute(&manifest, facts)
	return manifest.Bytes(), err
}

func (r release) writeLinuxPackages(ctx context.Context, t target) error {
	facts := struct{ Arch, Version, Program, Licenses, Man, Time string }{
		t.arch, r.version, r.programPath(t), r.extraFileOfTarget(t, licensesFile), r.manDir(), r.commitTime.Format(time.RFC3339),
	}
	settings, err := fillTemplate("nfpm.yaml", facts)
	if err != nil {
		return err
	}
	file := filepath.Join(r.outDir, programsDir, "nfpm.yaml")
	if err := os.WriteFile(file, settings, 0o644); err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		name := fmt.Sprintf("opentabs_%s_%s.%s", r.version, t.arch, format)
		cmd := exec.CommandContext(ctx, "go", "run", packagerModule, "package", "--config", file, "--packager", format, "--target", filepath.Join(r.outDir, name))
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.commitTime.Unix()))
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the package %s: %w\n%s", name, err, output)
		}
	}
	return nil
}
