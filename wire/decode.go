package wire

import (
	"bytes"
	"encoding/json"
)

// DecodeBody decodes the body of a frame. The parameter `to` is a pointer to the params or
// result type of the frame. For an empty body, DecodeBody succeeds and sets no fields.
func DecodeBody(body []byte, to any) error {
	if len(body) == 0 {
		return nil
	}
	return json.Unmarshal(body, to)
}

func splitBody(body []byte, use func(key, value []byte) error) error {
	if len(body) == 0 {
		return nil
	}
	return splitObject(body, use)
}

// DecodeProtocol decodes only the protocol version of HelloParams. A peer with another
// protocol version can send other fields in HelloParams.
func DecodeProtocol(hello []byte) (protocol int, err error) {
	var version struct {
		Protocol int `json:"protocol"`
	}
	err = DecodeBody(hello, &version)
	return version.Protocol, err
}

// DecodeDispatchResult decodes the answer to a tool.dispatch. The decoded Output shares the
// memory of the parameter result. Unlike json.Unmarshal, DecodeDispatchResult does not scan
// the tool's output, which Parse has already validated.
func DecodeDispatchResult(result []byte) (r ToolDispatchResult, err error) {
	err = splitBody(result, func(key, value []byte) error {
		switch string(key) {
		case "output":
			r.Output = value
		case "parts":
			var partCount int // decoding into r.Parts would make r escape to the heap
			err := json.Unmarshal(value, &partCount)
			r.Parts = partCount
			return err
		case "hops":
			var hops *BrowserHops
			if json.Unmarshal(value, &hops) == nil {
				r.Hops = hops
			}
		}
		return nil
	})
	return r, err
}

// DecodeProgress decodes the params of a tool.progress.
//
// The browser copies the JSON of a page's progress reports into Reports without parsing
// this JSON. A malformed report keeps its valid fields and is marked as invalid. Text from
// a page can't override dispatchId or seq, because DecodeProgress rejects duplicate
// members.
func DecodeProgress(params []byte) (p ToolProgressParams, err error) {
	err = splitBody(params, func(key, value []byte) (err error) {
		var isPlain bool
		switch string(key) {
		case "dispatchId":
			if p.DispatchID, isPlain = unquotePlainString(value); !isPlain {
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

// A malformed progress report still proves that the tool is running, and may contain valid texts.
func decodeMalformedReports(reportsJSON []byte) ([]Report, error) {
	var rawReports []json.RawMessage
	if err := json.Unmarshal(reportsJSON, &rawReports); err != nil {
		return nil, err
	}
	reports := make([]Report, len(rawReports))
	for i, one := range rawReports {
		if json.Unmarshal(one, &reports[i]) == nil {
			continue
		}
		var decodedReportTexts struct {
			Message     string          `json:"message"`
			Status      string          `json:"status"`
			Audience    string          `json:"audience"`
			EndAudience string          `json:"endAudience"`
			Activity    json.RawMessage `json:"activity"`
		}
		_ = json.Unmarshal(one, &decodedReportTexts) // json.Unmarshal decodes the valid fields even if it returns an error
		reports[i] = Report{
			Message: decodedReportTexts.Message, Status: decodedReportTexts.Status, Audience: decodedReportTexts.Audience, EndAudience: decodedReportTexts.EndAudience,
			Activity: decodeActivity(decodedReportTexts.Activity), HasInvalidNumber: true,
		}
	}
	return reports, nil
}

func decodeActivity(activityJSON []byte) *Activity {
	var a *Activity
	if activityJSON == nil || json.Unmarshal(activityJSON, &a) != nil {
		return nil
	}
	return a
}

// FindResultID finds the ID of an answer frame whose result is not valid JSON. The frame's
// members must be in the order in which the extension writes them.
//
// The extension copies a tool's result into the answer frame without parsing the result. If
// a tool's result is malformed JSON, Parse rejects the whole frame, and only FindResultID
// can read the frame's ID.
func FindResultID(frame []byte) (id string, isResult bool) {
	remainingFrame, ok := bytes.CutPrefix(frame, []byte(idPrefix+`"`))
	if !ok {
		return "", false
	}
	resultID, remainingFrame, ok := bytes.Cut(remainingFrame, []byte(`"`))
	if !ok || !bytes.HasPrefix(remainingFrame, []byte(`,"result":`)) {
		return "", false
	}
	return string(resultID), true
}
