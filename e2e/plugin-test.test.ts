/**
 * `opentabs plugin test --browser` runs a plugin's tests in a real browser, and leaves no process or file
 * behind.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { chromiumPath } from './harness/chromium.ts';
import { repositoryRoot, runOrThrow } from './harness/process.ts';

const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
const tempFolder = join(homeFolder, 'temp');
mkdirSync(tempFolder);
const env = { OPENTABS_HOME: join(homeFolder, 'home'), TMPDIR: tempFolder, CHROMIUM: chromiumPath, NO_COLOR: '1' };
after(() => rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 }));

async function runPluginTests(
  pluginFolder: string,
  ...testFlags: string[]
): Promise<readonly (readonly [string, boolean])[]> {
  const command = ['plugin', 'test', pluginFolder, '--browser', '--json', '--timeout', '10m', ...testFlags];
  const eventLines = await runOrThrow(command, env);
  const events: { test?: string; skipped?: boolean }[] = eventLines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return events.flatMap((event) => (event.test ? [[event.test, event.skipped === true] as const] : []));
}

test('tests that pass in a simulated page pass in a real page', async () => {
  const testResults = await runPluginTests(
    join(repositoryRoot, 'internal/jsbuild/testdata/simulated'),
    '--filter',
    '^both: ',
  );
  assert.equal(testResults.length, 10);
  assert.deepEqual(
    testResults.filter(([, isSkipped]) => isSkipped),
    [['both: simulated pages only', true]],
  );
  assert.deepEqual(readdirSync(tempFolder), []);
});

test('the tests of a newly created plugin pass in a real page', async () => {
  await runOrThrow(['plugin', 'create', 'tickets', '--dir', homeFolder], env);
  const testResults = await runPluginTests(join(homeFolder, 'tickets'));
  assert.ok(testResults.length > 0 && testResults.every(([, isSkipped]) => !isSkipped), JSON.stringify(testResults));
  assert.deepEqual(readdirSync(tempFolder), []);
});
