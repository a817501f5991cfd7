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

const maxPageBytes = 8 << 20

// Records are written in batches, so their order is not exactly the order in which the calls ended.
const maxOutOfOrderDelay = time.Minute

// ErrInvalidCursor is the error for a query whose cursor Before is malformed.
var ErrInvalidCursor = errors.New(`"before" is not the "next" of an earlier page of recorded calls`)

// Query selects the records of calls that match all of its fields. If a field has its zero
// value, the field matches every record.
type Query struct {
	// The field Since selects the calls that ended at or after the time Since.
	Since time.Time
	// Tool selects the calls of one tool by its full name, or of all tools of one plugin
	// by the plugin's name.
	Tool string
	// Client selects the calls of the MCP client with this name.
	Client string
	// Text selects the calls with this text in the tool's name, the client, the site, the
	// error or the arguments. The field Text is not case-sensitive.
	Text string
	// OnlyFailed selects the calls that failed, timed out or were cancelled.
	OnlyFailed bool
	// The field Before is the field Next of the previous [Page]; empty for the newest
	// records.
	Before string
	// Limit is the maximum number of records in the result; 0 means no limit.
	Limit int
}

// Entry is a record of a call, both decoded and as the original line of the record file.
type Entry struct {
	Record
	// Line is the JSON text of the record, as stored in the file.
	Line []byte
}

// Page is one page of the records that a query selects, newest first.
type Page struct {
	Entries []Entry
	// The field Next is the value of [Query.Before] for the next page; empty after the
	// oldest record. The field Next can be set even if the field Entries is empty, because
	// each page reads only a limited part of the files.
	Next string
}

// ReadAll returns the records that a query selects, newest first and at most Query.Limit.
// The argument stateDir is the path of the state folder.
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

func readPage(dir string, q Query) (Page, error) {
	s := newSearch(q)
	firstFile, offset, err := parseCursor(q.Before)
	if err != nil {
		return Page{}, err
	}
	err = s.run(dir, firstFile, offset)
	return Page{Entries: s.entries, Next: s.nextCursor}, err
}

// Find returns the record of one call; ok is false if the call has no record. The
// argument stateDir is the path of the state folder.
func Find(stateDir, callID string) (e Entry, ok bool, err error) {
	return find(filepath.Join(stateDir, folderName), callID)
}

func find(dir, callID string) (e Entry, ok bool, err error) {
	s := newSearch(Query{Limit: 1})
	s.callID, s.bytesLeft = callID, 1<<62
	s.requiredTexts = append(s.requiredTexts, encodeFilterText(callID))
	err = s.run(dir, fileName{}, 0)
	if err != nil || len(s.entries) == 0 {
		return Entry{}, false, err
	}
	e = s.entries[0]
	e.Undo, err = findUndo(dir, e)
	return e, true, err
}

const undoStateFailed = "failed"

func findUndo(dir string, e Entry) (*wire.CallUndo, error) {
	notes, err := findNotes(dir, NoteKindUndo, e.CallID, e.Created)
	if err != nil || len(notes) == 0 || notes[0].State == undoStateFailed {
		return nil, err
	}
	return &wire.CallUndo{State: wire.UndoState(notes[0].State), By: notes[0].By}, nil
}

// FindPrefix returns at most maxLength records of calls whose IDs begin with a prefix, newest
// first. The argument stateDir is the path of the state folder.
func FindPrefix(stateDir, prefix string, maxLength int) ([]Entry, error) {
	s := newSearch(Query{Limit: maxLength})
	s.idPrefix, s.bytesLeft = prefix, 1<<62
	s.requiredTexts = append(s.requiredTexts, append([]byte(`"call_id":"`), encodeFilterText(prefix)...))
	err := s.run(filepath.Join(stateDir, folderName), fileName{}, 0)
	return s.entries, err
}

// parseCursor parses a cursor such as "2026-11-23.1:4096" into a file name and an offset.
func parseCursor(cursor string) (name fileName, offset int64, err error) {
	if cursor == "" {
		return fileName{}, 0, nil
	}
	file, number, _ := strings.Cut(cursor, ":")
	name, ok := parseFileName(file)
	offset, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || offset < 0 {
		return fileName{}, 0, ErrInvalidCursor
	}
	return name, offset, nil
}

// The type search reads the records that match a query, newest first.
type search struct {
	query         Query
	searchText    string
	callID        string
	idPrefix      string
	requiredTexts [][]byte // texts that the JSON line of each matching record contains
	bytesLeft     int64

	entries    []Entry
	nextCursor string
	isDone     bool
}

func newSearch(q Query) *search {
	s := &search{query: q, searchText: strings.ToLower(q.Text), bytesLeft: maxPageBytes}
	for _, filterText := range []string{q.Tool, q.Client} {
		if filterText != "" {
			s.requiredTexts = append(s.requiredTexts, encodeFilterText(filterText))
		}
	}
	return s
}

func encodeFilterText(filterText string) []byte {
	quotedJSON := rawjson.Encode(filterText)
	return quotedJSON[1 : len(quotedJSON)-1]
}

func (s *search) run(dir string, firstFile fileName, offset int64) error {
	names, err := listFiles(dir)
	if err != nil {
		return err
	}
	for i := len(names) - 1; i >= 0 && !s.isDone; i-- {
		name, endOffset := names[i], int64(-1)
		if firstFile != (fileName{}) {
			switch c := name.compare(firstFile); {
			case c > 0:
				continue
			case c == 0:
				endOffset = offset
			}
		}
		if !s.query.Since.IsZero() && name.day < s.query.Since.Add(-maxOutOfOrderDelay).UTC().Format(time.DateOnly) {
			return nil
		}
		if err := s.readFile(filepath.Join(dir, name.String()+fileSuffix), name, endOffset); err != nil {
			return fmt.Errorf("read the recorded calls: %w", err)
		}
	}
	return nil
}

// If endOffset is -1, readFile starts at the end of the file.
func (s *search) readFile(path string, name fileName, endOffset int64) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	fileInfo, err := file.Stat()
	if err != nil {
		return err
	}
	if endOffset < 0 || endOffset > fileInfo.Size() {
		endOffset = fileInfo.Size()
	}
	return readBackward(file, endOffset, func(line []byte, startOffset int64) bool {
		s.visit(line)
		s.bytesLeft -= int64(len(line)) + 1
		if !s.isDone && (s.query.Limit > 0 && len(s.entries) >= s.query.Limit || s.bytesLeft <= 0) {
			s.isDone, s.nextCursor = true, fmt.Sprintf("%s:%d", name, startOffset)
		}
		return !s.isDone
	})
}

func (s *search) visit(line []byte) {
	for _, requiredText := range s.requiredTexts {
		if !bytes.Contains(line, requiredText) {
			return
		}
	}
	var r Record
	if json.Unmarshal(line, &r) != nil || r.CallID == "" {
		return
	}
	if since := s.query.Since; !since.IsZero() && r.endedAt().Before(since) {
		s.isDone = r.endedAt().Before(since.Add(-maxOutOfOrderDelay))
		return
	}
	if s.matchesQuery(&r) {
		s.entries = append(s.entries, Entry{r, bytes.Clone(line)})
	}
}

func (r *Record) endedAt() time.Time {
	if r.Ended == nil {
		return r.Created
	}
	return *r.Ended
}

func (s *search) matchesQuery(r *Record) bool {
	q := &s.query
	client := r.ToClient().String()
	switch {
	case s.callID != "" && r.CallID != s.callID, !strings.HasPrefix(r.CallID, s.idPrefix),
		q.Tool != "" && r.ToolName != q.Tool && r.Plugin != q.Tool,
		q.Client != "" && r.Client != q.Client && r.ClaimedName != q.Client && client != q.Client,
		q.OnlyFailed && !r.Status.IsFailure() && r.Status != wire.StatusCancelled:
		return false
	case s.searchText == "":
		return true
	}
	for _, fieldText := range []string{r.ToolName, client, r.Site, r.Error, string(r.ErrorCode), string(r.Args)} {
		if strings.Contains(strings.ToLower(fieldText), s.searchText) {
			return true
		}
	}
	return false
}
