// Command release builds a release of opentabs in a folder. For each operating system and
// processor, a release has an archive with the program, and a software bill of materials
// (SBOM). Each release has packages for Linux, npm, Homebrew and Scoop, a Containerfile, the
// extension for stores, install.sh and checksums.txt. Run the command in the root of the
// repository:
//
//	go run ./internal/release -out dist -url https://example.com/opentabs/latest
//
// Releases are reproducible: two builds of the same commit have the same bytes, because all
// times in the files are the time of the commit. The environment variable SOURCE_DATE_EPOCH
// replaces the time of the commit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"opentabs/internal/version"
)

// The type release contains the parameters that all steps of a release build need, such as the
// version and the output folder.
type release struct {
	outDir string
	// url is the address at which the release folder will be published. If url is empty,
	// a program of the release cannot upgrade itself.
	url                  string
	storeExtensionFolder string
	version              string
	commit               string
	commitTime           time.Time
	linuxPackages        bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := release{version: version.Version}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.outDir, "out", "dist", "the `FOLDER` of the release; its content is replaced")
	flags.StringVar(&r.url, "url", "", "the `ADDRESS` of the folder with the newest release, for upgrade and install.sh")
	flags.BoolVar(&r.linuxPackages, "linux-packages", true, "write deb and rpm packages")
	flags.StringVar(&r.storeExtensionFolder, "store-extensions", "", "the `IDS` that stores gave the extension, such as chrome=ID,edge=ID")
	isStoreOnly := flags.Bool("store", false, "write only the package of the extension for stores")
	names := flags.String("only", "", "build only these systems, such as `linux/amd64`, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.url = strings.TrimRight(r.url, "/")
	targets, err := selectTargets(*names)
	if err != nil {
		return err
	}
	if r.commit, r.commitTime, err = readCommit(ctx); err != nil {
		return err
	}
	if err := makeEmptyFolder(r.outDir); err != nil {
		return err
	}
	if *isStoreOnly {
		return errors.Join(r.writeStorePackage(), r.writeChecksums())
	}
	return r.write(ctx, targets)
}

// The file checksums.txt is written last, because it lists the hashes of the other files.
func (r release) write(ctx context.Context, targets []target) error {
	if err := r.writeManualPages(ctx); err != nil {
		return err
	}
	for _, t := range targets {
		if err := r.build(ctx, t); err != nil {
			return err
		}
		if err := r.writeLicenses(ctx, t); err != nil {
			return err
		}
		if err := r.writeArchive(t); err != nil {
			return err
		}
		if err := r.writeSBOM(t); err != nil {
			return err
		}
		if r.linuxPackages && t.os == "linux" {
			if err := r.writeLinuxPackages(ctx, t); err != nil {
				return err
			}
		}
	}
	if err := r.writeStorePackage(); err != nil {
		return err
	}
	if err := r.writeNPM(ctx, targets); err != nil {
		return err
	}
	if err := r.writeManifests(targets); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(r.outDir, programsDir)); err != nil {
		return err
	}
	return r.writeChecksums()
}

// A folder that contains files but no checksums.txt is not a release, so makeEmptyFolder deletes nothing and returns an
// error.
func makeEmptyFolder(dir string) error {
	dirEntries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, checksumsFile)); len(dirEntries) > 0 && err != nil {
		return fmt.Errorf("%s contains other files than a release: name another folder with -out", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

func readCommit(ctx context.Context) (commit string, at time.Time, err error) {
	output, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%h %ct").Output()
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the current commit: %w", err)
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(output)), " ")
	if sourceDateText := os.Getenv("SOURCE_DATE_EPOCH"); sourceDateText != "" {
		seconds = sourceDateText
	}
	unixSeconds, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the time of the current commit: %w", err)
	}
	return commit, time.Unix(unixSeconds, 0).UTC(), nil
}
