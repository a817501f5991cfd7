package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestDecodeGolden(t *testing.T) {
	testedFrameCount := 0
	for _, g := range goldenBodies(t) {
		want := g.newBody()
		if err := json.Unmarshal(g.body, want); err != nil {
			t.Fatalf("json.Unmarshal(%s) returned the error %v; want no error", g.name, err)
		}
		got := g.newBody()
		var err error
		switch p := got.(type) {
		case *ToolDispatchResult:
			*p, err = DecodeDispatchResult(g.body)
		case *ToolProgressParams:
			*p, err = DecodeProgress(g.body)
		case *ToolPartParams:
			var resultText ResultText
			var quotedJSON []byte
			*p, quotedJSON, err = DecodeResultPart(g.body)
			resultText.Append(quotedJSON)
			p.Text = string(resultText.Join())
		case *HelloParams:
			p.Protocol, err = DecodeProtocol(g.body)
			want = &HelloParams{Protocol: Version}
		default:
			err = DecodeBody(g.body, got)
			testedFrameCount--
		}
		testedFrameCount++
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the golden body %s is decoded differently\n got %+v (error %v)\nwant %+v (no error)", g.name, got, err, want)
		}
	}
	if testedFrameCount < 9 {
		t.Errorf("the test decoded %d golden bodies, want at least 9", testedFrameCount)
	}
}

func TestDecodeMissingBody(t *testing.T) {
	var p CallResumedParams
	if err := DecodeBody(nil, &p); err != nil || p.DispatchIDs != nil {
		t.Errorf("DecodeBody(nil) decoded %+v with the error %v; want no fields and no error", p, err)
	}
	if p, err := DecodeProgress(nil); err != nil || !reflect.DeepEqual(p, ToolProgressParams{}) {
		t.Errorf("DecodeProgress(nil) = %+v, error %v; want no fields and no error", p, err)
	}
	if r, err := DecodeDispatchResult(nil); err != nil || !reflect.DeepEqual(r, ToolDispatchResult{}) {
		t.Errorf("DecodeDispatchResult(nil) = %+v, error %v; want no fields and no error", r, err)
	}
	if protocol, err := DecodeProtocol(nil); err != nil || protocol != 0 {
		t.Errorf("DecodeProtocol(nil) = %d, error %v; want 0 and no error", protocol, err)
	}
	if _, _, err := DecodeResultPart(nil); err == nil {
		t.Error("DecodeResultPart(nil) returned no error, want an error about the missing text")
	}
}

// A duplicate member in a frame body could be text from a web page, and must not override another member.
func TestDecodeRejectsDuplicateMembers(t *testing.T) {
	if p, err := DecodeProgress([]byte(`{"dispatchId":"mine","reports":[],"dispatchId":"other"}`)); err == nil {
		t.Errorf("DecodeProgress(frame body with two dispatchId members) = %+v, want an error", p)
	}
	if p, _, err := DecodeResultPart([]byte(`{"dispatchId":"mine","text":"","dispatchId":"other"}`)); err == nil {
		t.Errorf("DecodeResultPart(frame body with two dispatchId members) = %+v, want an error", p)
	}
	if r, err := DecodeDispatchResult([]byte(`{"output":1,"output":2}`)); err == nil {
		t.Errorf("DecodeDispatchResult(frame body with two output members) = %+v, want an error", r)
	}
	p, err := DecodeProgress([]byte(`{"dispatchId":"mine","reports":[],"DispatchID":"other"}`))
	if err != nil || p.DispatchID != "mine" {
		t.Errorf("DecodeProgress(body with dispatchId and DispatchID) = %+v, error %v; want DispatchID %q and no error", p, err, "mine")
	}
}

func TestDecodeProgressKeepsMalformedReports(t *testing.T) {
	p, err := DecodeProgress([]byte(`{"dispatchId":"c1","seq":4,"reports":[` +
		`{"progress":"1","message":"a","status":"b","audience":"user","endAudience":"user","activity":{"type":"text","content":1}},` +
		`{"progress":1e999,"message":5,"activity":[]},7,{"progress":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"dispatchId":"c1","seq":4,"reports":[` +
		`{"message":"a","status":"b","audience":"user","invalid":true,"activity":{"type":"text","content":1},"endAudience":"user"},` +
		`{"invalid":true},{"invalid":true},{"progress":2}]}`
	if got := EncodeBody(p); string(got) != want {
		t.Errorf("malformed progress reports are decoded differently\n got %s\nwant %s", got, want)
	}
	for _, body := range []string{`{"reports":{}}`, `{"reports":"x"}`, `{"dispatchId":5}`, `{"seq":"1"}`, `{"skipped":1.5}`, `[]`} {
		if p, err := DecodeProgress([]byte(body)); err == nil {
			t.Errorf("DecodeProgress(%s) = %+v, want an error", body, p)
		}
	}
}

func TestFindResultID(t *testing.T) {
	for _, c := range []struct {
		frame, id string
		isResult  bool
	}{
		{`{"jsonrpc":"2.0","id":"c1","result":{"output":{"a":}}`, "c1", true},
		{string(AppendResult(nil, "c1", []byte(`{"output":nope}`))), "c1", true},
		{`{"jsonrpc":"2.0","id":"c1","error":{`, "", false},
		{`{"jsonrpc":"2.0","id":"c1`, "", false},
		{`{"jsonrpc":"2.0","id":1,"result":{`, "", false},
		{`{"jsonrpc":"2.0","method":"ping"`, "", false},
		{``, "", false},
	} {
		if id, isResult := FindResultID([]byte(c.frame)); id != c.id || isResult != c.isResult {
			t.Errorf("FindResultID(%s) = ID %q, found %v; want ID %q, found %v", c.frame, id, isResult, c.id, c.isResult)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, g := range goldenBodies(f) {
		switch g.newBody().(type) {
		case *ToolDispatchResult, *ToolProgressParams, *ToolPartParams, *HelloParams:
			f.Add(g.body)
		}
	}
	f.Add([]byte(`{"reports":[{"progress":"1"},7],"parts":null,"output":null,"seq":1e2,"text":"\ud83d"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var progress ToolProgressParams
		var result ToolDispatchResult
		var partParams ToolPartParams
		gotProgress, progressErr := DecodeProgress(body)
		gotResult, resultErr := DecodeDispatchResult(body)
		gotPart, quotedJSON, partErr := DecodeResultPart(body)
		gotProtocol, protocolErr := DecodeProtocol(body)
		if !json.Valid(body) || !hasExactKeys(body) {
			return
		}
		var hello struct {
			Protocol int `json:"protocol"`
		}
		if err := json.Unmarshal(body, &hello); (err == nil) != (protocolErr == nil) || err == nil && hello.Protocol != gotProtocol {
			t.Errorf("DecodeProtocol(%s) = %d, error %v; json.Unmarshal returned %d, error %v; want equal results", body, gotProtocol, protocolErr, hello.Protocol, err)
		}
		if json.Unmarshal(body, &progress) == nil && (progressErr != nil || !bytes.Equal(EncodeBody(gotProgress), EncodeBody(progress))) {
			t.Errorf("DecodeProgress(%s) = %+v, error %v; want %+v, as json.Unmarshal decodes it", body, gotProgress, progressErr, progress)
		}
		if json.Unmarshal(body, &result) == nil && (resultErr != nil || !reflect.DeepEqual(gotResult, result)) {
			t.Errorf("DecodeDispatchResult(%s) = %+v, error %v; want %+v, as json.Unmarshal decodes it", body, gotResult, resultErr, result)
		}
		if json.Unmarshal(body, &partParams) == nil && partErr == nil {
			var resultText ResultText
			resultText.Append(quotedJSON)
			if gotPart.Text = string(resultText.Join()); gotPart != partParams {
				t.Errorf("DecodeResultPart(%s) = %+v, want %+v, as json.Unmarshal decodes it", body, gotPart, partParams)
			}
		}
	})
}

// If hasExactKeys returns true, encoding/json and splitObject must return equal members.
func hasExactKeys(body []byte) bool {
	seenNames := map[string]bool{}
	err := splitObject(body, func(key, _ []byte) error {
		lowerCaseKey := string(bytes.ToLower(key))
		if seenNames[lowerCaseKey] || bytes.ContainsRune(key, '\\') || bytes.ContainsFunc(key, func(r rune) bool { return r > 0x7e }) {
			return errUnclosedObject
		}
		seenNames[lowerCaseKey] = true
		return nil
	})
	if err != nil {
		return false
	}
	for _, name := range []string{"dispatchid", "seq", "skipped", "reports", "output", "parts", "text", "protocol"} {
		fieldName := name
		if name == "dispatchid" {
			fieldName = "dispatchId"
		}
		if seenNames[name] && !bytes.Contains(body, []byte(`"`+fieldName+`"`)) {
			return false
		}
	}
	return true
}
