package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// maxPageBytes limits how much of the files one call of readPage reads, in bytes.
const maxPageBytes = 8 << 20

// orderSlack bounds the difference between the order of records and the order of the ends
// of their calls.
const orderSlack = time.Minute

// ErrCursor means that the Before of a query is malformed.
var ErrCursor = errors.New(`"before" is not the "next" of an earlier page`)

// Query selects records. The zero value of each field selects all.
type Query struct {
	// Since is the earliest end of a call.
	Since time.Time
	// Tool is the full name of a tool, or the name of a plugin.
	Tool string
	// Client is the name of a client.
	Client string
	// Text is a part of the tool's name, the client, the site, the error or the arguments, in
	// any case of letters.
	Text string
	// HasFailed selects the calls that failed or were cancelled.
	HasFailed bool
	// Before is the Next of an earlier page; empty for the newest records.
	Before string
	// Limit is the maximum number of records; 0 means all.
	Limit int
}

// Entry is one record and the line from which the record was read.
type Entry struct {
	Record
	// Line is the JSON text from the file.
	Line []byte
}

// Page is a part of the selected records, newest first.
type Page struct {
	Entries []Entry
	// Next is the Before of the query for the next page; empty after the oldest record. A page
	// with a Next may have no entries.
	Next string
}

// ReadAll returns the selected records, newest first. The files are in the state folder
// stateDir.
func ReadAll(stateDir string, q Query) ([]Entry, error) {
	var entries []Entry
	limit := q.Limit
	for {
		page, err := readPage(filepath.Join(stateDir, folderName), q)
		if err != nil {
			return nil, err
		}
		entries = append(entries, page.Entries...)
		if page.Next == "" || limit > 0 && len(entries) >= limit {
			return entries, nil
		}
		q.Before, q.Limit = page.Next, limit-len(entries)
	}
}

// readPage returns the next selected records in the folder dir. readPage returns ErrCursor
// for a malformed Before.
func readPage(dir string, q Query) (Page, error) {
	s := newSearch(q)
	first, offset, err := parseCursor(q.Before)
	if err != nil {
		return Page{}, err
	}
	err = s.run(dir, first, offset)
	return Page{Entries: s.entries, Next: s.next}, err
}

// Find returns the record of a call. The files are in the state folder stateDir.
func Find(stateDir, callID string) (e Entry, ok bool, err error) {
	return find(filepath.Join(stateDir, folderName), callID)
}

// find returns the record of a call from the folder dir.
func find(dir, callID string) (e Entry, ok bool, err error) {
	s := newSearch(Query{Limit: 1})
	s.callID, s.bytesLeft = callID, 1<<62
	s.needles = append(s.needles, needleOf(callID))
	err = s.run(dir, fileName{}, 0)
	if err != nil || len(s.entries) == 0 {
		return Entry{}, false, err
	}
	return s.entries[0], true, nil
}

// parseCursor returns the file and the offset of a cursor. An empty cursor is the end of
// the newest file, which is the zero fileName.
func parseCursor(cursor string) (name fileName, offset int64, err error) {
	if cursor == "" {
		return fileName{}, 0, nil
	}
	file, number, _ := strings.Cut(cursor, ":")
	name, ok := parseFileName(file)
	offset, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || offset < 0 {
		return fileName{}, 0, ErrCursor
	}
	return name, offset, nil
}

// search reads records, newest first.
type search struct {
	query     Query
	text      string // the lower-case text of the query
	callID    string
	needles   [][]byte // texts that each matching line contains
	bytesLeft int64

	entries []Entry
	next    string
	isDone  bool
}

func newSearch(q Query) *search {
	s := &search{query: q, text: strings.ToLower(q.Text), bytesLeft: maxPageBytes}
	for _, text := range []string{q.Tool, q.Client} {
		if text != "" {
			s.needles = append(s.needles, needleOf(text))
		}
	}
	return s
}

// needleOf returns a text as it is within a JSON string.
func needleOf(text string) []byte {
	quoted := rawjson.Encode(text)
	return quoted[1 : len(quoted)-1]
}

// run reads the files of a folder, from a cursor on.
func (s *search) run(dir string, first fileName, offset int64) error {
	names, err := listFiles(dir)
	if err != nil {
		return err
	}
	for i := len(names) - 1; i >= 0 && !s.isDone; i-- {
		name, end := names[i], int64(-1)
		if first != (fileName{}) {
			switch c := name.compare(first); {
			case c > 0:
				continue
			case c == 0:
				end = offset
			}
		}
		if !s.query.Since.IsZero() && name.day < s.query.Since.Add(-orderSlack).UTC().Format(time.DateOnly) {
			return nil
		}
		if err := s.readFile(filepath.Join(dir, name.String()+fileSuffix), name, end); err != nil {
			return fmt.Errorf("read the recorded calls: %w", err)
		}
	}
	return nil
}

// readFile reads a file from the offset end backward; -1 means the end of the file.
func (s *search) readFile(path string, name fileName, end int64) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // an old file was removed
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if end < 0 || end > info.Size() {
		end = info.Size()
	}
	return readBackward(file, end, func(line []byte, start int64) bool {
		s.visit(line)
		s.bytesLeft -= int64(len(line)) + 1
		if !s.isDone && (s.query.Limit > 0 && len(s.entries) >= s.query.Limit || s.bytesLeft <= 0) {
			s.isDone, s.next = true, fmt.Sprintf("%s:%d", name, start)
		}
		return !s.isDone
	})
}

// visit adds the record of a line if it is selected. A damaged line is skipped.
func (s *search) visit(line []byte) {
	for _, needle := range s.needles {
		if !bytes.Contains(line, needle) {
			return
		}
	}
	var r Record
	if json.Unmarshal(line, &r) != nil || r.CallID == "" {
		return
	}
	if since := s.query.Since; !since.IsZero() && r.endedAt().Before(since) {
		s.isDone = r.endedAt().Before(since.Add(-orderSlack))
		return
	}
	if s.selects(&r) {
		s.entries = append(s.entries, Entry{r, bytes.Clone(line)})
	}
}

// endedAt returns when the call ended.
func (r *Record) endedAt() time.Time {
	if r.Ended == nil {
		return r.Created
	}
	return *r.Ended
}

// selects reports whether the query selects a record, apart from its time.
func (s *search) selects(r *Record) bool {
	q := &s.query
	client := r.ToClient().String()
	switch {
	case s.callID != "" && r.CallID != s.callID,
		q.Tool != "" && r.ToolName != q.Tool && r.Plugin != q.Tool,
		q.Client != "" && r.Client != q.Client && r.ClaimedName != q.Client && client != q.Client,
		q.HasFailed && r.Status != wire.StatusFailed && r.Status != wire.StatusCancelled:
		return false
	case s.text == "":
		return true
	}
	for _, text := range []string{r.ToolName, client, r.Site, r.Error, string(r.ErrorCode), string(r.Args)} {
		if strings.Contains(strings.ToLower(text), s.text) {
			return true
		}
	}
	return false
}
