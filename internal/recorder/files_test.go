package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/wire"
)

func TestReadBackward(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var fileContent []byte
		var lines []string
		for range random.IntN(8) {
			line := strings.Repeat(string(rune('a'+len(lines))), random.IntN(3)*random.IntN(blockBytes)+random.IntN(3))
			lines = append(lines, line)
			fileContent = append(fileContent, line+"\n"...)
		}
		completeBytes := len(fileContent)
		fileContent = append(fileContent, strings.Repeat("z", random.IntN(2)*random.IntN(2*blockBytes))...)
		var got []string
		err := readBackward(bytes.NewReader(fileContent), int64(len(fileContent)), func(line []byte, startOffset int64) bool {
			got = append(got, string(line))
			if !bytes.Equal(fileContent[startOffset:int(startOffset)+len(line)], line) {
				t.Fatalf("readBackward returned the offset %d for a line that begins elsewhere, want the start of the line", startOffset)
			}
			return true
		})
		slices.Reverse(got)
		if err != nil || !slices.Equal(got, lines) {
			t.Fatalf("readBackward visited %d of %d lines in %d bytes, error %v; want all lines, last line first", len(got), len(lines), completeBytes, err)
		}
	}
}

func writeDay(t *testing.T, dir, name string, endedTime time.Time, records int) {
	t.Helper()
	folder := filepath.Join(dir, folderName)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var fileContent []byte
	for i := range records {
		c := testOptions.newQueuedCall(endedCallOf(fmt.Sprintf("call_%s_%d", name, i), "messages__post", endedTime.Add(time.Duration(i)*time.Second)), CallFacts{})
		fileContent = append(append(fileContent, encode(t, c.newRecord(&valueCleaner{}))...), '\n')
	}
	if err := os.WriteFile(filepath.Join(folder, name+fileSuffix), fileContent, 0o600); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	fileContent, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return fileContent
}

func TestReadPageWithQueries(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	writeDay(t, dir, "2026-11-20", day, 3)
	writeDay(t, dir, "2026-11-21", day.AddDate(0, 0, 1), 2)
	writeDay(t, dir, "2026-11-21.1", day.AddDate(0, 0, 1).Add(time.Hour), 2)
	writeDay(t, dir, "2026-11-21.10", day.AddDate(0, 0, 1).Add(2*time.Hour), 1)
	const want = "call_2026-11-21.10_0 call_2026-11-21.1_1 call_2026-11-21.1_0 call_2026-11-21_1 call_2026-11-21_0 call_2026-11-20_2 call_2026-11-20_1 call_2026-11-20_0"
	for limit := 1; limit <= 9; limit++ {
		var ids []string
		q := Query{Limit: limit}
		for {
			page, err := readPage(filepath.Join(dir, folderName), q)
			if err != nil || len(page.Entries) > limit {
				t.Fatalf("ReadPage returned a page of %d records, error %v; want at most the limit", len(page.Entries), err)
			}
			if len(page.Entries) > 0 {
				ids = append(ids, joinCallIDs(page.Entries))
			}
			if q.Before = page.Next; page.Next == "" {
				break
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("IDs in pages of %d records = %s, want all records once, newest first", limit, got)
		}
	}
	for _, c := range []struct {
		query Query
		want  int
	}{
		{Query{Tool: "messages"}, 8}, {Query{Tool: "messages__post"}, 8}, {Query{Tool: "messages__pos"}, 0}, {Query{Tool: "post"}, 0},
		{Query{Client: "Cursor"}, 8}, {Query{Client: "cursor"}, 0}, {Query{OnlyFailed: true}, 0}, {Query{Text: "CURS"}, 8}, {Query{Text: `"`}, 0},
		{Query{Since: day.AddDate(0, 0, 1)}, 5}, {Query{Since: day.AddDate(0, 0, 1).Add(time.Hour + time.Second)}, 2}, {Query{Since: day.AddDate(0, 1, 0)}, 0},
		{Query{Limit: 3}, 3},
	} {
		if got := readAllEntries(t, dir, c.query); len(got) != c.want {
			t.Errorf("the query %+v selects the calls %s, want %d calls", c.query, joinCallIDs(got), c.want)
		}
	}
}

func TestPageWithoutMatchesHasCursor(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	writeDay(t, dir, "2026-11-20", day, 1)
	const longRecords = 12
	path := filepath.Join(dir, folderName, "2026-11-21"+fileSuffix)
	line := `{"call_id":"call_long","error":"` + strings.Repeat("x", maxLineBytes-100) + `"}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, longRecords)), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := readPage(filepath.Join(dir, folderName), Query{Text: "call_2026-11-20_0", Limit: 10})
	if err != nil || len(page.Entries) != 0 || page.Next == "" {
		t.Fatalf("first page: %d records, next cursor %q, error %v; want no records and a cursor", len(page.Entries), page.Next, err)
	}
	if foundEntry, ok, err := Find(dir, "call_2026-11-20_0"); err != nil || !ok || foundEntry.Status != wire.StatusDone {
		t.Errorf("Find returned ok = %v, error %v; want the call with the status done", ok, err)
	}
}

func TestOldFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	f := recordFiles{dir: filepath.Join(dir, folderName), days: 3, maxBytes: 8000}
	defer f.close()
	line := []byte(strings.Repeat("x", 499) + "\n")
	now := time.Date(2026, 11, 20, 23, 59, 0, 0, time.UTC)
	listFileNames := func() string {
		t.Helper()
		names, err := listFiles(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		var wantedTexts []string
		for _, n := range names {
			wantedTexts = append(wantedTexts, n.String())
		}
		return strings.Join(wantedTexts, " ")
	}
	writeLines := func(lines int) {
		t.Helper()
		for range lines {
			if err := f.append(now, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 5 {
		writeLines(1)
		now = now.AddDate(0, 0, 1)
	}
	if got := listFileNames(); got != "2026-11-22 2026-11-23 2026-11-24" {
		t.Errorf("record files after 5 days = %s, want those of the last 3 days", got)
	}
	now = now.AddDate(0, 0, -1)
	writeLines(40)
	names := strings.Fields(listFileNames())
	if oldestFile, newestFile := names[0], names[len(names)-1]; len(names) != 8 || oldestFile <= "2026-11-24.1" && len(oldestFile) < 13 || newestFile != "2026-11-24.20" {
		t.Errorf("record files after 40 lines = %s, want 8 files up to 2026-11-24.20", listFileNames())
	}
	totalBytes := int64(0)
	for _, name := range names {
		fileInfo, err := os.Stat(filepath.Join(f.dir, name+fileSuffix))
		if err != nil {
			t.Fatal(err)
		}
		totalBytes += fileInfo.Size()
	}
	if totalBytes > f.maxBytes || totalBytes < f.maxBytes/2 {
		t.Errorf("the record files have %d bytes in total, want at most %d and at least half of it", totalBytes, f.maxBytes)
	}
	now = now.AddDate(0, 0, -2)
	writeLines(1)
	if got := strings.Fields(listFileNames()); got[len(got)-1] < "2026-11-24" {
		t.Errorf("record files after the clock was set back = %s, want no earlier day than 2026-11-24", got)
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("", 3600))
	for sinceText, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "7d": now.AddDate(0, 0, -7), "90m": now.Add(-90 * time.Minute),
		"2026-11-20": time.Date(2026, 11, 20, 0, 0, 0, 0, now.Location()), "2026-11-20T14:00:00Z": time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseSince(sinceText, now); err != nil || !got.Equal(want) {
			t.Errorf("ParseSince(%q) = %s, error %v; want %s", sinceText, got, err, want)
		}
	}
	for _, sinceText := range []string{"", "-2h", "yesterday", "20.11.2026", "-1d", "99999999d"} {
		if got, err := ParseSince(sinceText, now); err == nil {
			t.Errorf("ParseSince(%q) = %s, want an error", sinceText, got)
		}
	}
}
