package inbound

import "opentabs/wire"

// maxActivityTypeChars limits the type of an activity, in characters.
const maxActivityTypeChars = 100

// CleanReports makes the texts of progress reports safe for clients, which may show them
// in a terminal. The extension already truncates the texts of progress reports, but the
// server does not rely on the extension.
func CleanReports(reports []wire.Report) {
	for i := range reports {
		r := &reports[i]
		for _, reportText := range []*string{&r.Message, &r.Status, &r.Audience, &r.EndAudience} {
			*reportText = CleanText(*reportText, wire.MaxMessageChars)
		}
		if r.Activity != nil {
			r.Activity.Type = CleanText(r.Activity.Type, maxActivityTypeChars)
		}
	}
}
