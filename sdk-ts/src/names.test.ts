import assert from 'node:assert/strict';
import test from 'node:test';
import { LUCIDE_ICON_NAMES } from './lucide-icon-names.gen.ts';
import { RESERVED_NAMES, validatePluginName } from './names.ts';
import { validateUrlPattern } from './url-pattern.ts';

test('validatePluginName accepts valid names and describes the problem of an invalid name', () => {
  for (const name of ['a', 'my-site', 'x2-3']) assert.equal(validatePluginName(name), null, name);
  assert.match(validatePluginName('') ?? '', /is empty; use one/);
  for (const name of ['A', 'a_b', '-a', 'a-', 'a--b', 'ä', 'a b']) {
    assert.match(validatePluginName(name) ?? '', /use lower-case letters and digits/, name);
  }
  for (const name of RESERVED_NAMES) assert.match(validatePluginName(name) ?? '', /is reserved; choose/);
  assert.deepEqual([...RESERVED_NAMES].sort(), [
    'browser',
    'config',
    'extension',
    'mcp',
    'opentabs',
    'plugin',
    'system',
    'tool',
  ]);
});

// A Go test in internal/jsbuild checks that the SDK and the server apply the same rules to names.
test('validateUrlPattern accepts valid patterns and describes the problem of an invalid pattern', () => {
  assert.equal(validateUrlPattern('*://*.example.com/*'), null);
  assert.equal(
    validateUrlPattern('*://*/*'),
    `pattern "*://*/*" matches every host; name the site's host, as in *://*.example.com/*`,
  );
});

test('LUCIDE_ICON_NAMES contains present and former names', () => {
  for (const name of ['wrench', 'message-square', 'circle-alert', 'alert-circle']) {
    assert.equal(LUCIDE_ICON_NAMES.has(name), true, name);
  }
  assert.equal(LUCIDE_ICON_NAMES.has('no-such-icon'), false);
  const names = [...LUCIDE_ICON_NAMES];
  assert.ok(names.length > 1900);
  assert.deepEqual(names, [...names].sort());
});
