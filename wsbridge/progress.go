package wsbridge

import (
	"encoding/json"

	"opentabs/wire"
)

// maxCount is the largest number of reports that a browser may claim in one
// frame: more than a page can make, and so few that their sum over a call stays
// an int that is not negative.
const maxCount = 1 << 30

// maxActivityType is the longest type of an activity, in characters.
const maxActivityType = 100

// progress reads the parameters of tool.progress and hands them on. The reports
// come as the page's text, which the browser did not parse: they may not bring
// a second dispatchId.
func (b *browser) progress(l *link, params []byte) error {
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
				p.Reports, err = oddReports(value)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	b.report(l, p)
	return nil
}

// oddReports reads reports of which some are not as they should be. Those still
// show that their tool is alive, and their texts may be good.
func oddReports(text []byte) ([]wire.Report, error) {
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
		_ = json.Unmarshal(r, &rest) // what can be read is
		reports[i] = wire.Report{
			Message: rest.Message, Status: rest.Status, Audience: rest.Audience, EndAudience: rest.EndAudience,
			Activity: readActivity(rest.Activity), Invalid: true,
		}
	}
	return reports, nil
}

// readActivity returns nil for what is none.
func readActivity(text []byte) *wire.Activity {
	var a *wire.Activity
	if text == nil || json.Unmarshal(text, &a) != nil {
		return nil
	}
	return a
}

// report hands reports to their run.
func (b *browser) report(l *link, p wire.ToolProgressParams) {
	b.mu.Lock()
	r := b.runs[p.DispatchID]
	fresh := false
	if r != nil {
		r.mention()
		fresh = r.takeNew(&p)
	}
	b.mu.Unlock()
	if r == nil {
		l.strayReport(p.DispatchID)
		return
	}
	if !fresh {
		return
	}
	cleanReports(p.Reports)
	r.sink.Reports(p.Reports, p.Skipped)
}

// takeNew takes those reports out of p that came before, on a link that was
// lost, and reports whether anything is left. Reports that never came count as
// skipped. Counts that can't be are not believed. The caller holds browser.mu.
func (r *run) takeNew(p *wire.ToolProgressParams) bool {
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

// cleanReports makes the texts of reports fit for clients, which may show them
// in a terminal. The page has cut them already; a browser that did not is not
// believed.
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

// strayReport counts reports of runs that this browser does not have: they
// ended, or they are another browser's.
func (l *link) strayReport(id string) {
	l.stray++
	event := l.log.Debug()
	if !l.warned {
		l.warned = true
		event = l.log.Warn()
	}
	event.Str("call", clean(id, 128)).Int("stray", l.stray).Msg("report of a run that this browser does not have (any more); later ones are logged at debug level")
}
