package jsonread

import (
	"slices"
	"strings"
	"testing"
)

func readObject(objectJSON string) (*Reader, *Problems) {
	problems := &Problems{File: "package.json"}
	return New([]byte(objectJSON), "opentabs.", problems), problems
}

func problemTexts(p *Problems) string {
	var lines []string
	for _, buildProblem := range p.List {
		lines = append(lines, buildProblem.String())
	}
	return strings.Join(lines, "\n")
}

func TestReaderReturnsMembers(t *testing.T) {
	r, problems := readObject(`{"name":"a","name":"b","Name":"c","on":true,"off":false,"none":null,"list":["x","y"],"empty":[],"in":{"deep":{"n":"z"}}}`)
	if got := r.Text("name", "write it"); got != "b" {
		t.Errorf("Text(\"name\") = %q, want the value \"b\" of the last member with exactly this name", got)
	}
	if got := r.OptionalText("NAME"); got != "" {
		t.Errorf("OptionalText(\"NAME\") = %q, want an empty text", got)
	}
	if on, off, noneValue := r.Bool("on"), r.Bool("off"), r.Bool("none"); on == nil || !*on || off == nil || *off || noneValue != nil {
		t.Errorf("Bool returned %v for true, %v for false, %v for null; want true, false and nil", on, off, noneValue)
	}
	if r.Has("none") || r.Has("absent") || !r.Has("empty") {
		t.Error("Has is wrong for null, an absent member or an empty array; want false, false and true")
	}
	if got := r.Strings("list"); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("Strings(\"list\") = %q, want x and y", got)
	}
	if got := r.Strings("empty"); got == nil || len(got) != 0 {
		t.Errorf("Strings of an empty array = %#v, want an empty slice that is not nil", got)
	}
	if r.Strings("absent") != nil || r.Object("absent") != nil {
		t.Error("Strings or Object of an absent member is not nil, want nil")
	}
	if got := r.Object("in").Object("deep").Text("n", ""); got != "z" {
		t.Errorf("value of the nested member = %q; want %q", got, "z")
	}
	if len(problems.List) != 0 {
		t.Errorf("problems of a correct object:\n%s\nwant none", problemTexts(problems))
	}
}

func TestReaderProblems(t *testing.T) {
	for _, testCase := range []struct {
		objectJSON string
		readMember func(*Reader) bool
		want       string
	}{
		{`{}`, func(r *Reader) bool { return r.Text("k", "write it") == "" }, "opentabs.k is missing; write it"},
		{`{"k":null}`, func(r *Reader) bool { return r.Text("k", "write it") == "" }, "opentabs.k is missing; write it"},
		{`{"k":" "}`, func(r *Reader) bool { return strings.TrimSpace(r.Text("k", "write it")) == "" }, "opentabs.k is empty; write it"},
		{`{"k":1}`, func(r *Reader) bool { return r.Text("k", "write it") == "" }, "opentabs.k is a number; make it a string"},
		{`{"k":[]}`, func(r *Reader) bool { return r.OptionalText("k") == "" }, "opentabs.k is an array; make it a string"},
		{`{"k":"true"}`, func(r *Reader) bool { return r.Bool("k") == nil }, "opentabs.k is a string; make it true or false"},
		{`{"k":"x"}`, func(r *Reader) bool { return r.Object("k") == nil }, "opentabs.k is a string; make it an object"},
		{`{"k":{}}`, func(r *Reader) bool { return r.Strings("k") == nil }, "opentabs.k is an object; make it an array of strings"},
		{`{"k":["a",true,"b"]}`, func(r *Reader) bool { return slices.Equal(r.Strings("k"), []string{"a", "b"}) },
			"opentabs.k[1] is a boolean; make it a string"},
		{`{"k":{"deep":1}}`, func(r *Reader) bool { return r.Object("k").OptionalText("deep") == "" }, "opentabs.k.deep is a number; make it a string"},
	} {
		r, problems := readObject(testCase.objectJSON)
		if !testCase.readMember(r) {
			t.Errorf("the Reader returned a wrong value for the object %s, want the value in the test case", testCase.objectJSON)
		}
		if got := problemTexts(problems); got != "package.json: "+testCase.want {
			t.Errorf("problems of the object %s:\n%s\nwant\npackage.json: %s", testCase.objectJSON, got, testCase.want)
		}
	}
}

func TestReaderRejectsHiddenText(t *testing.T) {
	r, problems := readObject("{\"k\":\"a\u202eb\",\"list\":[\"ok\",\"c\u200bd\"]}")
	if got, ok := r.TextOrFalse("k"); got != "" || ok {
		t.Errorf("TextOrFalse of a text with hidden characters = %q, %t; want an empty text and false", got, ok)
	}
	if got := r.Strings("list"); !slices.Equal(got, []string{"ok"}) {
		t.Errorf("Strings of a list with a hidden character = %q, want only \"ok\"", got)
	}
	if len(problems.List) != 2 || !strings.HasPrefix(problems.List[0].Text, "opentabs.k ") || !strings.HasPrefix(problems.List[1].Text, "opentabs.list[1] ") {
		t.Errorf("want problems about opentabs.k and opentabs.list[1], got\n%s", problemTexts(problems))
	}
}

func TestProblemWithoutPath(t *testing.T) {
	if got := (Problem{Text: "the package is empty"}).String(); got != "the package is empty" {
		t.Errorf("text of a problem without a file = %q; want %q", got, "the package is empty")
	}
}
