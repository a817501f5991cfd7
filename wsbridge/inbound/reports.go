package inbound

import (
	"encoding/json"

	"opentabs/wire"
)

// maxActivityType limits the type of an activity, in characters.
const maxActivityType = 100

// Progress decodes the parameters of tool.progress. The reports are text of the
// page that the browser did not parse, so they must not be able to override the
// dispatchId.
func Progress(params []byte) (p wire.ToolProgressParams, err error) {
	err = wire.Members(OrEmpty(params), func(key, value []byte) (err error) {
		switch string(key) {
		case "dispatchId":
			err = json.Unmarshal(value, &p.DispatchID)
		case "seq":
			err = json.Unmarshal(value, &p.Seq)
		case "skipped":
			err = json.Unmarshal(value, &p.Skipped)
		case "reports":
			if json.Unmarshal(value, &p.Reports) != nil {
				p.Reports, err = readMalformedReports(value)
			}
		}
		return err
	})
	return p, err
}

// readMalformedReports reads reports of which some are malformed. Those still
// prove that their tool is alive, and their texts may be usable.
func readMalformedReports(text []byte) ([]wire.Report, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	reports := make([]wire.Report, len(raw))
	for i, r := range raw {
		if json.Unmarshal(r, &reports[i]) == nil {
			continue
		}
		var rest struct {
			Message, Status, Audience, EndAudience string
			Activity                               json.RawMessage
		}
		_ = json.Unmarshal(r, &rest) // keep the fields that are valid
		reports[i] = wire.Report{
			Message: rest.Message, Status: rest.Status, Audience: rest.Audience, EndAudience: rest.EndAudience,
			Activity: readActivity(rest.Activity), Invalid: true,
		}
	}
	return reports, nil
}

// readActivity returns nil for a missing or malformed activity.
func readActivity(text []byte) *wire.Activity {
	var a *wire.Activity
	if text == nil || json.Unmarshal(text, &a) != nil {
		return nil
	}
	return a
}

// CleanReports makes the texts of reports safe for clients, which may show them
// in a terminal. The page has truncated them already, but the server does not
// rely on that.
func CleanReports(reports []wire.Report) {
	for i := range reports {
		r := &reports[i]
		for _, text := range []*string{&r.Message, &r.Status, &r.Audience, &r.EndAudience} {
			*text = Text(*text, wire.MaxMessageChars)
		}
		if r.Activity != nil {
			r.Activity.Type = Text(r.Activity.Type, maxActivityType)
		}
	}
}
