/** `opentabs doctor` names the broken part of the connection between daemon and browser, and the remedy. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isRecord } from '../../extension/src/record.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [{ dir: 'e2e/testdata/runaway' }], chrome: { userScripts: false } });
});
after(() => stack?.close());

/** runDoctor formats each finding as "LEVEL TEXT; do: REMEDY". */
async function runDoctor(hopName: string): Promise<{ code: number | null; doctorFindings: readonly string[] }> {
  const { code, stdout } = await stack.runCli('doctor', '--json');
  const report: unknown = JSON.parse(stdout);
  const doctorFindings = isRecord(report) && Array.isArray(report.findings) ? report.findings.filter(isRecord) : [];
  return {
    code,
    doctorFindings: doctorFindings
      .filter((finding) => finding.check === hopName)
      .map((finding) => `${finding.level} ${finding.text}; do: ${finding.do ?? ''}`),
  };
}

async function waitForFinding(hopName: string, pattern: RegExp): Promise<void> {
  let lastFindings: readonly string[] = [];
  await waitFor(`a finding about ${hopName} that matches ${pattern}`, async () => {
    lastFindings = (await runDoctor(hopName)).doctorFindings;
    return lastFindings.some((finding) => pattern.test(finding));
  }).catch((error: unknown) => assert.fail(`${error}: the last findings are ${lastFindings.join(' | ')}`));
}

async function reloadExtension(): Promise<void> {
  const [worker] = stack.chrome.context.serviceWorkers();
  await worker?.evaluate('setTimeout(() => chrome.runtime.reload(), 100), 0');
}

test('opentabs doctor reports that "Allow User Scripts" is optional in a browser without this setting', async () => {
  await waitForFinding('browsers', /^ok .*plugins run from files \(optional: turn on "Allow User Scripts"/);
  await waitForFinding('round trip', /^ok .* answered in [0-9.]+ m?s; do: $/);
  const hopNames = ['http rules', 'mcp http', 'mcp stdio', 'extension', 'server'];
  const { stdout } = await stack.runCli('doctor', '--json');
  const { findings: doctorFindings }: { findings: { check: string; level: string }[] } = JSON.parse(stdout);
  for (const hopName of hopNames)
    assert.ok(
      doctorFindings.some(({ check, level }) => check === hopName && level === 'ok'),
      hopName,
    );
});

test('opentabs doctor lists an unresponsive tab with the command that reloads the tab', async () => {
  const client = await stack.connectHttp();
  const blockingCall = client.call('runaway__spin', { ms: 10 * 60_000 });
  await waitForFinding('tabs', /^warn .*do not respond: \d+; do: run `opentabs browser reload-tab TAB`/);
  const [tab] = await stack.listTabs();
  const reloadCommand = await stack.runCli('browser', 'reload-tab', String(tab?.tabId));
  assert.equal(reloadCommand.code, 0, reloadCommand.stderr);
  assert.equal((await blockingCall).isError, true);
  await waitFor('no finding about tabs', async () => (await runDoctor('tabs')).doctorFindings.length === 0);
});

test('opentabs doctor gives different advice for an old extension in Chrome and an old extension folder', async () => {
  const file = join(stack.extensionFolder, 'manifest.json');
  const manifest = readFileSync(file, 'utf8');
  writeFileSync(file, manifest.replace(/"version": "[^"]*"/, '"version": "0.0.1"'));
  await reloadExtension();
  await waitForFinding('browsers', /^warn .*extension 0\.0\.1; .*do: run `opentabs extension install`/);
  assert.match((await runDoctor('extension')).doctorFindings.join('\n'), /^warn .*differs from that of this program/);
  const { stdout } = await stack.runCli('doctor', '--fix');
  assert.match(stdout, /^fixed extension +wrote the extension of .*press the extension's reload button/m);
  await waitForFinding('browsers', /^warn .*extension 0\.0\.1; .*do: press the extension's reload button/);
  await reloadExtension();
  await waitForFinding('browsers', /^ok /);
});

test('opentabs doctor reports a closed browser', async () => {
  await stack.chrome.close();
  await waitForFinding(
    'browsers',
    /^warn .*(it is disconnected; do: check that the browser|none is connected; do: open Chrome)/,
  );
});
