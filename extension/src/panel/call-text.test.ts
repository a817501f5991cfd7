import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { formatArguments, isCompleteArguments, makeRepeatCommand } from './call-text.ts';

test('formatArguments shows the names and values of complete and truncated arguments without braces', () => {
  assert.equal(
    formatArguments('{"channel":"general","limit":100,"tags":["a"]}'),
    'channel: general, limit: 100, tags: ["a"]',
  );
  assert.equal(formatArguments('{"text":"two\\nlines"}'), 'text: two lines');
  assert.equal(formatArguments('{"text":"cut o'), '"text":"cut o');
  assert.equal(formatArguments('{"text":"a\\u202eb"}'), 'text: a\\u202eb');
  assert.equal(formatArguments('{}'), '');
  assert.equal(formatArguments(undefined), '');
});

test('isCompleteArguments rejects truncated and masked arguments', () => {
  assert.ok(isCompleteArguments('{"a":1}'));
  for (const args of [undefined, '{"a":"cut o', '{"text":"•••"}', '7']) assert.ok(!isCompleteArguments(args), args);
});

test('makeRepeatCommand returns a command whose arguments a shell passes on unchanged', () => {
  const call = { callId: 'c', plugin: 'messages', tool: 'post', status: 'done', runMs: 1 } as const;
  const args = JSON.stringify({ text: `it's "$HOME" \\ \`id\` $(id) \n end` });
  const command = makeRepeatCommand(call, args) ?? '';
  const printedCommand = execFileSync('sh', ['-c', command.replace('opentabs', "printf '%s|'")], { encoding: 'utf8' });
  assert.deepEqual(printedCommand.split('|').slice(0, 4), ['call', 'messages__post', '--input', args]);
  assert.equal(
    makeRepeatCommand({ ...call, plugin: 'browser', tool: 'browser_tabs' }, '{}'),
    'opentabs call browser_tabs',
  );
  assert.equal(makeRepeatCommand({ ...call, prompt: true }, '{}'), undefined);
});
