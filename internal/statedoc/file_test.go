package statedoc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/statefile"
)

func pluginsFile(t *testing.T) (File[*Plugins], *[]string) {
	t.Helper()
	var warnings []string
	return File[*Plugins]{
		Path: filepath.Join(t.TempDir(), "state", "file.json"), Subject: "the list", LossWarning: "nothing is left",
		Warn:       func(warning string) { warnings = append(warnings, warning) },
		NewContent: NewPlugins, Parse: ParsePlugins, Encode: (*Plugins).Encode,
	}, &warnings
}

func setNote(noteText string) func(*Plugins) error {
	return func(p *Plugins) error {
		p.EditPlugin("a", func(entry Object) { entry.Put("note", noteText) })
		return nil
	}
}

func noteOf(p *Plugins) (noteText string) {
	DecodeInto(p.TopLevel.Child("plugins").Child("a")["note"], &noteText)
	return noteText
}

func writeText(t *testing.T, path, documentText string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(documentText), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestChangeFile(t *testing.T) {
	file, warnings := pluginsFile(t)
	if p, err := file.Read(); err != nil || noteOf(p) != "" {
		t.Errorf("Read of a missing file = %+v, error %v; want empty content", p, err)
	}
	if err := file.Change(setNote("one")); err != nil {
		t.Fatal(err)
	}
	errEdit := errors.New("refused")
	editContent := func(p *Plugins) error { return errors.Join(setNote("two")(p), errEdit) }
	if err := file.Change(editContent); !errors.Is(err, errEdit) {
		t.Errorf("Change with a failing edit returned %v; want the error %v", err, errEdit)
	}
	if p, err := file.Read(); err != nil || noteOf(p) != "one" || len(*warnings) != 0 {
		t.Errorf("Read after a failed edit = %+v, error %v, warnings %q; want the note one and no warnings", p, err, *warnings)
	}
}

// A file that a newer opentabs wrote, and a file that cannot be read, must keep their name and content.
func TestDamagedFileIsRenamed(t *testing.T) {
	file, warnings := pluginsFile(t)
	writeText(t, file.Path, `{"version":1`)
	if err := file.Change(setNote("one")); err != nil {
		t.Fatal(err)
	}
	corruptFiles, _ := filepath.Glob(file.Path + ".corrupt-*")
	if p, err := file.Read(); err != nil || noteOf(p) != "one" || len(corruptFiles) != 1 {
		t.Fatalf("Read = %+v, error %v, renamed files %q; want the note one and one renamed file", p, err, corruptFiles)
	}
	if want := "the list in " + file.Path + " was damaged and is kept as " + corruptFiles[0] + "; nothing is left"; len(*warnings) != 1 || (*warnings)[0] != want {
		t.Errorf("warnings %q, want %q", *warnings, want)
	}
	writeText(t, file.Path, `{"version":2}`)
	if err := file.Change(setNote("one")); err == nil || !strings.Contains(err.Error(), file.Path+" has version 2, but this opentabs reads only version 1") {
		t.Errorf("Change of a file of a newer version returned %v; want an error that contains %q", err, file.Path+" has version 2, but this opentabs reads only version 1")
	}
	if documentText, err := os.ReadFile(file.Path); err != nil || string(documentText) != `{"version":2}` || len(*warnings) != 1 {
		t.Errorf("file of a newer version = %s, error %v, warnings %q; want it unchanged and one warning", documentText, err, *warnings)
	}
	if err := errors.Join(os.Remove(file.Path), os.Mkdir(file.Path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(); err == nil || !strings.HasPrefix(err.Error(), "read the list: ") {
		t.Errorf("Read of a folder returned %v; want an error that begins with %q", err, "read the list: ")
	}
}

func TestFileIsLocked(t *testing.T) {
	file, _ := pluginsFile(t)
	writeText(t, file.Path, `{"version":1}`)
	unlock, err := statefile.Lock(file.Path+".lock", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := file.Change(setNote("one")); err == nil || !strings.HasPrefix(err.Error(), "the list is being changed by another opentabs ("+file.Path+".lock has been locked for 0s)") {
		t.Errorf("Change of a locked file returned %v; want an error that begins with %q", err, "the list is being changed by another opentabs ("+file.Path+".lock has been locked for 0s)")
	}
}

func TestParsePlugins(t *testing.T) {
	for documentText, want := range map[string]string{
		"":                           "is not valid JSON at line 1, column 1",
		"{\n\"version\": }":          "is not valid JSON at line 2, column 12",
		"[]":                         "is an array instead of an object",
		"null":                       "is null instead of an object",
		"{}":                         "has no version",
		`{"version":"1"}`:            "has no version",
		`{"version":0}`:              "has no version",
		`{"version":1,"plugins":[]}`: "has plugins that are an array instead of an object",
	} {
		var damagedError *DamagedError
		if _, err := ParsePlugins([]byte(documentText)); !errors.As(err, &damagedError) || !strings.HasPrefix(damagedError.Problem, want) {
			t.Errorf("ParsePlugins(%q) returned %v, want %s", documentText, err, want)
		}
	}
}

func TestPluginsKeepUnknownMembers(t *testing.T) {
	p, err := ParsePlugins([]byte("\ufeff" + `{"version":1,"later":[1],"plugins":{"a":{"note":"x","own":{"b":1}},"c":{"note":"y"},"d":7}}`))
	if err != nil {
		t.Fatal(err)
	}
	p.EditPlugin("a", func(entry Object) {
		entry.Put("note", "")
		entry.Put("list", nil)
		entry.Put("empty", Object{})
		if len(entry.Child("own")) != 1 || len(entry.Child("nowhere")) != 0 {
			t.Errorf("entry of the plugin = %s, want one member in own and none in nowhere", entry)
		}
	})
	p.EditPlugin("c", func(entry Object) { clear(entry) })
	p.EditPlugin("d", func(entry Object) { entry.Put("note", "z") })
	const want = `{"later":[1],"plugins":{"a":{"own":{"b":1}},"d":{"note":"z"}},"version":1}`
	if got := strings.Join(strings.Fields(string(p.Encode())), ""); got != want {
		t.Errorf("encoded file:\ngot  %s\nwant %s", got, want)
	}
}

func TestWatchedFileReadsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, warnings := pluginsFile(t)
		var readCount, notifiedCount atomic.Int32
		w := NewWatched(file, noteOf, "nothing", func(ReadResult[string]) { readCount.Add(1) })
		w.OnChange(func() { notifiedCount.Add(1) })
		go w.Watch(t.Context())
		checkReadResult := func(noteText, problemText string, wantReadCount, wantNotifyCount int32) {
			t.Helper()
			waitForNextCheck()
			r := w.latest.Load()
			documentText := ""
			if r.Problem != nil {
				documentText = r.Problem.Error()
			}
			if r.View != noteText || !strings.HasPrefix(documentText, problemText) || problemText == "" && documentText != "" || readCount.Load() != wantReadCount || notifiedCount.Load() != wantNotifyCount {
				t.Errorf("view %q, problem %q, %d readings, %d notifications; want the values of this step", r.View, documentText, readCount.Load(), notifiedCount.Load())
			}
		}
		checkReadResult("nothing", "", 1, 0)
		writeText(t, file.Path, `{"version":1,"plugins":{"a":{"note":"one"}}}`)
		checkReadResult("one", "", 2, 1)
		if err := w.Change(setNote("two, longer")); err != nil || w.Path() != file.Path {
			t.Fatal(err)
		}
		checkReadResult("two, longer", "", 3, 1)
		if err := w.Repair(); err != nil {
			t.Error(err)
		}
		writeText(t, file.Path, "damaged")
		checkReadResult("nothing", file.Path+" is not valid JSON", 4, 2)
		if err := w.Repair(); err != nil || len(*warnings) != 1 {
			t.Errorf("Repair returned %v, warnings %q; want no error and one warning", err, *warnings)
		}
		checkReadResult("", "", 5, 3)
		if err := errors.Join(os.Remove(file.Path), os.Mkdir(file.Path, 0o700)); err != nil {
			t.Fatal(err)
		}
		checkReadResult("nothing", "read the list: ", 6, 4)
		checkReadResult("nothing", "read the list: ", 6, 4)
		if err := os.Remove(file.Path); err != nil {
			t.Fatal(err)
		}
		checkReadResult("nothing", "", 7, 5)
	})
}

func waitForNextCheck() {
	time.Sleep(watchInterval)
	synctest.Wait()
}
