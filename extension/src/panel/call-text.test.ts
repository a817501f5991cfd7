import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { argsLine, commandFor, hasAllArgs } from './call-text.ts';

test('argsLine shows names and values without brackets, also of truncated arguments', () => {
  assert.equal(argsLine('{"channel":"general","limit":100,"tags":["a"]}'), 'channel: general, limit: 100, tags: ["a"]');
  assert.equal(argsLine('{"text":"two\\nlines"}'), 'text: two lines');
  assert.equal(argsLine('{"text":"cut o'), '"text":"cut o');
  assert.equal(argsLine('{"text":"a\\u202eb"}'), 'text: a\\u202eb');
  assert.equal(argsLine('{}'), '');
  assert.equal(argsLine(undefined), '');
});

test('hasAllArgs rejects truncated and masked arguments', () => {
  assert.ok(hasAllArgs('{"a":1}'));
  for (const args of [undefined, '{"a":"cut o', '{"text":"•••"}', '7']) assert.ok(!hasAllArgs(args), args);
});

test('commandFor returns a command whose arguments a shell passes on unchanged', () => {
  const call = { callId: 'c', plugin: 'messages', tool: 'post', status: 'done', runMs: 1 } as const;
  const args = JSON.stringify({ text: `it's "$HOME" \\ \`id\` $(id) \n end` });
  const command = commandFor(call, args) ?? '';
  const printed = execFileSync('sh', ['-c', command.replace('opentabs', "printf '%s|'")], { encoding: 'utf8' });
  assert.deepEqual(printed.split('|').slice(0, 4), ['call', 'messages__post', '--input', args]);
  assert.equal(commandFor({ ...call, plugin: 'browser', tool: 'browser_tabs' }, '{}'), 'opentabs call browser_tabs');
  assert.equal(commandFor({ ...call, prompt: true }, '{}'), undefined);
});
