package linefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func writeChain(path string, o Options, firstSeq, lastSeq int) {
	o = testOptions(o)
	o.IsChained, o.Dropped = true, func(n int) []byte { return fmt.Appendf(nil, "{\"dropped\":%d}\n", n) }
	l := Open(path, o)
	for n := firstSeq; n <= lastSeq; n++ {
		l.Write(fmt.Appendf(nil, "{\"n\":%d,\"time\":\"2026-03-02T00:00:00Z\"}\n", n))
	}
	l.Close()
}

func verifyChain(t *testing.T, path string) string {
	t.Helper()
	v, err := Verify(path, testFiles)
	if err != nil {
		t.Fatal(err)
	}
	summary := fmt.Sprintf("%d in %d", v.Lines, v.Files)
	if v.LinesBeforeChain > 0 {
		summary += fmt.Sprintf(", %d before", v.LinesBeforeChain)
	}
	if p := v.Problem; p != nil {
		summary += fmt.Sprintf(", %s:%d %s", filepath.Base(p.File), p.Line, p.Text)
	}
	return summary
}

func TestVerifyIntactChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if got := verifyChain(t, path); got != "0 in 0" {
		t.Errorf("verification without a file = %s, want 0 in 0", got)
	}
	writeChain(path, Options{}, 1, 3)
	writeChain(path, Options{}, 4, 4)
	if got := verifyChain(t, path); got != "4 in 1" {
		t.Error(got)
	}
	lines := readLog(t, path)
	var secondRecord struct {
		Seq, N int
		Prev   string
	}
	if err := json.Unmarshal([]byte(lines[1]), &secondRecord); err != nil || secondRecord.Seq != 2 || secondRecord.N != 2 || secondRecord.Prev != hashLine([]byte(lines[0])) {
		t.Errorf("second line of the log = %s, error %v; want the number 2 and the hash of the first line", lines[1], err)
	}
	if lines[0] != `{"seq":1,"n":1,"time":"2026-03-02T00:00:00Z"}` {
		t.Errorf("first line of the log = %s, want the number 1 and no hash", lines[0])
	}
	for _, file := range []string{path, path + headFileSuffix, path + ".lock"} {
		if fileInfo, err := os.Stat(file); err != nil || fileInfo.Mode().Perm()&0o077 != 0 && file != path+".lock" {
			t.Errorf("file %s: %v, error %v; want an existing file that only the user can read, unless it is the lock file", file, fileInfo, err)
		}
	}
}

// The hash chain must stay valid when rotation removes the oldest log file.
func TestChainContinuesAfterRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	for n := 1; n <= 40; n++ {
		writeChain(path, Options{FileBytes: 500}, n, n)
		if got := verifyChain(t, path); strings.Contains(got, ",") {
			t.Fatalf("verification after %d records = %s, want no problem", n, got)
		}
	}
	if err := os.Remove(path + ".4"); err != nil {
		t.Fatal(err)
	}
	if got := verifyChain(t, path); !strings.Contains(got, ", lines.3:1 Records 1 to ") {
		t.Errorf("verification without the oldest file = %s, want a problem at line 1 of lines.3", got)
	}
}

func TestVerifyDetectsChanges(t *testing.T) {
	changeLines := func(pluginChange func(lines []string) []string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			fileContent, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := pluginChange(strings.SplitAfter(strings.TrimSuffix(string(fileContent), "\n"), "\n"))
			fileContent = []byte(strings.Join(lines, ""))
			if !bytes.HasSuffix(fileContent, []byte("\n")) {
				fileContent = append(fileContent, '\n')
			}
			if err := os.WriteFile(path, fileContent, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		pluginChange func(t *testing.T, path string)
		want         string
	}{
		"edit": {changeLines(func(l []string) []string { l[2] = strings.Replace(l[2], `"n":3`, `"n":7`, 1); return l }), "3 in 1, lines:3 Record 3 was changed after it was written."},
		"edit of the last": {changeLines(func(l []string) []string { l[5] = strings.Replace(l[5], `"n":6`, `"n":7`, 1); return l }),
			"6 in 1, lines:6 Record 6 was changed after it was written."},
		"removal":          {changeLines(func(l []string) []string { return append(l[:2], l[4:]...) }), "2 in 1, lines:3 Records 3 to 4 are missing before this line."},
		"removal at start": {changeLines(func(l []string) []string { return l[2:] }), "0 in 1, lines:1 Records 1 to 2 are missing before this line."},
		"truncation":       {changeLines(func(l []string) []string { return l[:4] }), "4 in 1, lines:4 Records 5 to 6 are missing after this line."},
		"repetition":       {changeLines(func(l []string) []string { return append(l[:3], l[1:]...) }), "3 in 1, lines:4 This line is record 2, but it follows record 3."},
		"insertion": {changeLines(func(l []string) []string {
			return append(l[:3], append([]string{"{\"n\":9,\"time\":\"2026-03-02T00:00:00Z\"}\n"}, l[3:]...)...)
		}), ""},
		"garbage":        {changeLines(func(l []string) []string { l[3] = "{half\n"; return l }), "3 in 1, lines:4 This line is not a record."},
		"removal of all": {func(t *testing.T, path string) { removeFile(t, path) }, "0 in 0, lines:0 Records 1 to 6 are missing."},
		"insertion at start": {changeLines(func(l []string) []string {
			return append([]string{"{\"n\":9,\"time\":\"2026-03-02T00:00:00Z\"}\n", "{\"n\":9,\"time\":\"2026-03-01T00:00:00Z\"}\n"}, l...)
		}),
			"0 in 1, 2 before, lines:1 This line has no number, but it is not older than the first record with a number: it was changed or inserted."},
		"garbage at start":  {changeLines(func(l []string) []string { return append([]string{"{\"n\":9}\n"}, l...) }), "0 in 1, lines:1 This line is not a record."},
		"removal of head":   {func(t *testing.T, path string) { removeFile(t, path+headFileSuffix) }, "6 in 1, lines.head:0 This file is missing, so lines that are missing at the end of the log cannot be noticed."},
		"damage of head":    {func(t *testing.T, path string) { writeFile(t, path+headFileSuffix, "{}") }, "0 in 0, lines.head:0 This file is damaged, so lines that are missing at the end of the log cannot be noticed."},
		"an old head":       {func(t *testing.T, path string) { writeOldHead(t, path) }, "6 in 1"},
		"an incomplete end": {func(t *testing.T, path string) { appendFile(t, path, `{"seq":7,"pr`) }, "6 in 1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lines")
			writeChain(path, Options{}, 1, 6)
			c.pluginChange(t, path)
			if c.want == "" {
				c.want = "3 in 1, lines:4 This line is not part of the chain: an older version of opentabs or another program wrote it after record 3."
			}
			if got := verifyChain(t, path); got != c.want {
				t.Errorf("verification = %s\nwant %s", got, c.want)
			}
			isIntact := !strings.Contains(c.want, ",")
			writeChain(path, Options{}, 7, 8)
			got := verifyChain(t, path)
			if isHeadFileProblem := strings.Contains(c.want, headFileSuffix); !isHeadFileProblem && strings.Contains(got, ",") == isIntact {
				t.Errorf("verification with later records = %s, want a problem only if the chain was changed", got)
			}
		})
	}
}

func removeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, fileContent string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendFile(t *testing.T, path, fileContent string) {
	t.Helper()
	oldContent, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(oldContent)+fileContent)
}

func writeOldHead(t *testing.T, path string) {
	t.Helper()
	if err := writeHeadFile(path, chainLink{4, hashLine([]byte(readLog(t, path)[3]))}); err != nil {
		t.Fatal(err)
	}
}

func TestEarlierLinesAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	writeFile(t, path, "{\"n\":1,\"time\":\"2026-03-01T23:59:59Z\"}\n{\"n\":2,\"time\":\"2026-03-01T00:00:00Z\"}\n")
	if got := verifyChain(t, path); got != "0 in 1, 2 before" {
		t.Error(got)
	}
	writeChain(path, Options{}, 3, 5)
	if got := verifyChain(t, path); got != "3 in 1, 2 before" {
		t.Error(got)
	}
	v, err := Verify(path, testFiles)
	if want := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC); err != nil || !v.FirstTime.Equal(want) {
		t.Errorf("the chain begins at %v, error %v; want %v", v.FirstTime, err, want)
	}
}

func TestConcurrentChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 10 {
				writeChain(path, Options{FileBytes: 4000}, w*100+n, w*100+n)
			}
		})
	}
	wg.Wait()
	if got := verifyChain(t, path); !strings.HasPrefix(got, "40 in ") || strings.Contains(got, ",") {
		t.Error(got)
	}
}
