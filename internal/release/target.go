package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is a system that a release is built for, in the words of Go.
type target struct{ os, arch string }

// allTargets are the systems of a release.
var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// selectTargets returns the systems in a list such as "linux/amd64,darwin/arm64", or all
// systems for an empty list.
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
			return nil, fmt.Errorf("releases have no system %q", name)
		}
	}
	return targets, nil
}

// program is the name of the program on the system.
func (t target) program() string {
	if t.os == "windows" {
		return "opentabs.exe"
	}
	return "opentabs"
}

// npmOS and npmArch are the words of Node for the system.
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

// programsDir is the folder of the built programs, which the finished release does not
// contain.
const programsDir = "programs"

// programPath is where the build writes the program of a system.
func (r release) programPath(t target) string {
	return filepath.Join(r.out, programsDir, t.os+"_"+t.arch, t.program())
}

// archiveName is the name of the archive of a system. `opentabs upgrade` and install.sh
// find the archive by this name.
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

// build builds the program of a system. The flags leave out everything that depends on the
// machine.
func (r release) build(ctx context.Context, t target) error {
	flags := fmt.Sprintf("-s -w -buildid= -X opentabs/internal/version.Commit=%s -X opentabs/internal/version.ReleaseURL=%s -X opentabs/internal/version.StoreExtensions=%s", r.commit, r.url, r.storeExtensions)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", r.programPath(t), "./cmd/opentabs")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s/%s: %w\n%s", t.os, t.arch, err, output)
	}
	return nil
}
