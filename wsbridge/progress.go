package wsbridge

import (
	"encoding/json"

	"opentabs/wire"
)

// maxCount limits the number of reports that a browser may claim in one frame.
// No page makes more, and the sum over a call can't overflow an int.
const maxCount = 1 << 30

// maxActivityType limits the type of an activity, in characters.
const maxActivityType = 100

// progress decodes a tool.progress and forwards its reports. The reports are
// text of the page that the browser did not parse, so they must not be able to
// override the dispatchId.
func (rt *runTable) progress(l *link, params []byte) error {
	var p wire.ToolProgressParams
	err := wire.Members(orEmpty(params), func(key, value []byte) (err error) {
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
	if err != nil {
		return err
	}
	rt.report(l, p)
	return nil
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

// report forwards reports to their run.
func (rt *runTable) report(l *link, p wire.ToolProgressParams) {
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	fresh := false
	if r != nil {
		r.confirm()
		fresh = r.dropKnown(&p)
	}
	rt.mu.Unlock()
	if r == nil {
		l.in.strayReport(p.DispatchID)
		return
	}
	if !fresh {
		return
	}
	cleanReports(p.Reports)
	r.sink.Reports(p.Reports, p.Skipped)
}

// dropKnown removes reports from p that arrived before on a lost link, and
// reports whether p has anything new. Missing reports count as skipped.
// Impossible counts are ignored. The caller holds runTable.mu.
func (r *run) dropKnown(p *wire.ToolProgressParams) bool {
	p.Skipped = min(max(0, p.Skipped), maxCount)
	if p.Seq == nil {
		r.reports += len(p.Reports)
		return true
	}
	seq, n := *p.Seq, len(p.Reports)
	if seq < 0 || seq > maxCount {
		return false
	}
	known := r.reports - seq
	switch {
	case known > 0 && known >= n:
		return false
	case known > 0:
		p.Reports, p.Skipped = p.Reports[known:], 0
	default:
		p.Skipped -= known
	}
	r.reports = seq + n
	return true
}

// cleanReports makes the texts of reports safe for clients, which may show them
// in a terminal. The page has truncated them already, but the server does not
// rely on that.
func cleanReports(reports []wire.Report) {
	for i := range reports {
		r := &reports[i]
		for _, text := range []*string{&r.Message, &r.Status, &r.Audience, &r.EndAudience} {
			*text = clean(*text, wire.MaxMessageChars)
		}
		if r.Activity != nil {
			r.Activity.Type = clean(r.Activity.Type, maxActivityType)
		}
	}
}

// strayReport counts reports for runs that this browser does not have: finished
// runs, or runs of another browser.
func (in *inbox) strayReport(id string) {
	in.stray++
	event := in.link.log.Debug()
	if !in.warned {
		in.warned = true
		event = in.link.log.Warn()
	}
	event.Str("call", clean(id, 128)).Int("stray", in.stray).Msg("report for an unknown or finished run; later ones are logged at debug level")
}
