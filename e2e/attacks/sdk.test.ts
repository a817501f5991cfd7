/**
 * Threat: the page that a tool runs in. Plugins built with the SDK, started before the page's scripts, after them and in the
 * isolated world, pass secrets through all that the SDK has; the page sees none of them and changes nothing.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { callRecord, findCall } from '../harness/daemon-api.ts';
import { repositoryRoot, runChecked } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { buildLegacy, type LegacyPlugin } from '../testdata/legacy/legacy.ts';
import { html, type Pages, Secret, script, startPages, visit } from './world.ts';

/** Kinds are the ways of an adapter to start, by the name of its plugin. */
const kinds = {
  early: {},
  late: { start: 'document_idle' },
  isolated: { world: 'isolated' },
} as const;

/** original is built with the original SDK. Its handler returns a text: the page can change an object that it returns. */
const original: LegacyPlugin = {
  name: 'original',
  urlPatterns: ['*://127.0.0.1/*'],
  source: `
import { z } from 'zod';
import { defineTool, OpenTabsPlugin } from '@opentabs-dev/plugin-sdk';
const input = z.object({ value: z.string().trim(), limit: z.number().optional(), to: z.array(z.object({ name: z.string() })).default([]) });
class Original extends OpenTabsPlugin {
  tools = [
    defineTool({ name: 'show', description: 'x', input, output: z.string(), handle: async ({ value, limit, to }, context) => {
      context.reportProgress({ progress: 1, total: 2, message: value, audience: 'user' });
      return \`\${value} \${limit ?? 'none'} \${to[0]?.name ?? 'nobody'}\`;
    } }),
  ];
  isReady() {
    return Promise.resolve(true);
  }
}
export default new Original();`,
};

let stack: Stack;
let client: McpClient;
let pages: Pages;

before(async () => {
  pages = await startPages({
    '/replace': html(script('replace-all.js')),
    '/plant': html(script('plant.js')),
    '/both': html(`${script('plant.js')};${script('replace-all.js')}`),
  });
  // A page that is busy with what it does to itself takes that long to answer on a slow machine.
  stack = await startStack({ serveFlags: ['--idle-timeout', '60s'] });
  client = await stack.connectHttp();
  for (const [kind, how] of Object.entries(kinds)) await addVictim(`victim-${kind}`, how);
  const dir = join(stack.home, 'original');
  await buildLegacy(dir, original);
  await runChecked(['plugin', 'add', dir, '--permission', 'auto'], stack.env);
});
after(async () => {
  pages?.close();
  await stack?.close();
});

/** addVictim builds the victim under another name and adds it. */
async function addVictim(name: string, how: object): Promise<void> {
  const dir = join(stack.home, name);
  cpSync(join(repositoryRoot, 'e2e/testdata/victim'), dir, { recursive: true });
  const path = join(dir, 'package.json');
  const described: { opentabs: object } = JSON.parse(readFileSync(path, 'utf8'));
  const opentabs = { ...described.opentabs, ...how };
  writeFileSync(path, JSON.stringify({ ...described, name: `opentabs-plugin-${name}`, opentabs }));
  await runChecked(['plugin', 'build', dir], stack.env);
  await runChecked(['plugin', 'add', dir, '--permission', 'auto'], stack.env);
  await runChecked(['plugin', 'configure', name, `key=${Secret}`], stack.env);
  // Without it a plugin that starts late gets no secret that could be seen.
  if ('start' in how) await runChecked(['plugin', 'permission', name, '--late-access', 'on'], stack.env);
}

/** unseen calls every tool of a plugin in a tab and checks what they saw and returned. */
async function unseen(plugin: string, tabId: number): Promise<void> {
  const run = async (tool: string, args: object = {}) =>
    client.call(`${plugin}__${tool}`, { value: ` ${Secret} `, tabId, ...args });
  const seen = { value: Secret, limit: 'none', first: 'nobody', mail: 'none', kind: 'a' };
  const echo = await run('echo');
  assert.deepEqual(echo.structured, seen, echo.text);
  assert.ok(echo.progress.some((report) => report.message === Secret));
  const record = await callRecord(stack, (await findCall(stack, `${plugin}__echo`)).call_id);
  assert.deepEqual(record.activities, [{ type: 'text', content: Secret }]);
  const named = await run('echo', { to: [{ name: 'ann' }], limit: 3 });
  assert.deepEqual(named.structured, { ...seen, limit: 3, first: { name: 'ann' } }, named.text);
  const wrong = await run('echo', { to: [{ name: 'ann', mail: 'no address' }] });
  assert.equal(wrong.code, 'invalid_arguments', wrong.text);
  const later = { value: Secret, list: [{ value: Secret }] };
  const awaits = await run('awaits');
  assert.deepEqual(awaits.structured, { ...later, more: [later, '1970-01-01T00:00:00.000Z', 1] }, awaits.text);
  const rejects = await run('rejects');
  assert.match(rejects.text, new RegExp(`${Secret}.*RATE_LIMITED`, 's'));
  assert.deepEqual((await run('asks')).structured, { told: seen });
  assert.deepEqual((await run('keeps')).structured, { kept: Secret, key: Secret });
  assert.deepEqual((await run('logs')).structured, { query: `q=${Secret}` });
  const { data } = Object((await run('draws')).structured);
  assert.match(String(data), /image\/png, 11 bytes/);
  for (const told of [echo, named, wrong, awaits, rejects]) assert.doesNotMatch(JSON.stringify(told), /FORGED/);
  assert.deepEqual(pages.notes.splice(0), []);
}

const attacks = [
  ['replaces every built-in it can reach', 'replace'],
  ['plants getters, setters and values on the shared prototypes', 'plant'],
  ['does both', 'both'],
] as const;

for (const [what, path] of attacks) {
  for (const kind of Object.keys(kinds)) {
    test(`page: its first script ${what}, and a plugin of the SDK that is ${kind} shows it nothing`, async () => {
      const plugin = `victim-${kind}`;
      const { page, tabId } = await visit(stack, `${pages.origin}/${path}?${kind}`, plugin);
      await unseen(plugin, tabId);
      await page.close();
    });
  }
}

for (const [what, path] of attacks) {
  test(`page: its first script ${what}, and changes nothing of what a plugin of the original SDK gets and returns`, async () => {
    const { page, tabId } = await visit(stack, `${pages.origin}/${path}?original`, 'original');
    const ended = await client.call('original__show', { value: ` ${Secret} `, tabId });
    assert.deepEqual([ended.isError, ended.text], [false, `${Secret} none nobody`]);
    assert.ok(ended.progress.some((report) => report.message === Secret));
    // The original SDK's own wrapper shows these what it calls and awaits (docs/security.md).
    const known = /Promise\.prototype\.then|Function\.prototype\.apply|Promise\.prototype\.constructor/;
    assert.deepEqual(
      pages.notes.splice(0).filter((note) => !known.test(note)),
      [],
    );
    await page.close();
  });
}
