package recorder

import (
	"errors"

	"opentabs/dispatch/shape"
	"opentabs/wire"
)

var errHistoryLimit = errors.New("calls.history needs a limit from 1 to 200")

// ReadPage returns one page of the records that a query selects, newest first. ReadPage
// first writes the queued records to the disk, so that the page includes them.
func (r *Recorder) ReadPage(q Query) (Page, error) {
	r.Flush()
	return readPage(r.dir, q)
}

// Find returns the record of one call; ok is false if the call has no record. The
// recorder's Find first writes the queued records to the disk.
func (r *Recorder) Find(callID string) (e Entry, ok bool, err error) {
	r.Flush()
	return find(r.dir, callID)
}

// ReadHistory answers the request calls.history, with which a side panel lists recorded
// calls.
func (r *Recorder) ReadHistory(browserID string, p wire.CallsHistoryParams) (wire.CallsHistoryResult, error) {
	if p.Limit < 1 || p.Limit > wire.MaxHistoryCalls {
		return wire.CallsHistoryResult{}, errHistoryLimit
	}
	q := Query{Before: p.Before, Limit: p.Limit}
	if f := p.Filter; f != nil {
		q.Tool, q.Client, q.Text, q.OnlyFailed = f.Tool, f.Client, f.Text, f.OnlyFailed
	}
	page, err := r.ReadPage(q)
	if err != nil {
		return wire.CallsHistoryResult{}, err
	}
	result := wire.CallsHistoryResult{Next: page.Next}
	for _, e := range page.Entries {
		result.Calls = append(result.Calls, e.toPanelRecord(browserID))
	}
	return result, nil
}

func (r *Record) toPanelRecord(browserID string) wire.RecordedCall {
	v := r.View
	v.URL, v.ArgsStart = r.Site, string(r.Args)
	c := wire.RecordedCall{
		Call: shape.CallForPanel(v, browserID), EndedMs: float64(r.endedAt().UnixMicro()) / 1000, ArgsIncomplete: r.IsArgsIncomplete,
	}
	if r.Approval != nil {
		c.ApprovedBy, c.ApprovedScope = r.Approval.By, r.Approval.Scope
	}
	return c
}
