package browser

import (
	"regexp"
	"strings"
	"testing"

	"opentabs/plugin/policy"
)

func TestToolFileIsStored(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	f.output = `{"text":"2 requests.","file":{"extension":"../har","mimeType":"application/json","text":"{}"},"page":{"url":"https://shop.example/","title":"Cart"}}`
	snapshot := f.mustRun(0, "claude", "browser_snapshot", `{}`)
	files, err := f.files.List()
	if err != nil || len(files) != 1 {
		t.Fatalf("stored files after one call = %+v, error %v; want one file and no error", files, err)
	}
	name := files[0].Name
	if !regexp.MustCompile(`^shop\.example-\d{8}-\d{6}\.har$`).MatchString(name) {
		t.Errorf("name of the stored file = %q, want the host, the time and the suffix without a slash", name)
	}
	want := regexp.MustCompile(`(?m)^file: ` + regexp.QuoteMeta(files[0].URI()) + `, "` + regexp.QuoteMeta(name) + `", 2 bytes\.`)
	if !want.MatchString(snapshot) {
		t.Errorf("result of a tool that wrote a file = %q, want a line that matches %s", snapshot, want)
	}
	if _, content, err := f.files.Read(files[0].ID, "claude"); err != nil || string(content) != "{}" {
		t.Errorf("stored content = %q, error %v; want {} and no error", content, err)
	}
	if _, _, err := f.files.Read(files[0].ID, "cursor"); err == nil {
		t.Error("another client read the file, want an error")
	}
	f.output = `{"text":"Saved.","file":{"extension":"pdf","mimeType":"application/pdf","data":"JVBERg=="},"page":{"url":"https://shop.example/","title":"Cart"}}`
	f.mustRun(0, "claude", "browser_snapshot", `{}`)
	if files, _ := f.files.List(); len(files) != 2 || files[1].SizeBytes != 4 {
		t.Errorf("stored files after a PDF = %+v, want a second file with the 4 decoded bytes", files)
	}
}

func TestFileOfForbiddenSiteIsNotStored(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{`,"page":{"url":"https://bank.example/","title":"Bank"}`, ``} {
		f.output = `{"text":"Done.","file":{"extension":"har","mimeType":"application/json","text":"{}"}` + page + `}`
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
	}
	if files, err := f.files.List(); err != nil || len(files) != 0 {
		t.Errorf("stored files of a forbidden site = %+v, error %v; want no files and no error", files, err)
	}
}

func TestDownloadName(t *testing.T) {
	longName := strings.Repeat("é", 200)
	for address, want := range map[string]string{
		"https://a.example/x/report.pdf?file=setup.exe#a.sh": "report.pdf",
		"https://a.example":                          "download",
		"https://a.example/x/":                       "x",
		"https://a.example/..":                       "download",
		"https://a.example/..%2f..%2fetc%2fpasswd":   "passwd",
		"https://a.example/..%5C..%5Cevil.exe":       "evil.exe",
		"https://a.example/.bashrc":                  "bashrc",
		"https://a.example/setup.exe.%20.":           "setup.exe",
		"https://a.example/a%00b%0ac%1f.pdf":         "abc.pdf",
		"https://a.example/fdp.%E2%80%AEexe":         "fdp.exe",
		"https://a.example/x.e%E2%80%8Bxe":           "x.exe",
		"https://a.example/a%3Ab%2A%7C%22%3C%3E.txt": "a_b_____.txt",
		"https://a.example/setup.exe::$DATA":         "setup.exe__$DATA",
		"https://a.example/%25APPDATA%25.txt":        "_APPDATA_.txt",
		"https://a.example/CON":                      "_CON",
		"https://a.example/com1.txt":                 "_com1.txt",
		"https://a.example/lpt%C2%B2.txt":            "_lpt².txt",
		"https://a.example/nul%20.x.txt":             "_nul .x.txt",
		"https://a.example/company.txt":              "company.txt",
		"https://a.example/Desktop.ini":              "_Desktop.ini",
		"https://a.example/%ff.pdf":                  "_.pdf",
		"https://a.example/%C3%A9t%C3%A9.pdf":        "été.pdf",
		"https://a.example/" + longName + ".exe":     strings.Repeat("é", 58) + ".exe",
		"https://a.example/a." + longName:            "a." + strings.Repeat("é", 59),
	} {
		if got := downloadName(address); got != want {
			t.Errorf("downloadName(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestIsProgram(t *testing.T) {
	for _, name := range strings.Fields("a.exe a.MSI a.sh a.bat a.cmd a.ps1 a.app a.dmg a.deb a.rpm a.jar a.vbs a.js a.scr a.lnk a.desktop a.pdf.exe A.AppImage a.py") {
		if !isProgram(name) {
			t.Errorf("isProgram(%q) = false, want true", name)
		}
	}
	for _, name := range strings.Fields("a.pdf a.tar.gz a.zip exe a.exe.txt sh download a.json a.docx") {
		if isProgram(name) {
			t.Errorf("isProgram(%q) = true, want false", name)
		}
	}
}
