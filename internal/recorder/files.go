package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"opentabs/internal/lazyregexp"
)

// maxLineBytes limits the length of a record's JSON line, without the line feed.
const maxLineBytes = 1 << 20

// Call records are split into several files, so that deleting the oldest file keeps most records.
const targetFileCount = 8

const fileSuffix = ".jsonl"

var errQueueFull = errors.New("the queue of records was full, because too many calls ended at once")

// fileName is the name of a record file without its suffix: a day in UTC and a number,
// which distinguishes the files of one day.
type fileName struct {
	day       string
	partIndex int
}

var fileNamePattern = lazyregexp.New(`^(\d{4}-\d\d-\d\d)(?:\.([1-9]\d{0,5}))?$`)

func parseFileName(name string) (fileName, bool) {
	regexpMatch := fileNamePattern().FindStringSubmatch(name)
	if regexpMatch == nil {
		return fileName{}, false
	}
	partIndex, _ := strconv.Atoi(regexpMatch[2])
	return fileName{regexpMatch[1], partIndex}, true
}

func (n fileName) String() string {
	if n.partIndex == 0 {
		return n.day
	}
	return fmt.Sprintf("%s.%d", n.day, n.partIndex)
}

func (n fileName) compare(otherFileName fileName) int {
	if n.day != otherFileName.day {
		return strings.Compare(n.day, otherFileName.day)
	}
	return n.partIndex - otherFileName.partIndex
}

func listFiles(dir string) ([]fileName, error) {
	dirEntries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the recorded calls: %w", err)
	}
	var names []fileName
	for _, e := range dirEntries {
		base, hasSuffix := strings.CutSuffix(e.Name(), fileSuffix)
		if name, ok := parseFileName(base); ok && hasSuffix && e.Type().IsRegular() {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, fileName.compare)
	return names, nil
}

// recordFiles appends lines to the record file of the current day, and deletes old record
// files.
type recordFiles struct {
	dir      string
	days     int
	maxBytes int64

	name           fileName
	file           *os.File
	size           int64
	isFilePrepared bool
}

func (f *recordFiles) path(name fileName) string {
	return filepath.Join(f.dir, name.String()+fileSuffix)
}

// The method open repairs the newest record file, whose last line may be incomplete after a crash, and deletes old
// record files.
func (f *recordFiles) open(now time.Time) error {
	if f.isFilePrepared {
		return nil
	}
	names, err := listFiles(f.dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		f.isFilePrepared = true
		return nil
	}
	f.name = names[len(names)-1]
	if err := repairFile(f.path(f.name)); err != nil {
		return fmt.Errorf("repair the recorded calls: %w", err)
	}
	f.isFilePrepared = true
	return f.removeOldFiles(now)
}

func repairFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	fileInfo, err := file.Stat()
	if err != nil {
		return err
	}
	size := fileInfo.Size()
	buffer := make([]byte, min(size, maxLineBytes+1))
	if _, err := file.ReadAt(buffer, size-int64(len(buffer))); err != nil {
		return err
	}
	if incompleteBytes := len(buffer) - 1 - bytes.LastIndexByte(buffer, '\n'); incompleteBytes > 0 {
		return file.Truncate(size - int64(incompleteBytes))
	}
	return nil
}

func (f *recordFiles) append(now time.Time, lines []byte) error {
	if err := f.open(now); err != nil {
		return err
	}
	if err := f.prepare(now); err != nil {
		return err
	}
	n, err := f.file.Write(lines)
	f.size += int64(n)
	if err == nil {
		return nil
	}
	// The incomplete last line is removed, so that the next write begins a new line.
	endOffset := f.size - int64(n) + int64(bytes.LastIndexByte(lines[:n], '\n')+1)
	if truncateErr := f.file.Truncate(endOffset); truncateErr == nil {
		f.size = endOffset
	}
	return fmt.Errorf("write the recorded calls: %w", err)
}

func (f *recordFiles) prepare(now time.Time) error {
	day := now.UTC().Format(time.DateOnly)
	isNewDay := day > f.name.day // after the clock was set back, the recorder appends to the newest file
	isFull := f.size >= f.maxBytes/targetFileCount
	if f.file != nil && !isNewDay && !isFull {
		return nil
	}
	f.close()
	switch {
	case isNewDay:
		f.name = fileName{day: day}
	case isFull:
		f.name.partIndex++
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the recorded calls: %w", err)
	}
	file, err := os.OpenFile(f.path(f.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the recorded calls: %w", err)
	}
	fileInfo, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("open the recorded calls: %w", err)
	}
	f.file, f.size = file, fileInfo.Size()
	return f.removeOldFiles(now)
}

// removeOldFiles never deletes the newest record file.
func (f *recordFiles) removeOldFiles(now time.Time) error {
	names, err := listFiles(f.dir)
	if err != nil {
		return err
	}
	firstDay := now.UTC().AddDate(0, 0, 1-f.days).Format(time.DateOnly)
	totalBytes := f.maxBytes / targetFileCount
	for i, name := range slices.Backward(names) {
		fileInfo, err := os.Stat(f.path(name))
		if err != nil {
			continue
		}
		totalBytes += fileInfo.Size()
		if i < len(names)-1 && (totalBytes > f.maxBytes || name.day < firstDay) {
			if err := os.Remove(f.path(name)); err != nil {
				return fmt.Errorf("remove old recorded calls: %w", err)
			}
		}
	}
	return nil
}

func (f *recordFiles) close() {
	if f.file != nil {
		f.file.Close()
	}
	f.file, f.size = nil, 0
}
