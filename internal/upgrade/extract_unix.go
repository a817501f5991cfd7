//go:build unix

package upgrade

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// extractProgram extracts the opentabs program from a .tar.gz archive into the new file
// path.
func extractProgram(archive, path string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	entries := tar.NewReader(zip)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return errNoProgram
		}
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeReg && isProgram(header.Name) {
			return writeProgram(path, entries)
		}
	}
}
