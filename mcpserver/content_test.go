package mcpserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"opentabs/mcpserver/content"
	"opentabs/plugin/plugintest"
)

const pngData = `iVBORw0KGgo=` // pngData encodes 8 bytes

// TestContentBlocksAreSentOnce checks that each content block in a tool's result reaches the agent
// exactly once.
func TestContentBlocksAreSentOnce(t *testing.T) {
	imageBlock := `{"type":"image","data":"` + pngData + `","mimeType":"image/png"}`
	audioBlock := `{"mimeType":"audio/x-wav","type":"audio","data":"AAAA"}`
	file := `{"type":"resource","resource":{"uri":"file:///a%20b","mimeType":"text/plain","text":"one \"two\""},"annotations":{"audience":["user"],"priority":0.5}}`
	blob := `{"type":"resource","resource":{"uri":"x:1","blob":"AA=="}}`
	link := `{"type":"resource_link","uri":"https://example.com/","name":"n","size":12,"_meta":{"a":[1]}}`
	nestedBlock := `{"type":"resource_link","uri":"x:1","name":"n","_meta":{"a":` + imageBlock + `}}`
	for output, want := range map[string]string{
		nestedBlock: `{"content":[` + nestedBlock + `],"structuredContent":` + nestedBlock + `}`,
		imageBlock:  `{"content":[` + imageBlock + `],"structuredContent":{"type":"image","data":"see content[0], image/png, 8 bytes","mimeType":"image/png"}}`,
		blob:        `{"content":[` + blob + `],"structuredContent":{"type":"resource","resource":{"uri":"x:1","blob":"see content[0], resource, 1 bytes"}}}`,
		link:        `{"content":[` + link + `],"structuredContent":` + link + `}`,
		`{"a":1,"p":` + imageBlock + `,"s":[` + audioBlock + `]}`: `{"content":[{"type":"text","text":` +
			`"{\"a\":1,\"p\":{\"type\":\"image\",\"data\":\"see content[1], image/png, 8 bytes\",\"mimeType\":\"image/png\"},` +
			`\"s\":[{\"mimeType\":\"audio/x-wav\",\"type\":\"audio\",\"data\":\"see content[2], audio/x-wav, 3 bytes\"}]}"},` + imageBlock + `,` + audioBlock +
			`],"structuredContent":{"a":1,"p":{"type":"image","data":"see content[1], image/png, 8 bytes","mimeType":"image/png"},` +
			`"s":[{"mimeType":"audio/x-wav","type":"audio","data":"see content[2], audio/x-wav, 3 bytes"}]}}`,
		`{"f":` + file + `}`: `{"content":[{"type":"text","text":"{\"f\":{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a%20b\",\"mimeType\":\"text/plain\",` +
			`\"text\":\"see content[1], text/plain, 11 bytes\"},\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5}}}"},` + file +
			`],"structuredContent":{"f":{"type":"resource","resource":{"uri":"file:///a%20b","mimeType":"text/plain","text":"see content[1], text/plain, 11 bytes"},"annotations":{"audience":["user"],"priority":0.5}}}}`,
		`[{"type":"text","text":"first"},` + imageBlock + `, ` + file + ` ]`: `{"content":[{"type":"text","text":"first"},` + imageBlock + `,` + file + `]}`,
		`[` + imageBlock + `,1]`: `{"content":[{"type":"text","text":"[{\"type\":\"image\",\"data\":\"see content[1], image/png, 8 bytes\",\"mimeType\":\"image/png\"},1]"},` + imageBlock + `]}`,
	} {
		if got := encodeResult(t, newSuccessReply("", json.RawMessage(output))); got != want {
			t.Errorf("MCP result for the output %s\n= %s\nwant %s", output, got, want)
		}
	}
}

// TestNonBlockObjectsStayUnchanged checks that objects that are not content blocks stay in the
// result, unchanged.
func TestNonBlockObjectsStayUnchanged(t *testing.T) {
	for _, output := range []string{
		`{"type":"image","data":"` + pngData + `","mimeType":"image/png","width":3}`, // MCP's image block has no member width
		`{"type":"image","data":"","mimeType":"image/png"}`,
		`{"type":"image","data":"AAA","mimeType":"image/png"}`,
		`{"type":"image","data":"AAAAAA","mimeType":"image/png"}`, // the base64 has no padding
		`{"type":"image","data":"AA-_","mimeType":"image/png"}`,   // the base64 uses the URL alphabet
		`{"type":"image","data":"A=AA","mimeType":"image/png"}`,
		`{"type":"image","data":"A===","mimeType":"image/png"}`,
		`{"type":"image","data":"data:image/png;base64,AAAA","mimeType":"image/png"}`,
		`{"type":"image","data":["AAAA"],"mimeType":"image/png"}`,
		`{"type":"image","data":12345678,"mimeType":"image/png"}`,
		`{"type":"image","data":"AAAA","mimeType":"text/html"}`,
		`{"type":"image","data":"AAAA","mimeType":"image/"}`,
		`{"type":"image","data":"AAAA","mimeType":"image/p\u006eg"}`,
		`{"type":"image","data":"AAAA","mimeType":7,"a":"\"mimeType\":\""}`,
		`{"type":"image","data":"AAAA","data":"BBBB","mimeType":"image/png"}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"audience":["agent"]}}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"priority":2}}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"lastModified":"yesterday"}}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"other":1}}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":null}`,
		`{"type":"image","data":"AAAA","mimeType":"image/png","_meta":1}`,
		`{"type":"audio","data":"AAAA","mimeType":"image/png"}`,
		`{"type":"resource","resource":{"uri":"/a","mimeType":"a/b","text":"t"}}`, // the URI is not absolute
		`{"type":"resource","resource":{"uri":"x:a","text":"t","blob":"AAAA"}}`,
		`{"type":"resource","resource":{"uri":"x:a"}}`,
		`{"type":"resource","resource":{"uri":"x:a","text":1}}`,
		`{"type":"resource","resource":{"uri":"x:a","blob":"t"}}`,
		`{"type":"resource","resource":"x:a","uri":"x:a"}`,
		`{"type":"resource_link","uri":"x:a"}`,
		`{"type":"resource_link","uri":"x:a","name":1}`,
		`{"type":"resource_link","uri":"x:a","name":"n","size":-1}`,
		`{"type":"resource_link","uri":"x:a","name":"n","size":null}`,
		`[{"type":"text","text":"only text"}]`,
		`{"a":"data:image/png;base64,` + pngData + `"}`,
		`"{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"}"`,
		strings.Repeat(`[`, 100) + `{"type":"image","data":"AAAA","mimeType":"image/png"}` + strings.Repeat(`]`, 100),
	} {
		r := newSuccessReply("", json.RawMessage(output))
		if string(r.output) != output || r.blocks != nil {
			t.Errorf("output %.100s became %s with the content blocks %s; want it unchanged, without content blocks", output, r.output, r.blocks)
		}
	}
}

// TestContentBlocksWithOutputSchema checks that structured content matches the tool's output schema
// even if the result contains content blocks.
func TestContentBlocksWithOutputSchema(t *testing.T) {
	output := `{"p":{"type":"image","data":"` + pngData + `","mimeType":"image/png"}}` + "\n"
	for _, c := range []struct{ schema, want string }{
		{`{"type":"string"}`, "see content[1], image/png, 8 bytes"},
		{`{"type":"string","pattern":"^[A-Za-z0-9+/=]*$"}`, pngData}, // the SDK writes z.base64() as a string schema with this pattern
	} {
		s := serveTools(t, callerReturning(output), Options{}, plugintest.Package{Tools: []plugintest.Tool{{
			Name: "echo", Description: "d",
			Output: json.RawMessage(`{"type":"object","properties":{"p":{"type":"object","properties":{"data":` + c.schema + `}}}}`),
		}}})
		m := s.open(t, "a").call(callText("1", `{}`, `{}`))
		res := m.toolResultOf(t)
		var data struct{ P struct{ Data string } }
		if err := json.Unmarshal(res.Structured, &data); err != nil || data.P.Data != c.want {
			t.Errorf("output schema %s: structured content = %s; want the data %q", c.schema, res.Structured, c.want)
		}
		if strings.Contains(res.Content[0].Text, pngData) || len(res.Content) != 2 || res.Content[1].Type != "image" {
			t.Errorf("output schema %s: content = %+v; want a text without the image data, then one image", c.schema, res.Content)
		}
	}
}

func TestManyLargeContentBlocks(t *testing.T) {
	var elements []string
	for i := range 20 {
		eventData := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune('a'+i)), 100_000+i)))
		elements = append(elements, `{"n":`+fmt.Sprint(i)+`,"shot":{"type":"image","data":"`+eventData+`","mimeType":"image/png"},"text":"\\\"\\"}`)
	}
	r := newSuccessReply("", json.RawMessage(`{"all":[`+strings.Join(elements, ",")+`]}`))
	var got struct {
		Content []struct{ Type, Text, Data string }
		Data    struct{ All []struct{ N int } } `json:"structuredContent"`
	}
	if err := json.Unmarshal([]byte(encodeResult(t, r)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Content) != 21 || len(got.Data.All) != 20 || len(got.Content[0].Text) > 5000 {
		t.Fatalf("the content has %d blocks, %d records and a text of %d bytes; want 21, 20 and at most 5000", len(got.Content), len(got.Data.All), len(got.Content[0].Text))
	}
	for i, c := range got.Content[1:] {
		b, err := base64.StdEncoding.DecodeString(c.Data)
		if err != nil || string(b) != strings.Repeat(string(rune('a'+i)), 100_000+i) {
			t.Errorf("data of block %d differs from the sent data, error %v; want equal data", i, err)
		}
		if !strings.Contains(got.Content[0].Text, fmt.Sprintf("see content[%d], image/png, %d bytes", i+1, 100_000+i)) {
			t.Errorf("the text has no reference to block %d; want one reference for each block", i)
		}
	}
}

// FuzzContent checks that the MCP response for any tool result is valid JSON.
func FuzzContent(f *testing.F) {
	for _, seed := range []string{
		`{"a":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"b":"\\\""}`,
		`[{"type":"text","text":"a"},{"type":"audio","data":"AA==","mimeType":"audio/a"}]`,
		`{"type":"resource","resource":{"uri":"x:a","blob":"AAAA"}}`,
		`{"type":"resource_link","uri":"x:a","name":"n"}`,
		`[ 1 , {"type":"image" ,"data":"AAAA","mimeType":"image/png"} ]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, output string) {
		if !json.Valid([]byte(output)) {
			content.SeparateBlocks([]byte(output)) // SeparateBlocks must not panic for any output
			return
		}
		r := newSuccessReply("", json.RawMessage(output))
		encodeResult(t, r)
		if r.blocks == nil || strings.Contains(output, "see content[") {
			return
		}
		var reassembledJSON []byte
		switch {
		case r.output != nil:
			reassembledJSON = reinsertBlocks(t, r)
		case r.structuredContent != nil: // the result itself is one content block
			reassembledJSON = r.blocks[0]
		default:
			reassembledJSON = append(append([]byte("["), bytes.Join(r.blocks, []byte(","))...), ']')
		}
		if !isEqualJSON(t, reassembledJSON, content.RemoveLineBreaks([]byte(output))) {
			t.Errorf("output %s became %s; want equal JSON", output, reassembledJSON)
		}
	})
}

func reinsertBlocks(t *testing.T, r reply) []byte {
	t.Helper()
	restoredJSON := r.output
	for i, rawJSON := range r.blocks {
		var contentBlock struct {
			Type     string          `json:"type"`
			Data     json.RawMessage `json:"data"`
			Resource struct {
				Text json.RawMessage `json:"text"`
				Blob json.RawMessage `json:"blob"`
			} `json:"resource"`
		}
		if err := json.Unmarshal(rawJSON, &contentBlock); err != nil {
			t.Fatal(err)
		}
		blockPayload := slices.Concat(contentBlock.Data, contentBlock.Resource.Text, contentBlock.Resource.Blob) // a content block has only one of data, text and blob
		if contentBlock.Type == "resource_link" {
			continue
		}
		contentBefore, textAfterReference, ok := bytes.Cut(restoredJSON, fmt.Appendf(nil, `"see content[%d], `, i+1))
		_, contentAfter, closed := bytes.Cut(textAfterReference, []byte(`"`))
		if !ok || !closed {
			t.Fatalf("the reference to block %d is missing or not closed in the text; want a complete reference: %s", i+1, restoredJSON)
		}
		restoredJSON = slices.Concat(contentBefore, blockPayload, contentAfter)
	}
	return restoredJSON
}

func isEqualJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}
