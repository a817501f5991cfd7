import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const root = new URL('../', import.meta.url);
const text = readFileSync(new URL('docs/plugins.md', root), 'utf8');

test('every snippet of docs/plugins.md stands in the file that its first line names', () => {
  const snippets = [...text.matchAll(/^```(?:ts|json)\n(.*)\n((?:.*\n)*?)```$/gm)];
  assert.ok(snippets.length > 5);
  for (const [, head = '', body = ''] of snippets) {
    const name = /^\/\/ (\S+)$/.exec(head)?.[1];
    assert.ok(name, `a snippet begins with ${head}, not with its file`);
    assert.ok(readFileSync(new URL(name, root), 'utf8').includes(body), `${name} no longer has:\n${body}`);
  }
});

test('docs/plugins.md names every factory and function of the SDK', () => {
  const index = readFileSync(new URL('sdk-ts/src/index.ts', root), 'utf8');
  for (const name of [
    'definePlugin',
    'defineTool',
    'OpenTabsPlugin',
    'ToolError',
    'sleep',
    'waitUntil',
    'fetchFromPage',
    'fetchJSON',
    'fetchText',
    'postJSON',
  ]) {
    assert.ok(index.includes(name) && text.includes(name), name);
  }
});
