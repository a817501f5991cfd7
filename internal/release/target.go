package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The type target is an operating system and a processor for which a release is built,
// named as in Go, such as linux and amd64.
type target struct{ os, arch string }

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func selectTargets(names string) ([]target, error) {
	if names == "" {
		return allTargets, nil
	}
	var targets []target
	for name := range strings.SplitSeq(names, ",") {
		isKnown := false
		for _, t := range allTargets {
			if t.os+"/"+t.arch == name {
				targets, isKnown = append(targets, t), true
			}
		}
		if !isKnown {
			return nil, fmt.Errorf("releases do not support the system %q", name)
		}
	}
	return targets, nil
}

func (t target) program() string {
	if t.os == "windows" {
		return "opentabs.exe"
	}
	return "opentabs"
}

func (t target) npmOS() string {
	if t.os == "windows" {
		return "win32"
	}
	return t.os
}

func (t target) npmArch() string {
	if t.arch == "amd64" {
		return "x64"
	}
	return t.arch
}

const programsDir = "programs"

func (r release) programPath(t target) string {
	return filepath.Join(r.outDir, programsDir, t.os+"_"+t.arch, t.program())
}

// `opentabs upgrade` and install.sh find the archive by its name, so the format of the name must not change.
func (r release) archiveName(t target) string {
	suffix := ".tar.gz"
	if t.os == "windows" {
		suffix = ".zip"
	}
	return r.baseName(t) + suffix
}

func (r release) baseName(t target) string {
	return fmt.Sprintf("opentabs_%s_%s_%s", r.version, t.os, t.arch)
}

// The flags of the Go compiler keep the program independent of the machine that builds it.
func (r release) build(ctx context.Context, t target) error {
	flags := fmt.Sprintf("-s -w -buildid= -X opentabs/internal/version.Commit=%s -X opentabs/internal/version.ReleaseURL=%s -X opentabs/internal/version.StoreExtensions=%s", r.commit, r.url, r.storeExtensionFolder)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", r.programPath(t), "./cmd/opentabs")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program for %s/%s: %w\n%s", t.os, t.arch, err, output)
	}
	return nil
}
