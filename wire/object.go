package wire

import (
	"errors"
	"fmt"
)

// maxMembers is how many members an object read by Members may have; none of
// ours has more than a few.
const maxMembers = 32

// Members splits a JSON object into its members without decoding them and
// calls use for each, in order, until it returns an error. Key and value alias
// object; key is as it stands there, without its quotes.
//
// Two members with one key are an error, and keys are compared exactly. So text
// that was pasted into an object unparsed (a tool's result) can't add a member
// that replaces one before it. Members finds where values end but does not say
// that they are valid JSON.
func Members(object []byte, use func(key, value []byte) error) error {
	i := skipSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return errors.New("not an object")
	}
	i = skipSpace(object, i+1)
	var keys [maxMembers][]byte
	for n := 0; ; n++ {
		if i < len(object) && object[i] == '}' && n == 0 {
			break
		}
		if n == maxMembers {
			return fmt.Errorf("more than %d members", maxMembers)
		}
		key, value, end, err := member(object, i)
		if err != nil {
			return err
		}
		for _, k := range keys[:n] {
			if string(k) == string(key) {
				return fmt.Errorf("the member %q stands twice", key)
			}
		}
		keys[n] = key
		if err := use(key, value); err != nil {
			return err
		}
		i = skipSpace(object, end)
		if i < len(object) && object[i] == '}' {
			break
		}
		if i == len(object) || object[i] != ',' {
			return errNoEnd
		}
		i = skipSpace(object, i+1)
	}
	if skipSpace(object, i+1) != len(object) {
		return errors.New("something follows the object")
	}
	return nil
}

var errNoEnd = errors.New("the object does not end")

// member splits off the member that begins at i; end is where it ends.
func member(object []byte, i int) (key, value []byte, end int, err error) {
	start := i
	i = skipString(object, i)
	if i < 0 {
		return nil, nil, 0, errors.New("a member without a key")
	}
	key = object[start+1 : i-1]
	i = skipSpace(object, i)
	if i == len(object) || object[i] != ':' {
		return nil, nil, 0, fmt.Errorf("the member %q has no value", key)
	}
	i = skipSpace(object, i+1)
	end = skipValue(object, i)
	if end <= i {
		return nil, nil, 0, fmt.Errorf("the member %q has no value", key)
	}
	return key, object[i:end], end, nil
}

// skipValue returns where the value that begins at i ends, -1 if it does not.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of the object around a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}

// skipString returns where the string that begins at i ends, -1 if there is
// none or it does not end.
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}
