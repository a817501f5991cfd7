package dispatchtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/goldentest"
	"opentabs/wire"
)

// The function View must set every field, so that a new field of a call appears in the golden files
// of all surfaces.
func TestViewSetsEveryField(t *testing.T) {
	checkAllFieldsSet(t, reflect.ValueOf(View()), "View")
}

func checkAllFieldsSet(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	switch {
	case v.IsZero():
		t.Errorf("the field %s of the view is zero, want every field set", path)
	case v.Kind() == reflect.Pointer:
		checkAllFieldsSet(t, v.Elem(), path)
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			checkAllFieldsSet(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for f := range v.Type().Elem().NumField() {
			isSet := false
			for i := range v.Len() {
				isSet = isSet || !v.Index(i).Field(f).IsZero()
			}
			if !isSet {
				t.Errorf("in the elements of %s, the field %s is zero, want every field set", path, v.Type().Elem().Field(f).Name)
			}
		}
	}
}

func TestCallViewJSON(t *testing.T) {
	progress := 0.5
	var b bytes.Buffer
	for _, v := range []any{View(), dispatch.View{}} {
		encodedJSON, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(encodedJSON, '\n'))
	}
	for _, e := range []dispatch.Event{
		{Kind: dispatch.EventCreated},
		{Kind: dispatch.EventProgress, Report: &wire.Report{Progress: &progress, Message: "half", Status: "indexing", Audience: "user"}, Audience: "user"},
		{Kind: dispatch.EventActivity, Activity: &wire.Activity{Type: "table", Content: json.RawMessage(`[]`)}},
		{Kind: dispatch.EventActivity, Activity: &wire.Activity{Type: "table", Patch: json.RawMessage(`[]`)}},
		{Kind: dispatch.EventResumed, Resolution: Resolution()},
		{Kind: dispatch.EventEnded, Audience: dispatch.AudienceUser},
	} {
		e.Seq, e.Time, e.Call = 7, ArrivalTime, View()
		b.Write(append(e.JSON(), '\n'))
	}
	goldentest.Compare(t, "testdata/calls.jsonl", b.Bytes())
}
