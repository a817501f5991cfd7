package recorder

import (
	"encoding/json"

	"opentabs/dispatch"
	"opentabs/dispatch/events"
	"opentabs/internal/rawjson"
	"opentabs/internal/redact"
)

// valueCleaner removes secrets and shortens long values before a call is recorded.
type valueCleaner struct{ redact.Redactor }

// cleanValue removes secrets from a JSON value and shortens its long strings and arrays. If the cleaned value still has
// more than maxLength bytes, or if rawJSON is not JSON, cleanValue returns nil.
func (c *valueCleaner) cleanValue(rawJSON json.RawMessage, maxLength int) (cleanedJSON json.RawMessage, isIncomplete bool) {
	if len(rawJSON) == 0 || len(rawJSON) > maxDecodedBytes {
		return nil, len(rawJSON) > 0
	}
	value, ok := redact.Decode(rawJSON)
	if !ok {
		return nil, true
	}
	value, hasRemovedSecrets := c.Value(value)
	value, isTruncated := truncateValue(value)
	cleanedJSON, err := rawjson.Marshal(value)
	if err != nil || len(cleanedJSON) > maxLength {
		return nil, true
	}
	return cleanedJSON, hasRemovedSecrets || isTruncated
}

func truncateValue(value any) (cut any, isTruncated bool) {
	switch v := value.(type) {
	case string:
		if len(v) > maxStringBytes {
			return events.TruncateText([]byte(v), maxStringBytes) + "…", true
		}
	case []any:
		if len(v) > maxElements {
			v, isTruncated = v[:maxElements], true
		}
		for i := range v {
			element, isElementTruncated := truncateValue(v[i])
			v[i], isTruncated = element, isTruncated || isElementTruncated
		}
		return v, isTruncated
	case map[string]any:
		for key, member := range v {
			truncatedMember, isMemberTruncated := truncateValue(member)
			v[key], isTruncated = truncatedMember, isTruncated || isMemberTruncated
		}
	}
	return value, isTruncated
}

// If the content of an activity is too long, the activity in the record has the content null.
func (c *valueCleaner) activities(views []dispatch.ActivityView) []dispatch.ActivityView {
	if len(views) == 0 {
		return nil
	}
	cleaned := make([]dispatch.ActivityView, len(views))
	bytesLeft := maxActivitiesBytes
	for i, v := range views {
		v.Content, _ = c.cleanValue(v.Content, min(maxActivityBytes, bytesLeft))
		bytesLeft -= len(v.Content)
		if v.Content == nil {
			v.Content = json.RawMessage("null")
		}
		cleaned[i] = v
	}
	return cleaned
}
