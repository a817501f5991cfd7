/** Promise: a new build of a plugin replaces the old build in open pages, without loss of state. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { runChecked } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
/** dirs are the folders of the plugin in the page's world and of its twin in an isolated world. */
const dirs: Record<string, string> = {};

before(async () => {
  stack = await startStack({ plugins: [{ dir: 'e2e/testdata/versions' }] });
  dirs.versions = join(stack.home, 'plugin-0');
  dirs.apart = join(stack.home, 'apart');
  await runChecked(['plugin', 'create', 'apart', '--domain', '127.0.0.1', '--dir', stack.home], stack.env);
  writeFileSync(join(dirs.apart, 'src/index.ts'), readFileSync(join(dirs.versions, 'src/index.ts')));
  change('apart', 'package.json', /"opentabs": \{/, '"opentabs": {\n    "world": "isolated",');
  await runChecked(['plugin', 'build', dirs.apart], stack.env);
  await runChecked(['plugin', 'add', dirs.apart, '--permission', 'auto'], stack.env);
  client = await stack.connectHttp();
  await waitFor('the second plugin', async () => {
    await stack.page.reload();
    return (await which('apart')).build === 'build 1';
  });
  await stack.page.evaluate(() => {
    document.documentElement.dataset.mark = 'not reloaded';
  });
});
after(() => stack?.close());

/** change replaces a text of a file of a plugin. */
function change(plugin: string, file: string, old: RegExp, fresh: string): void {
  const path = join(dirs[plugin] ?? '', file);
  const text = readFileSync(path, 'utf8');
  assert.match(text, old);
  writeFileSync(path, text.replace(old, fresh));
}

/** build rebuilds a plugin with this build name. The new build is off until review. */
async function build(plugin: string, name: string): Promise<void> {
  change(plugin, 'src/index.ts', /build = '[^']*'/, `build = '${name}'`);
  await runChecked(['plugin', 'build', dirs[plugin] ?? ''], stack.env);
}

async function review(plugin: string): Promise<void> {
  // The server may not have read the folder yet.
  await waitFor(
    'the review',
    async () => (await stack.runCli('plugin', 'review', plugin, '--yes', '--permission', 'auto')).code === 0,
  );
}

interface Which {
  readonly build?: unknown;
  readonly builds?: unknown;
  readonly early?: unknown;
  readonly torn?: unknown;
}

async function which(plugin: string): Promise<Which> {
  return Object((await client.call(`${plugin}__which`)).structured);
}

/** live waits until a build answers. */
async function live(plugin: string, name: string): Promise<Which> {
  return await waitFor(`${name} of ${plugin}`, async () => {
    const found = await which(plugin);
    return found.build === name && found;
  });
}

const mark = () => stack.page.evaluate(() => document.documentElement.dataset.mark);

for (const plugin of ['versions', 'apart']) {
  test(`${plugin}: a reviewed build replaces the old one in the page and keeps its state`, async () => {
    const early = plugin === 'versions' ? 'pre-script 1 at loading' : '';
    await build(plugin, 'build 2');
    // Without a review the old code is removed at once.
    await waitFor('the change', async () => (await client.call(`${plugin}__which`)).isError);
    await review(plugin);
    const out = await live(plugin, 'build 2');
    assert.deepEqual([out.builds, out.early], [['build 1', 'build 2'], early]);
    assert.match(String(out.torn), /build 1;$/);
    await build(plugin, 'build 1');
    await review(plugin);
    assert.deepEqual((await live(plugin, 'build 1')).builds, ['build 1', 'build 2', 'build 1']);
    assert.equal(await mark(), 'not reloaded');
  });
}

test('a running call ends in the build that it started in, and later calls wait for the new build', async () => {
  const running = client.call('versions__wait');
  await waitFor('the call', () => stack.page.evaluate(() => document.documentElement.dataset.waiting === 'build 1'));
  await build('versions', 'build 6');
  await review('versions');
  const next = client.call('versions__which');
  await stack.page.evaluate(() => {
    document.documentElement.dataset.go = '';
  });
  assert.deepEqual((await running).structured, { build: 'build 1' });
  assert.equal(Object(await next).structured?.build, 'build 6');
  assert.equal(await mark(), 'not reloaded');
});

test('a build that does not start leaves the old build in the page, and a later build replaces it', async () => {
  change(
    'apart',
    'src/index.ts',
    /export default/,
    "if (document.documentElement.dataset.mark === 'not reloaded') throw new Error('typo');\nexport default",
  );
  await build('apart', 'build 3');
  await review('apart');
  await waitFor('the error of the build', async () => /did not start/.test((await client.call('apart__which')).text));
  change('apart', 'src/index.ts', /if \(document.*\n/, '');
  await build('apart', 'build 4');
  await review('apart');
  await live('apart', 'build 4');
  assert.equal(await mark(), 'not reloaded');
});

test('a changed pre-script needs a reload, and a page that the user has interacted with is not reloaded automatically', async () => {
  await stack.page.mouse.click(5, 5);
  change('versions', 'src/pre-script.ts', /pre-script 1/, 'pre-script 2');
  await build('versions', 'build 5');
  await review('versions');
  await waitFor('the need of a reload', async () => /reload/.test((await client.call('versions__which')).text));
  assert.equal(await mark(), 'not reloaded');
  await waitFor('the need of a reload in the status', async () =>
    /versions.*reload/s.test((await stack.runCli('status')).stdout),
  );
  await stack.page.reload();
  assert.equal((await live('versions', 'build 5')).early, 'pre-script 2 at loading');
});
