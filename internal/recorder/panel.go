package recorder

import (
	"errors"

	"opentabs/dispatch/shape"
	"opentabs/wire"
)

// errHistoryLimit is the error for a wrong limit in a request of the side panel.
var errHistoryLimit = errors.New("calls.history needs a limit from 1 to 200")

// ReadPage writes the queued records to the disk, and returns the next page of the
// records that a query selects.
func (r *Recorder) ReadPage(q Query) (Page, error) {
	r.Flush()
	return readPage(r.dir, q)
}

// Find writes the queued records to the disk, and returns the record of one call.
func (r *Recorder) Find(callID string) (e Entry, ok bool, err error) {
	r.Flush()
	return find(r.dir, callID)
}

// ReadHistory returns the response to a request calls.history, which the side panel of a
// browser sends.
func (r *Recorder) ReadHistory(browserID string, p wire.CallsHistoryParams) (wire.CallsHistoryResult, error) {
	if p.Limit < 1 || p.Limit > wire.MaxHistoryCalls {
		return wire.CallsHistoryResult{}, errHistoryLimit
	}
	q := Query{Before: p.Before, Limit: p.Limit}
	if f := p.Filter; f != nil {
		q.Tool, q.Client, q.Text, q.HasFailed = f.Tool, f.Client, f.Text, f.Failed
	}
	page, err := r.ReadPage(q)
	if err != nil {
		return wire.CallsHistoryResult{}, err
	}
	result := wire.CallsHistoryResult{Next: page.Next}
	for _, e := range page.Entries {
		result.Calls = append(result.Calls, e.forPanel(browserID))
	}
	return result, nil
}

// forPanel converts a record into the form of the side panel of a browser.
func (r *Record) forPanel(browserID string) wire.RecordedCall {
	v := r.View
	v.URL, v.ArgsStart = r.Site, string(r.Args)
	c := wire.RecordedCall{
		Call: shape.CallForPanel(v, browserID), EndedMs: float64(r.endedAt().UnixMicro()) / 1000, ArgsIncomplete: r.IsArgsIncomplete,
	}
	if r.Approved != nil {
		c.ApprovedBy, c.ApprovedScope = r.Approved.By, r.Approved.Scope
	}
	return c
}
