package pluginlog

import "time"

// ReadPeriod returns the log entries of a period that match the filter f, oldest first.
// ReadPeriod reads the log files only if the entries in memory do not cover the whole
// period.
func (l *Log) ReadPeriod(f Filter, from, to time.Time) ([]Entry, error) {
	entries := l.LastEntries(f, 0)
	if len(entries) == 0 || entries[0].Time.After(from) {
		storedEntries, _, err := Read(l.stateDir, f, 0)
		if err != nil {
			return nil, err
		}
		for i, e := range storedEntries {
			if len(entries) > 0 && !e.Time.Before(entries[0].Time) {
				storedEntries = storedEntries[:i]
				break
			}
		}
		entries = append(storedEntries, entries...)
	}
	var selectedEntries []Entry
	for _, e := range entries {
		if !e.Time.Before(from) && !e.Time.After(to) {
			selectedEntries = append(selectedEntries, e)
		}
	}
	return selectedEntries, nil
}
