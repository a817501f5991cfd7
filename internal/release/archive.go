package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// archivedFile is one file of a release archive or an npm package.
type archivedFile struct {
	name    string
	content []byte
	mode    int64
}

func (r release) writeArchive(t target) error {
	type source struct {
		name, path string
		mode       int64
	}
	sources := []source{
		{t.program(), r.programPath(t), 0o755}, {"LICENSE", "LICENSE", 0o644}, {licensesFile, r.extraFileOfTarget(t, licensesFile), 0o644},
		{"README.md", "README.md", 0o644},
	}
	packArchive := r.packZip
	if t.os != "windows" {
		packArchive = r.packTar
		manPages, err := r.listManualPages()
		if err != nil {
			return err
		}
		for _, page := range manPages {
			sources = append(sources, source{"man/man1/" + filepath.Base(page), page, 0o644})
		}
	}
	var files []archivedFile
	for _, s := range sources {
		fileContent, err := os.ReadFile(s.path)
		if err != nil {
			return err
		}
		files = append(files, archivedFile{s.name, fileContent, s.mode})
	}
	archive, err := packArchive(files)
	if err != nil {
		return fmt.Errorf("%s: %w", r.archiveName(t), err)
	}
	return os.WriteFile(filepath.Join(r.outDir, r.archiveName(t)), archive, 0o644)
}

// All files have the modification time of the release and no owner, so that the archive is reproducible.
func (r release) packTar(files []archivedFile) ([]byte, error) {
	var archive bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&archive, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	writer := tar.NewWriter(compressor)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: f.mode, Size: int64(len(f.content)), ModTime: r.commitTime, Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(f.content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(writer.Close(), compressor.Close())
	return archive.Bytes(), err
}

func (r release) packZip(files []archivedFile) ([]byte, error) {
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.commitTime}
		header.SetMode(os.FileMode(f.mode))
		file, err := writer.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return archive.Bytes(), err
}

const checksumsFile = "checksums.txt"

func (r release) hashOf(name string) (string, error) {
	fileContent, err := os.ReadFile(filepath.Join(r.outDir, name))
	return fmt.Sprintf("%x", sha256.Sum256(fileContent)), err
}

func (r release) writeChecksums() error {
	dirEntries, err := os.ReadDir(r.outDir)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range dirEntries {
		if !e.Type().IsRegular() {
			continue
		}
		hash, err := r.hashOf(e.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", hash, e.Name())
	}
	return os.WriteFile(filepath.Join(r.outDir, checksumsFile), []byte(lines.String()), 0o644)
}
