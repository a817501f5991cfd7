/** A new build of a plugin replaces the old build in open pages without losing state. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { findCall } from './harness/daemon-api.ts';
import { runOrThrow } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
/** The plugin "versions" runs in the world of the page's scripts, the plugin "apart" in an isolated world. */
const pluginFolders: Record<string, string> = {};

before(async () => {
  stack = await startStack({ plugins: [{ dir: 'e2e/testdata/versions' }] });
  pluginFolders.versions = join(stack.homeFolder, 'plugin-0');
  pluginFolders.apart = join(stack.homeFolder, 'apart');
  await runOrThrow(['plugin', 'create', 'apart', '--domain', '127.0.0.1', '--dir', stack.homeFolder], stack.env);
  writeFileSync(join(pluginFolders.apart, 'src/index.ts'), readFileSync(join(pluginFolders.versions, 'src/index.ts')));
  replaceInFile('apart', 'package.json', /"opentabs": \{/, '"opentabs": {\n    "world": "isolated",');
  await runOrThrow(['plugin', 'build', pluginFolders.apart], stack.env);
  await runOrThrow(['plugin', 'add', pluginFolders.apart, '--permission', 'auto'], stack.env);
  client = await stack.connectHttp();
  await waitFor('a result of the plugin "apart"', async () => {
    await stack.page.reload();
    return (await getBuild('apart')).build === 'build 1';
  });
  await stack.page.evaluate(() => {
    document.documentElement.dataset.mark = 'not reloaded';
  });
});
after(() => stack?.close());

function replaceInFile(plugin: string, file: string, oldPattern: RegExp, replacementText: string): void {
  const path = join(pluginFolders[plugin] ?? '', file);
  const fileText = readFileSync(path, 'utf8');
  assert.match(fileText, oldPattern);
  writeFileSync(path, fileText.replace(oldPattern, replacementText));
}

/** A new build of a plugin does not run before the user has reviewed the build. */
async function rebuildPlugin(plugin: string, name: string): Promise<void> {
  replaceInFile(plugin, 'src/index.ts', /buildName = '[^']*'/, `buildName = '${name}'`);
  await runOrThrow(['plugin', 'build', pluginFolders[plugin] ?? ''], stack.env);
}

async function reviewPlugin(plugin: string): Promise<void> {
  // waitFor retries, because the daemon may not have read the plugin's folder since the build.
  await waitFor(
    'plugin review to succeed',
    async () => (await stack.runCli('plugin', 'review', plugin, '--yes', '--permission', 'auto')).code === 0,
  );
}

interface BuildReport {
  readonly build?: unknown;
  readonly builds?: unknown;
  readonly preScriptValue?: unknown;
  readonly teardowns?: unknown;
}

async function getBuild(plugin: string): Promise<BuildReport> {
  return Object((await client.call(`${plugin}__get_build`)).structured);
}

async function waitForBuild(plugin: string, name: string): Promise<BuildReport> {
  return await waitFor(`${name} of ${plugin}`, async () => {
    const report = await getBuild(plugin);
    return report.build === name && report;
  });
}

const readMarkAttribute = () => stack.page.evaluate(() => document.documentElement.dataset.mark);

for (const plugin of ['versions', 'apart']) {
  test(`${plugin}: a reviewed build replaces the old build in the page and keeps its state`, async () => {
    const preScriptValue = plugin === 'versions' ? 'pre-script 1 at loading' : '';
    await rebuildPlugin(plugin, 'build 2');
    // The daemon removes the code of the old build immediately, even before the user reviews the new build.
    await waitFor('calls of the old build to fail', async () => (await client.call(`${plugin}__get_build`)).isError);
    await reviewPlugin(plugin);
    const callOutcome = await waitForBuild(plugin, 'build 2');
    assert.deepEqual([callOutcome.builds, callOutcome.preScriptValue], [['build 1', 'build 2'], preScriptValue]);
    assert.match(String(callOutcome.teardowns), /build 1;$/);
    await rebuildPlugin(plugin, 'build 1');
    await reviewPlugin(plugin);
    assert.deepEqual((await waitForBuild(plugin, 'build 1')).builds, ['build 1', 'build 2', 'build 1']);
    assert.equal(await readMarkAttribute(), 'not reloaded');
  });
}

test('a running call ends in the build that it started in, and later calls wait for the new build', async () => {
  const runningCall = client.call('versions__wait');
  await waitFor('the call of build 1 to wait in the page', () =>
    stack.page.evaluate(() => document.documentElement.dataset.waiting === 'build 1'),
  );
  await rebuildPlugin('versions', 'build 6');
  await reviewPlugin('versions');
  const nextCall = client.call('versions__get_build');
  await stack.page.evaluate(() => {
    document.documentElement.dataset.go = '';
  });
  assert.deepEqual((await runningCall).structured, { build: 'build 1' });
  const nextResult = await nextCall;
  assert.equal(Object(nextResult.structured).build, 'build 6', nextResult.text);
  assert.equal(await readMarkAttribute(), 'not reloaded');
});

test('a build that does not start leaves the old build in the page, and a later build replaces it', async () => {
  replaceInFile(
    'apart',
    'src/index.ts',
    /export default/,
    "if (document.documentElement.dataset.mark === 'not reloaded') throw new Error('typo');\nexport default",
  );
  await rebuildPlugin('apart', 'build 3');
  await reviewPlugin('apart');
  await waitFor('a call to fail because the build did not start', async () =>
    /did not start/.test((await client.call('apart__get_build')).text),
  );
  replaceInFile('apart', 'src/index.ts', /if \(document.*\n/, '');
  await rebuildPlugin('apart', 'build 4');
  await reviewPlugin('apart');
  await waitForBuild('apart', 'build 4');
  assert.equal(await readMarkAttribute(), 'not reloaded');
});

test('a changed pre-script needs a reload, which the user allows for a page that the user has interacted with', async () => {
  await stack.page.mouse.click(5, 5);
  replaceInFile('versions', 'src/pre-script.ts', /pre-script 1/, 'pre-script 2');
  await rebuildPlugin('versions', 'build 5');
  await reviewPlugin('versions');
  const call = client.call('versions__get_build');
  const { call_id } = await findCall(stack, 'versions__get_build', ({ waiting }) => waiting !== undefined);
  assert.equal(await readMarkAttribute(), 'not reloaded');
  await waitFor('opentabs status to report that the page needs a reload', async () =>
    /versions.*reload/s.test((await stack.runCli('status')).stdout),
  );
  assert.equal((await stack.runCli('calls', 'approve', call_id)).code, 0);
  const { build, preScriptValue } = Object((await call).structured);
  assert.deepEqual([build, preScriptValue], ['build 5', 'pre-script 2 at loading']);
  assert.equal(await readMarkAttribute(), undefined, 'the mark of the page must be gone after the reload');
});
