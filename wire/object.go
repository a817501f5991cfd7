package wire

import (
	"errors"
	"fmt"
)

// Every JSON object of the wire protocol has fewer than maxObjectMembers members.
const maxObjectMembers = 32

// splitObject splits a JSON object into its members without decoding them. Each key that splitObject passes to the
// function use has no quotes but keeps its escapes.
//
// splitObject rejects duplicate keys, so that text that was copied into an object unparsed, such as a tool's result,
// can't override a member. splitObject finds the end of each value but does not validate the value.
func splitObject(object []byte, use func(key, value []byte) error) error {
	i := skipSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return errors.New("not an object")
	}
	i = skipSpace(object, i+1)
	var keys [maxObjectMembers][]byte
	for n := 0; ; n++ {
		if i < len(object) && object[i] == '}' && n == 0 {
			break
		}
		if n == maxObjectMembers {
			return fmt.Errorf("more than %d members", maxObjectMembers)
		}
		key, value, endIndex, err := splitMember(object, i)
		if err != nil {
			return err
		}
		for _, k := range keys[:n] {
			if string(k) == string(key) {
				return fmt.Errorf("duplicate member %q", key)
			}
		}
		keys[n] = key
		if err := use(key, value); err != nil {
			return err
		}
		i = skipSpace(object, endIndex)
		if i < len(object) && object[i] == '}' {
			break
		}
		if i == len(object) || object[i] != ',' {
			return errUnclosedObject
		}
		i = skipSpace(object, i+1)
	}
	if skipSpace(object, i+1) != len(object) {
		return errors.New("unexpected text after the object")
	}
	return nil
}

var errUnclosedObject = errors.New("the object is not closed")

func splitMember(object []byte, i int) (key, value []byte, endIndex int, err error) {
	startIndex := i
	i = skipString(object, i)
	if i < 0 {
		return nil, nil, 0, errors.New("a member without a key")
	}
	key = object[startIndex+1 : i-1]
	i = skipSpace(object, i)
	if i == len(object) || object[i] != ':' {
		return nil, nil, 0, fmt.Errorf("the member %q has no value", key)
	}
	i = skipSpace(object, i+1)
	endIndex = skipValue(object, i)
	if endIndex <= i {
		return nil, nil, 0, fmt.Errorf("the member %q has no value", key)
	}
	return key, object[i:endIndex], endIndex, nil
}

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
				return i
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

func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); {
		n := findSpecialByte(b[i:])
		if n < 0 {
			return -1
		}
		switch i += n + 1; b[i-1] {
		case '"':
			return i
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
