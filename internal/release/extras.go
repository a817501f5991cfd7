package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

const licensesFile = "THIRD-PARTY-LICENSES.txt"

var licenseName = lazyregexp.New(`(?i)^(licen[sc]e|copying|notice)([.-].*)?$`)

type library struct {
	title, dir string
}

// writeLicenses writes one file with the licenses of Go, of all Go modules in the program for a target, and of the
// embedded npm packages.
func (r release) writeLicenses(ctx context.Context, t target) error {
	libraries, err := r.listLibraries(ctx, t)
	if err != nil {
		return err
	}
	var licenseText bytes.Buffer
	licenseText.WriteString("opentabs contains these libraries. Each has its own license, which follows its name.\n")
	for _, l := range libraries {
		licenses, err := readLicenses(l.dir)
		if err != nil {
			return fmt.Errorf("read the license of %s: %w", l.title, err)
		}
		fmt.Fprintf(&licenseText, "\n%s\n%s\n\n%s", strings.Repeat("=", 80), l.title, licenses)
	}
	return os.WriteFile(r.extraFileOfTarget(t, licensesFile), licenseText.Bytes(), 0o644)
}

func (r release) listLibraries(ctx context.Context, t target) ([]library, error) {
	info, err := buildinfo.ReadFile(r.programPath(t))
	if err != nil {
		return nil, err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the folder of the Go installation: %w", err)
	}
	libraries := []library{{"Go standard library " + info.GoVersion, strings.TrimSpace(string(root))}}
	for _, module := range info.Deps {
		dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module.Path).Output()
		if err != nil {
			return nil, fmt.Errorf("find the Go module %s: %w", module.Path, err)
		}
		libraries = append(libraries, library{module.Path + " " + module.Version, strings.TrimSpace(string(dir))})
	}
	embeddedComponents, err := embeddedPackages()
	if err != nil {
		return nil, err
	}
	for _, c := range embeddedComponents {
		libraries = append(libraries, library{c.Name + " " + c.Version + " (npm)", filepath.Join("node_modules", c.Name)})
	}
	return libraries, nil
}

func readLicenses(dir string) ([]byte, error) {
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var licenses []byte
	for _, e := range dirEntries {
		if !e.Type().IsRegular() || !licenseName().MatchString(e.Name()) {
			continue
		}
		license, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		licenses = append(append(licenses, bytes.TrimSpace(license)...), '\n')
	}
	if licenses == nil {
		return nil, fmt.Errorf("the folder %s has no file with a license", dir)
	}
	return licenses, nil
}

func (r release) extraFileOfTarget(t target, name string) string {
	return filepath.Join(filepath.Dir(r.programPath(t)), name)
}

// manDir returns the folder of the manual pages, which are the same for all operating
// systems.
func (r release) manDir() string { return filepath.Join(r.outDir, programsDir, "man") }

func (r release) writeManualPages(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/opentabs", "man", "--dir", r.manDir())
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.commitTime.Unix()))
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("write the manual pages: %w\n%s", err, output)
	}
	return nil
}

func (r release) listManualPages() ([]string, error) {
	manPages, err := filepath.Glob(filepath.Join(r.manDir(), "*.1"))
	slices.Sort(manPages)
	return manPages, err
}
