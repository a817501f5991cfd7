//go:build unix

package upgrade

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

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
