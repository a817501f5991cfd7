package schema

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxValidatorDepth is the maximum depth of nested values and references that a fastValidator
// checks.
const maxValidatorDepth = 64

// maxExactDigits is the number of digits up to which two different decimal numbers differ as float64.
const maxExactDigits = 15

// maxExactInteger is 2^53: a float64 represents every integer up to 2^53 exactly.
const maxExactInteger = 1 << 53

// kindSet is a set of JSON value kinds, such as string and null.
type kindSet uint8

const (
	kindObject kindSet = 1 << iota
	kindArray
	kindString
	kindInteger
	kindNumber
	kindBoolean
	kindNull
	allKinds = 1<<iota - 1
)

var kindsByName = map[string]kindSet{
	"object": kindObject, "array": kindArray, "string": kindString, "integer": kindInteger,
	"number": kindNumber | kindInteger, "boolean": kindBoolean, "null": kindNull,
}

// fastValidator checks JSON text against a JSON Schema without decoding the text. A fastValidator
// is about ten times as fast as the jsonschema library. A fastValidator never accepts text that the
// jsonschema library rejects. A fastValidator may reject valid text, for example if the schema has
// a keyword that fastValidators do not support. If a fastValidator rejects a text, the jsonschema
// library decides whether the text is valid.
type fastValidator struct {
	kinds                         kindSet
	isCombinatorOnly              bool
	allOfValidators, alternatives []*fastValidator
	constants                     []string

	members             map[string]memberRule
	requiredMembersMask uint64
	additionalMembers   *fastValidator
	memberNames         *fastValidator

	items     *fastValidator
	itemCount countRange

	lengthRange countRange
	pattern     jsonschema.Regexp
	format      *jsonschema.Format

	lowerBound, upperBound numberBound
}

// memberRule contains what a schema requires of the member with a certain name in a JSON
// object.
type memberRule struct {
	value        *fastValidator
	requiredMask uint64
}

// countRange is the allowed range for the length of a string or array, or for the number of an
// object's members. If min is nil, there is no lower limit; if max is nil, there is no upper limit.
type countRange struct{ min, max *int }

func (r countRange) isSet() bool { return r.min != nil || r.max != nil }
func (r countRange) contains(n int) bool {
	return (r.min == nil || n >= *r.min) && (r.max == nil || n <= *r.max)
}

// numberBound is a lower or upper bound that a schema sets for numbers.
type numberBound struct {
	isSet, isExclusive bool
	limit              int64
}

var acceptAllValidator = func() *fastValidator {
	a := &fastValidator{kinds: allKinds}
	a.additionalMembers, a.items = a, a
	return a
}()

var rejectAllValidator = &fastValidator{}

func newFastValidator(s *jsonschema.Schema, builtValidators map[*jsonschema.Schema]*fastValidator) *fastValidator {
	if s == nil || s.Bool != nil && *s.Bool {
		return acceptAllValidator
	}
	if s.Bool != nil || hasUnknownKeyword(s) {
		return rejectAllValidator
	}
	if a, ok := builtValidators[s]; ok {
		return a
	}
	a := &fastValidator{kinds: allKinds}
	builtValidators[s] = a
	if s.Types != nil && !s.Types.IsEmpty() {
		a.kinds = 0
		for _, name := range s.Types.ToStrings() {
			a.kinds |= kindsByName[name]
		}
	}
	if s.Ref != nil {
		a.allOfValidators = append(a.allOfValidators, newFastValidator(s.Ref, builtValidators))
	}
	for _, schema := range s.AllOf {
		a.allOfValidators = append(a.allOfValidators, newFastValidator(schema, builtValidators))
	}
	for _, schema := range s.AnyOf {
		a.alternatives = append(a.alternatives, newFastValidator(schema, builtValidators))
	}
	a.lengthRange, a.pattern, a.format = countRange{s.MinLength, s.MaxLength}, s.Pattern, s.Format
	a.itemCount = countRange{s.MinItems, s.MaxItems}
	a.items = newFastValidator(itemsSchema(s), builtValidators)
	a.isCombinatorOnly = s.Types == nil && s.Enum == nil && s.Const == nil && len(s.Properties)+len(s.Required) == 0 &&
		s.AdditionalProperties == nil && s.PropertyNames == nil && a.items == acceptAllValidator && !a.itemCount.isSet() && !a.lengthRange.isSet() &&
		s.Pattern == nil && s.Format == nil && s.Minimum == nil && s.ExclusiveMinimum == nil && s.Maximum == nil && s.ExclusiveMaximum == nil &&
		len(a.allOfValidators)+len(a.alternatives) > 0
	if !a.setConstants(s) || !a.setMembers(s, builtValidators) || !a.setBounds(s) {
		*a = fastValidator{}
	}
	return a
}

func itemsSchema(s *jsonschema.Schema) *jsonschema.Schema {
	if items, ok := s.Items.(*jsonschema.Schema); ok {
		return items
	}
	return s.Items2020
}

// A test checks that a fastValidator supports every keyword for which hasUnknownKeyword returns false.
func hasUnknownKeyword(s *jsonschema.Schema) bool {
	_, hasOneItemSchema := s.Items.(*jsonschema.Schema)
	_, isSlow := s.Pattern.(*timedPattern) // the library decides about a slow pattern, so that the pattern runs only once
	return isSlow || s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.OneOf != nil || s.If != nil || s.Then != nil || s.Else != nil ||
		s.Format != nil && s.Format.Name == "regex" ||
		s.MaxProperties != nil || s.MinProperties != nil || s.PatternProperties != nil || s.Dependencies != nil ||
		s.DependentRequired != nil || s.DependentSchemas != nil || s.UnevaluatedProperties != nil ||
		s.UniqueItems || s.Contains != nil || s.MinContains != nil || s.MaxContains != nil ||
		s.Items != nil && !hasOneItemSchema || s.AdditionalItems != nil || s.PrefixItems != nil || s.UnevaluatedItems != nil ||
		s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil ||
		s.MultipleOf != nil || len(s.Extensions) > 0
}

func (a *fastValidator) setConstants(s *jsonschema.Schema) bool {
	var allowedValues []any
	if s.Enum != nil {
		allowedValues = s.Enum.Values
	}
	if s.Const != nil {
		if allowedValues != nil {
			return false
		}
		allowedValues = []any{*s.Const}
	}
	if allowedValues == nil {
		return true
	}
	a.constants = []string{}
	for _, value := range allowedValues {
		switch v := value.(type) {
		case string:
			if quotedJSON := []byte(`"` + v + `"`); isUnescaped(quotedJSON) {
				a.constants = append(a.constants, string(quotedJSON))
			}
		case json.Number:
			a.constants = append(a.constants, v.String())
		case bool:
			a.constants = append(a.constants, strconv.FormatBool(v))
		case nil:
			a.constants = append(a.constants, "null")
		}
	}
	return true
}

func isUnescaped(jsonText []byte) bool {
	endIndex, hasEscape := skipString(jsonText, 0)
	return endIndex == len(jsonText) && !hasEscape
}

func (a *fastValidator) setMembers(s *jsonschema.Schema, builtValidators map[*jsonschema.Schema]*fastValidator) bool {
	switch additionalProperties := s.AdditionalProperties.(type) {
	case bool:
		a.additionalMembers = rejectAllValidator
		if additionalProperties {
			a.additionalMembers = acceptAllValidator
		}
	case *jsonschema.Schema:
		a.additionalMembers = newFastValidator(additionalProperties, builtValidators)
	default:
		a.additionalMembers = acceptAllValidator
	}
	if s.PropertyNames != nil {
		a.memberNames = newFastValidator(s.PropertyNames, builtValidators)
	}
	if len(s.Required) > 64 {
		return false
	}
	a.members = make(map[string]memberRule, len(s.Properties))
	for name, property := range s.Properties {
		a.members[name] = memberRule{value: newFastValidator(property, builtValidators)}
	}
	for i, name := range s.Required {
		rule, ok := a.members[name]
		if !ok {
			rule.value = a.additionalMembers
		}
		if rule.requiredMask == 0 {
			rule.requiredMask = 1 << i
		}
		a.requiredMembersMask |= rule.requiredMask
		a.members[name] = rule
	}
	return true
}

func (a *fastValidator) setBounds(s *jsonschema.Schema) bool {
	return a.lowerBound.setBound(s.Minimum, false) && a.lowerBound.setBound(s.ExclusiveMinimum, true) &&
		a.upperBound.setBound(s.Maximum, false) && a.upperBound.setBound(s.ExclusiveMaximum, true)
}

func (b *numberBound) setBound(limit *big.Rat, isExclusive bool) bool {
	if limit == nil {
		return true
	}
	if b.isSet || !limit.IsInt() || !limit.Num().IsInt64() {
		return false
	}
	*b = numberBound{isSet: true, isExclusive: isExclusive, limit: limit.Num().Int64()}
	return b.limit >= -maxExactInteger && b.limit <= maxExactInteger
}

func (a *fastValidator) acceptsDocument(jsonText []byte) bool {
	endIndex := a.acceptValue(jsonText, skipBlanks(jsonText, 0), maxValidatorDepth)
	return endIndex >= 0 && skipBlanks(jsonText, endIndex) == len(jsonText)
}

func (a *fastValidator) acceptValue(jsonText []byte, i, depth int) int {
	if i >= len(jsonText) || depth == 0 || a.kinds == 0 {
		return -1
	}
	endIndex := -1
	switch {
	case a.isCombinatorOnly:
	case jsonText[i] == '{':
		endIndex = a.acceptObject(jsonText, i, depth)
	case jsonText[i] == '[':
		endIndex = a.acceptArray(jsonText, i, depth)
	default:
		endIndex = a.acceptScalar(jsonText, i)
	}
	if endIndex < 0 && !a.isCombinatorOnly {
		return -1
	}
	for _, allOfValidator := range a.allOfValidators {
		if endIndex = allOfValidator.acceptValue(jsonText, i, depth-1); endIndex < 0 {
			return -1
		}
	}
	if a.alternatives == nil {
		return endIndex
	}
	for _, alternative := range a.alternatives {
		if endIndex = alternative.acceptValue(jsonText, i, depth-1); endIndex >= 0 {
			return endIndex
		}
	}
	return -1
}

func (a *fastValidator) acceptObject(jsonText []byte, i, depth int) int {
	if a.kinds&kindObject == 0 || a.constants != nil {
		return -1
	}
	i = skipBlanks(jsonText, i+1)
	if i < len(jsonText) && jsonText[i] == '}' {
		return endIfAllPresent(a.requiredMembersMask, i+1)
	}
	seenMembersMask := uint64(0)
	for {
		keyEnd, hasEscape := skipString(jsonText, i)
		if keyEnd < 0 || a.memberNames != nil && a.memberNames.acceptValue(jsonText, i, depth-1) < 0 {
			return -1
		}
		value := a.additionalMembers
		if hasEscape && len(a.members) > 0 {
			return -1
		}
		if rule, ok := a.members[string(jsonText[i+1:keyEnd-1])]; ok {
			value = rule.value
			seenMembersMask |= rule.requiredMask
		}
		i = skipBlanks(jsonText, keyEnd)
		if i == len(jsonText) || jsonText[i] != ':' {
			return -1
		}
		if i = value.acceptValue(jsonText, skipBlanks(jsonText, i+1), depth-1); i < 0 {
			return -1
		}
		i = skipBlanks(jsonText, i)
		switch {
		case i == len(jsonText):
			return -1
		case jsonText[i] == '}':
			return endIfAllPresent(a.requiredMembersMask&^seenMembersMask, i+1)
		case jsonText[i] != ',':
			return -1
		}
		i = skipBlanks(jsonText, i+1)
	}
}

func endIfAllPresent(missingMembers uint64, endIndex int) int {
	if missingMembers != 0 {
		return -1
	}
	return endIndex
}

func (a *fastValidator) acceptArray(jsonText []byte, i, depth int) int {
	if a.kinds&kindArray == 0 || a.constants != nil {
		return -1
	}
	count := 0
	i = skipBlanks(jsonText, i+1)
	if i < len(jsonText) && jsonText[i] == ']' {
		return a.itemCount.endIfInRange(count, i+1)
	}
	for {
		if i = a.items.acceptValue(jsonText, i, depth-1); i < 0 {
			return -1
		}
		count++
		i = skipBlanks(jsonText, i)
		switch {
		case i == len(jsonText):
			return -1
		case jsonText[i] == ']':
			return a.itemCount.endIfInRange(count, i+1)
		case jsonText[i] != ',':
			return -1
		}
		i = skipBlanks(jsonText, i+1)
	}
}

func (r countRange) endIfInRange(n, endIndex int) int {
	if !r.contains(n) {
		return -1
	}
	return endIndex
}

func (a *fastValidator) acceptScalar(jsonText []byte, i int) int {
	endIndex, hasMatch := -1, false
	switch jsonText[i] {
	case '"':
		var hasEscape bool
		endIndex, hasEscape = skipString(jsonText, i)
		hasMatch = endIndex >= 0 && a.acceptString(jsonText[i+1:endIndex-1], hasEscape)
	case 't':
		endIndex, hasMatch = skipLiteral(jsonText, i, "true"), a.kinds&kindBoolean != 0
	case 'f':
		endIndex, hasMatch = skipLiteral(jsonText, i, "false"), a.kinds&kindBoolean != 0
	case 'n':
		endIndex, hasMatch = skipLiteral(jsonText, i, "null"), a.kinds&kindNull != 0
	default:
		var isInteger bool
		endIndex, isInteger = skipPlainNumber(jsonText, i)
		hasMatch = endIndex >= 0 && a.acceptNumber(jsonText[i:endIndex], isInteger)
	}
	if endIndex < 0 || !hasMatch || a.constants != nil && !a.hasConstant(jsonText[i:endIndex]) {
		return -1
	}
	return endIndex
}

func (a *fastValidator) hasConstant(value []byte) bool {
	for _, constant := range a.constants {
		if string(value) == constant {
			return true
		}
	}
	return false
}

func (a *fastValidator) acceptString(jsonText []byte, hasEscape bool) bool {
	if a.kinds&kindString == 0 {
		return false
	}
	if !a.lengthRange.isSet() && a.pattern == nil && a.format == nil {
		return true
	}
	if hasEscape || !utf8.Valid(jsonText) || a.lengthRange.isSet() && !a.lengthRange.contains(utf8.RuneCount(jsonText)) {
		return false
	}
	if a.pattern == nil && a.format == nil {
		return true
	}
	s := string(jsonText)
	return (a.pattern == nil || a.pattern.MatchString(s)) && (a.format == nil || a.format.Validate(s) == nil)
}

func (a *fastValidator) acceptNumber(jsonText []byte, isInteger bool) bool {
	if len(jsonText) > maxNumberChars || a.kinds&kindNumber == 0 && (!isInteger || a.kinds&kindInteger == 0) {
		return false
	}
	if !a.lowerBound.isSet && !a.upperBound.isSet {
		return true
	}
	if isInteger {
		n, err := strconv.ParseInt(string(jsonText), 10, 64)
		return err == nil && a.lowerBound.isWithinBound(cmp.Compare(n, a.lowerBound.limit)) && a.upperBound.isWithinBound(cmp.Compare(a.upperBound.limit, n))
	}
	if len(jsonText) > maxExactDigits {
		return false
	}
	f, err := strconv.ParseFloat(string(jsonText), 64)
	return err == nil && a.lowerBound.isWithinBound(cmp.Compare(f, float64(a.lowerBound.limit))) &&
		a.upperBound.isWithinBound(cmp.Compare(float64(a.upperBound.limit), f))
}

func (b numberBound) isWithinBound(side int) bool {
	return !b.isSet || side > 0 || side == 0 && !b.isExclusive
}
