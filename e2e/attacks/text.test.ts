/** Threat: text of a tool or page controls a terminal or forges a log line, or a log contains secrets. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { startOpentabs } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { secretText } from './attacker.ts';

let stack: Stack;
let client: McpClient;
const hostileText =
  '\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\\x1b[2J\u009b31m\rx\b\x00\u202egnp\u2066\u200b\u{e0041}\nopentabs: forged';
/**
 * unsafeCharacter also matches tabs and zero-width joiners, which are harmless, so assertPrintable removes them first.
 */
const unsafeCharacter = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

before(async () => {
  stack = await startStack({ serveFlags: ['--log-level', 'trace'] });
  client = await stack.connectHttp();
});
after(async () => {
  await stack?.close();
});

function assertPrintable(textSource: string, printedText: string): void {
  for (const line of printedText.split('\n')) {
    const unsafeCharacterMatch = unsafeCharacter.exec(line.replaceAll(/[\t\u200c\u200d]/g, ''));
    assert.equal(unsafeCharacterMatch, null, `${textSource}: ${JSON.stringify(line)}`);
    assert.doesNotMatch(line, /^opentabs: forged/, textSource);
  }
}

test('text: every command and the log print a hostile title, address, report, result and error without control characters', async () => {
  const { page, site } = stack;
  await page.goto(`${site.url}?${encodeURIComponent(hostileText)}#${hostileText.replaceAll('\n', '')}`);
  await page.evaluate((title) => {
    document.title = title;
  }, hostileText);
  const followCommand = startOpentabs(['calls', '--follow', '--verbose'], stack.env);
  await waitFor('calls --follow to start following', () => followCommand.stderr().includes('following'));
  await waitFor('a plugin to be live in a tab', async () =>
    (await stack.listTabs()).some((tab) => (tab.plugins ?? []).length > 0),
  );
  const call = startOpentabs(
    [
      'call',
      'messages__reports',
      '--verbose',
      '--input',
      JSON.stringify({ reports: [{ message: hostileText, progress: 1 }] }),
    ],
    stack.env,
  );
  await call.commandResult;
  const failedCall = await stack.runCli('call', 'messages__fail', '--input', JSON.stringify({ message: hostileText }));
  await waitFor('calls --follow to print the failed call', () => followCommand.stdout().includes('tool_error'));
  followCommand.child.kill('SIGINT');
  await followCommand.commandResult;
  assertPrintable('calls --follow', followCommand.stdout() + followCommand.stderr());
  assertPrintable('call, progress', call.stderr());
  assertPrintable('call, failure', failedCall.stderr);
  for (const args of [
    ['calls'],
    ['status'],
    ['plugin', 'list'],
    ['calls', 'cancel', hostileText],
    ['call', hostileText],
    ['plugin', 'add', hostileText],
  ]) {
    const commandResult = await stack.runCli(...args.map((arg) => arg.replaceAll('\0', '')));
    assertPrintable(args.join(' '), commandResult.stdout + commandResult.stderr);
  }
  assertPrintable('the log', stack.daemon.stderr() + stack.daemon.stdout());
});

test('text: an agent and a program receive a result with control characters unchanged', async () => {
  const echoOutcome = await client.call('messages__echo', { value: hostileText });
  assert.deepEqual(echoOutcome.structured, { value: hostileText });
  const pipedCall = await stack.runCli('call', 'messages__echo', '--input', JSON.stringify({ value: hostileText }));
  assert.deepEqual(JSON.parse(pipedCall.stdout), { value: hostileText });
});

test('text: the side panel shows markup and control characters as text', async () => {
  const panel = await stack.chrome.openPanel();
  const forgedMarkup = '<img src=x onerror="document.title=1"><b id=forged>';
  await client.call('messages__fail', { message: `${forgedMarkup}${hostileText}` });
  await waitFor('the side panel to show the failed call', async () =>
    (await panel.locator('body').innerText()).includes('fail'),
  );
  assert.equal(await panel.locator('#forged, img').count(), 0);
  assertPrintable('the panel', await panel.locator('body').innerText());
});

test('text: no log contains the token, arguments, results or errors of calls', async () => {
  await client.call('messages__echo', { value: `${secretText}-argument` });
  await client.call('messages__reports', { reports: [{ message: `${secretText}-report`, progress: 1 }] });
  await client.call('messages__fail', { message: `${secretText}-error`, code: 'X' });
  await client.call('messages__echo', { wrong: `${secretText}-wrong` });
  const stdioClient = await stack.connectStdio();
  await stdioClient.call('messages__echo', { value: `${secretText}-stdio` });
  // The test allows progress reports of tools in the daemon's log and files, but no arguments, results or errors.
  const removeReportTexts = (printedText: string) => printedText.replaceAll(`${secretText}-report`, '');
  const logs = [stack.daemon.stderr(), stack.daemon.stdout()].map(removeReportTexts);
  for (const name of readdirSync(stack.homeFolder)) {
    const path = join(stack.homeFolder, name);
    if (name === 'token' || name.endsWith('.tmp') || !statSync(path).isFile()) continue;
    logs.push(removeReportTexts(readFileSync(path, 'utf8')));
  }
  const allLogText = logs.join('\n');
  assert.match(allLogText, /"message":"run started"/, 'the log must contain debug lines');
  for (const secret of [stack.token, secretText]) {
    const line = allLogText.split('\n').find((line) => line.includes(secret));
    assert.equal(line, undefined);
  }
});
