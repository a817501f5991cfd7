/** Threat: text of tools and pages that steers a terminal or forges a line of a log; and secrets that a log tells. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { startOpentabs } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { Secret } from './world.ts';

let stack: Stack;
let client: McpClient;
const evil =
  '\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\\x1b[2J\u009b31m\rx\b\x00\u202egnp\u2066\u200b\u{e0041}\nopentabs: forged';
/** Unseen is what a terminal obeys or does not show; line ends and tabs are no part of it, nor are joiners. */
const Unseen = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

before(async () => {
  stack = await startStack({ serveFlags: ['--log-level', 'trace'] });
  client = await stack.connectHttp();
});
after(async () => {
  await stack?.close();
});

/** inert checks what is printed for people. */
function inert(where: string, text: string): void {
  for (const line of text.split('\n')) {
    const found = Unseen.exec(line.replaceAll(/[\t\u200c\u200d]/g, ''));
    assert.equal(found, null, `${where}: ${JSON.stringify(line)}`);
    assert.doesNotMatch(line, /^opentabs: forged/, where);
  }
}

test('text: in a title, an address, reports, results and errors, seen by every command and the log', async () => {
  const { page, site } = stack;
  await page.goto(`${site.url}?${encodeURIComponent(evil)}#${evil.replaceAll('\n', '')}`);
  await page.evaluate((title) => {
    document.title = title;
  }, evil);
  const follow = startOpentabs(['calls', '--follow', '--verbose'], stack.env);
  await waitFor('the follower', () => follow.stderr().includes('following'));
  await waitFor('the plugin', async () => (await stack.listTabs()).some((tab) => (tab.plugins ?? []).length > 0));
  const call = startOpentabs(
    ['call', 'messages__reports', '--verbose', '--json', JSON.stringify({ reports: [{ message: evil, progress: 1 }] })],
    stack.env,
  );
  await call.ended;
  const fail = await stack.runCli('call', 'messages__fail', '--json', JSON.stringify({ message: evil }));
  await waitFor('the follower to see all', () => follow.stdout().includes('tool_error'));
  follow.child.kill('SIGINT');
  await follow.ended;
  inert('calls --follow', follow.stdout() + follow.stderr());
  inert('call, progress', call.stderr());
  inert('call, failure', fail.stderr);
  for (const args of [
    ['calls'],
    ['status'],
    ['plugin', 'list'],
    ['calls', 'cancel', evil],
    ['call', evil],
    ['plugin', 'add', evil],
  ]) {
    const ran = await stack.runCli(...args.map((arg) => arg.replaceAll('\0', '')));
    inert(args.join(' '), ran.stdout + ran.stderr);
  }
  inert('the log', stack.daemon.stderr() + stack.daemon.stdout());
});

test('text: an agent and a program get a result exactly', async () => {
  const echo = await client.call('messages__echo', { value: evil });
  assert.deepEqual(echo.structured, { value: evil });
  const piped = await stack.runCli('call', 'messages__echo', '--json', JSON.stringify({ value: evil }));
  assert.deepEqual(JSON.parse(piped.stdout), { value: evil });
});

test('text: the side panel shows it as text', async () => {
  const panel = await stack.chrome.openPanel();
  const markup = '<img src=x onerror="document.title=1"><b id=forged>';
  await client.call('messages__fail', { message: `${markup}${evil}` });
  await waitFor('the call in the panel', async () => (await panel.locator('body').innerText()).includes('fail'));
  assert.equal(await panel.locator('#forged, img').count(), 0);
  inert('the panel', await panel.locator('body').innerText());
});

test('text: no log tells the token, arguments, results or errors of calls', async () => {
  await client.call('messages__echo', { value: `${Secret}-argument` });
  await client.call('messages__reports', { reports: [{ message: `${Secret}-report`, progress: 1 }] });
  await client.call('messages__fail', { message: `${Secret}-error`, code: 'X' });
  await client.call('messages__echo', { wrong: `${Secret}-wrong` });
  const stdio = await stack.connectStdio();
  await stdio.call('messages__echo', { value: `${Secret}-stdio` });
  // What tools report is in the log at this level, and in the audit; nothing else of a call is.
  const reported = (text: string) => text.replaceAll(`${Secret}-report`, '');
  const logs = [stack.daemon.stderr(), stack.daemon.stdout()].map(reported);
  for (const name of readdirSync(stack.home)) {
    const path = join(stack.home, name);
    if (name === 'token' || !statSync(path).isFile()) continue;
    logs.push(reported(readFileSync(path, 'utf8')));
  }
  const all = logs.join('\n');
  assert.match(all, /"message":"run started"/, 'the log has no debug lines');
  for (const secret of [stack.token, Secret]) {
    const line = all.split('\n').find((one) => one.includes(secret));
    assert.equal(line, undefined);
  }
});
