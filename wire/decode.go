package wire

import (
	"bytes"
	"encoding/json"
)

// DecodeBody decodes a body into a pointer to its params or result type. DecodeBody
// accepts an empty body, and then sets no fields.
func DecodeBody(body []byte, to any) error {
	if len(body) == 0 {
		return nil
	}
	return json.Unmarshal(body, to)
}

// splitBody splits a body into its members. splitBody accepts an empty body, which has
// no members.
func splitBody(body []byte, use func(key, value []byte) error) error {
	if len(body) == 0 {
		return nil
	}
	return splitObject(body, use)
}

// DecodeProtocol decodes the Protocol of HelloParams alone, because the other fields
// may differ between two versions of the protocol.
func DecodeProtocol(hello []byte) (protocol int, err error) {
	var version struct {
		Protocol int `json:"protocol"`
	}
	err = DecodeBody(hello, &version)
	return version.Protocol, err
}

// DecodeDispatchResult decodes the answer to a tool.dispatch. The decoded Output shares
// the memory of the parameter result. Unlike json.Unmarshal, DecodeDispatchResult does
// not scan the output, which Parse has validated.
func DecodeDispatchResult(result []byte) (r ToolDispatchResult, err error) {
	err = splitBody(result, func(key, value []byte) error {
		switch string(key) {
		case "output":
			r.Output = value
		case "parts":
			var parts int // decoding into r.Parts would move r to the heap
			err := json.Unmarshal(value, &parts)
			r.Parts = parts
			return err
		case "hops":
			var hops *BrowserHops
			if json.Unmarshal(value, &hops) == nil { // without valid hops, the result is still valid
				r.Hops = hops
			}
		}
		return nil
	})
	return r, err
}

// DecodeProgress decodes the params of a tool.progress.
//
// The browser copies the report texts of a page into Reports without parsing them.
// Reports can contain malformed reports, which are kept with their valid fields and
// marked as invalid. The text of a page can't replace another member of the params,
// because duplicate members are an error.
func DecodeProgress(params []byte) (p ToolProgressParams, err error) {
	err = splitBody(params, func(key, value []byte) (err error) {
		var isPlain bool
		switch string(key) {
		case "dispatchId":
			if p.DispatchID, isPlain = plainString(value); !isPlain {
				err = json.Unmarshal(value, &p.DispatchID)
			}
		case "seq":
			err = json.Unmarshal(value, &p.Seq)
		case "skipped":
			err = json.Unmarshal(value, &p.SkippedReports)
		case "reports":
			if json.Unmarshal(value, &p.Reports) != nil {
				p.Reports, err = decodeMalformedReports(value)
			}
		}
		return err
	})
	return p, err
}

// decodeMalformedReports decodes reports of which some are malformed. A malformed
// report still proves that the tool runs, and the texts of the report may be valid.
func decodeMalformedReports(text []byte) ([]Report, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	reports := make([]Report, len(all))
	for i, one := range all {
		if json.Unmarshal(one, &reports[i]) == nil {
			continue
		}
		var texts struct {
			Message     string          `json:"message"`
			Status      string          `json:"status"`
			Audience    string          `json:"audience"`
			EndAudience string          `json:"endAudience"`
			Activity    json.RawMessage `json:"activity"`
		}
		_ = json.Unmarshal(one, &texts) // json.Unmarshal decodes the valid fields even if it returns an error
		reports[i] = Report{
			Message: texts.Message, Status: texts.Status, Audience: texts.Audience, EndAudience: texts.EndAudience,
			Activity: decodeActivity(texts.Activity), HasInvalidNumber: true,
		}
	}
	return reports, nil
}

// decodeActivity returns nil for a missing or malformed activity.
func decodeActivity(text []byte) *Activity {
	var a *Activity
	if text == nil || json.Unmarshal(text, &a) != nil {
		return nil
	}
	return a
}

// FindResultID returns the ID of an answer with a result, even if the result is not
// valid JSON. FindResultID expects the members in the order in which the extension
// writes them.
//
// The extension copies the text of a tool's result into the answer without parsing it,
// so a malformed result makes Parse reject the whole frame.
func FindResultID(frame []byte) (id string, isResult bool) {
	rest, ok := bytes.CutPrefix(frame, []byte(idPrefix+`"`))
	if !ok {
		return "", false
	}
	text, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || !bytes.HasPrefix(rest, []byte(`,"result":`)) {
		return "", false
	}
	return string(text), true
}
