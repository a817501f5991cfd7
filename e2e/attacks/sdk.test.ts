/**
 * Threat: a hostile page reads or changes the values that a plugin passes to the functions of the SDK. The test covers
 * adapters that start before the page's scripts, after the page's scripts, and in the isolated world.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { fetchCallRecord, findCall } from '../harness/daemon-api.ts';
import { repositoryRoot, runOrThrow } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { buildLegacyPlugin, type LegacyPlugin } from '../testdata/legacy/legacy.ts';
import {
  type AttackerSite,
  makeHtmlWithScript,
  openPageWithPlugin,
  readScript,
  secretText,
  startAttackerSite,
} from './attacker.ts';

/** The manifest fields in victimPluginSources determine where and when the adapter of each plugin starts. */
const victimPluginSources = {
  early: {},
  late: { start: 'document_idle' },
  isolated: { world: 'isolated' },
} as const;

/** The tool of originalSdkPlugin returns a string, because a hostile page could change a returned object. */
const originalSdkPlugin: LegacyPlugin = {
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
      return \`\${value} \${limit ?? 'none'} \${to[0]?.name ?? 'no recipient'}\`;
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
let attackerSite: AttackerSite;

before(async () => {
  attackerSite = await startAttackerSite({
    '/replace': makeHtmlWithScript(readScript('replace-all.js')),
    '/plant': makeHtmlWithScript(readScript('plant.js')),
    '/both': makeHtmlWithScript(`${readScript('plant.js')};${readScript('replace-all.js')}`),
  });
  // On a slow machine, a page that replaces thousands of JavaScript built-ins responds late.
  stack = await startStack({ serveFlags: ['--idle-timeout', '60s'] });
  client = await stack.connectHttp();
  for (const [kind, manifestFields] of Object.entries(victimPluginSources))
    await addVictimPlugin(`victim-${kind}`, manifestFields);
  const pluginFolder = join(stack.homeFolder, 'original');
  await buildLegacyPlugin(pluginFolder, originalSdkPlugin);
  await runOrThrow(['plugin', 'add', pluginFolder, '--permission', 'auto'], stack.env);
});
after(async () => {
  attackerSite?.close();
  await stack?.close();
});

/** addVictimPlugin adds a copy of the test plugin "victim" with additional manifest fields to the daemon. */
async function addVictimPlugin(name: string, manifestFields: object): Promise<void> {
  const pluginFolder = join(stack.homeFolder, name);
  cpSync(join(repositoryRoot, 'e2e/testdata/victim'), pluginFolder, { recursive: true });
  const path = join(pluginFolder, 'package.json');
  const manifest: { opentabs: object } = JSON.parse(readFileSync(path, 'utf8'));
  const opentabs = { ...manifest.opentabs, ...manifestFields };
  writeFileSync(path, JSON.stringify({ ...manifest, name: `opentabs-plugin-${name}`, opentabs }));
  await runOrThrow(['plugin', 'build', pluginFolder], stack.env);
  await runOrThrow(['plugin', 'add', pluginFolder, '--permission', 'auto'], stack.env);
  await runOrThrow(['plugin', 'configure', name, `key=${secretText}`], stack.env);
  // A plugin that starts after the page's scripts receives secrets only with the permission for late access.
  if ('start' in manifestFields) await runOrThrow(['plugin', 'permission', name, '--late-access', 'on'], stack.env);
}

async function assertPageSawNoSecret(plugin: string, tabId: number): Promise<void> {
  const callTool = async (tool: string, args: object = {}) =>
    client.call(`${plugin}__${tool}`, { value: ` ${secretText} `, tabId, ...args });
  const expectedResult = { value: secretText, limit: 'none', first: 'no recipient', mail: 'none', kind: 'a' };
  const echoOutcome = await callTool('echo');
  assert.deepEqual(echoOutcome.structured, expectedResult, echoOutcome.text);
  assert.ok(echoOutcome.progress.some((report) => report.message === secretText));
  const callRecord = await fetchCallRecord(stack, (await findCall(stack, `${plugin}__echo`)).call_id);
  assert.deepEqual(callRecord.activities, [{ type: 'text', content: secretText }]);
  const echoResult = await callTool('echo', { to: [{ name: 'ann' }], limit: 3 });
  assert.deepEqual(echoResult.structured, { ...expectedResult, limit: 3, first: { name: 'ann' } }, echoResult.text);
  const invalidCall = await callTool('echo', { to: [{ name: 'ann', mail: 'no address' }] });
  assert.equal(invalidCall.code, 'invalid_arguments', invalidCall.text);
  const nestedValue = { value: secretText, list: [{ value: secretText }] };
  const awaitPromisesResult = await callTool('await_promises');
  assert.deepEqual(
    awaitPromisesResult.structured,
    { ...nestedValue, more: [nestedValue, '1970-01-01T00:00:00.000Z', 1] },
    awaitPromisesResult.text,
  );
  const errorResult = await callTool('throw_tool_error');
  assert.match(errorResult.text, new RegExp(`${secretText}.*RATE_LIMITED`, 's'));
  assert.deepEqual((await callTool('call_echo')).structured, { echoed: expectedResult });
  assert.deepEqual((await callTool('use_auth_cache')).structured, { cached: secretText, key: secretText });
  assert.deepEqual((await callTool('write_log')).structured, { query: `q=${secretText}` });
  const { data: imageData } = Object((await callTool('return_image')).structured);
  assert.match(String(imageData), /image\/png, 11 bytes/);
  for (const callOutcome of [echoOutcome, echoResult, invalidCall, awaitPromisesResult, errorResult])
    assert.doesNotMatch(JSON.stringify(callOutcome), /FORGED/);
  assert.deepEqual(attackerSite.leakedSecrets.splice(0), []);
}

const attackPages = [
  ['replaces every built-in it can reach', 'replace'],
  ['plants getters, setters and values on the shared prototypes', 'plant'],
  ['replaces built-ins and plants getters', 'both'],
] as const;

for (const [attackPage, path] of attackPages) {
  for (const kind of Object.keys(victimPluginSources)) {
    test(`page: a page whose first script ${attackPage} sees no secret of the ${kind} plugin of the SDK`, async () => {
      const plugin = `victim-${kind}`;
      const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/${path}?${kind}`, plugin);
      await assertPageSawNoSecret(plugin, tabId);
      await page.close();
    });
  }
}

for (const [attackPage, path] of attackPages) {
  test(`page: a page whose first script ${attackPage} changes no argument and no result of a plugin of the original SDK`, async () => {
    const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/${path}?original`, 'original');
    const callOutcome = await client.call('original__show', { value: ` ${secretText} `, tabId });
    assert.deepEqual([callOutcome.isError, callOutcome.text], [false, `${secretText} none no recipient`]);
    assert.ok(callOutcome.progress.some((report) => report.message === secretText));
    // The wrapper for plugins of the original OpenTabs SDK exposes secrets to three JavaScript built-ins of the page
    // (docs/security.md).
    const knownLeakPattern = /Promise\.prototype\.then|Function\.prototype\.apply|Promise\.prototype\.constructor/;
    assert.deepEqual(
      attackerSite.leakedSecrets.splice(0).filter((leakedNote) => !knownLeakPattern.test(leakedNote)),
      [],
    );
    await page.close();
  });
}
