/** In an empty home directory, the user runs `opentabs setup`, and an MCP client then calls a tool on the open tabs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Browser } from '../harness/browser.ts';
import { type Chrome, findFreePort, launchChrome } from '../harness/chromium.ts';
import { opentabsBinary, runOpentabs } from '../harness/process.ts';
import { type Site, startSite } from '../harness/site.ts';
import { waitFor } from '../harness/wait.ts';

let homeFolder: string;
let env: Record<string, string>;
let site: Site;
let chrome: Chrome | undefined;

const cursorConfig = '{\n  // mine\n  "mcpServers": {"other": {"command": "x"}},\n}\n';

const recordingProgram = '#!/bin/sh\n(echo "$*"; cat; echo) >> "$HOME/$(basename "$0").txt"\n';

before(async () => {
  homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-setup-'));
  mkdirSync(join(homeFolder, '.cursor'));
  writeFileSync(join(homeFolder, '.cursor', 'mcp.json'), cursorConfig);
  site = await startSite();
  const programs = join(homeFolder, 'programs');
  mkdirSync(programs);
  for (const program of ['google-chrome', 'wl-copy']) {
    writeFileSync(join(programs, program), recordingProgram, { mode: 0o755 });
  }
  env = {
    HOME: homeFolder,
    PATH: `${programs}:${process.env.PATH ?? ''}`,
    TERM: 'xterm',
    DISPLAY: ':0',
    OPENTABS_PORT: String(await findFreePort()),
  };
});
after(async () => {
  await chrome?.close();
  await runOpentabs(['stop', '--force'], { ...env, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' });
  await site.close();
  rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 });
});

interface Terminal {
  screen(): string;
  type(line: string): void;
  readonly ended: Promise<number | null>;
}

function startInTerminal(command: string): Terminal {
  const child = spawn('script', ['-qec', `stty cols 80; ${opentabsBinary} ${command}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  child.stdout.on('data', (chunk) => {
    screen += String(chunk);
  });
  return {
    screen: () => screen,
    type: (line) => child.stdin.write(`${line}\n`),
    ended: new Promise((resolve) => child.on('close', resolve)),
  };
}

async function waitForText(terminal: Terminal, text: string): Promise<void> {
  await waitFor(`the text ${text}`, () => terminal.screen().includes(text)).catch((error: unknown) =>
    assert.fail(`${error}\n${terminal.screen()}`),
  );
}

test('setup connects a client and a browser, and makes the first call', async () => {
  const terminal = startInTerminal('setup');
  await waitForText(terminal, 'Add opentabs to Cursor? [Y/n]');
  terminal.type('');
  await waitForText(terminal, 'waiting for the browser to connect');
  assert.match(terminal.screen(), /In Chrome:\r\n {2}1\. A new window has opened\. Type chrome:\/\/extensions/);
  assert.match(terminal.screen(), /Its path is in the clipboard:\r\n {5}press Ctrl\+L/);
  // `opentabs setup` does not wait long for the browser that it has started.
  await waitFor(
    'the arguments of the started browser',
    () => readFileSync(join(homeFolder, 'google-chrome.txt'), 'utf8') === '--new-window about:blank\n\n',
  );
  assert.equal(readFileSync(join(homeFolder, 'wl-copy.txt'), 'utf8'), `\n${join(homeFolder, 'opentabs-extension')}\n`);
  assert.doesNotMatch(terminal.screen(), /SSH|forward the port/);
  const extension = join(homeFolder, 'opentabs-extension');
  assert.ok(terminal.screen().includes(extension), terminal.screen());
  chrome = await launchChrome({ extension });
  await chrome.openPage(site.url);
  await waitForText(terminal, 'Let agents use any page, after your approval for each site? [Y/n]');
  terminal.type('');
  await waitForText(terminal, 'Allow it once? [Y/n]');
  assert.match(terminal.screen(), /The first call, as Cursor makes it: list your open tabs\./);
  terminal.type('');
  assert.equal(await terminal.ended, 0, terminal.screen());
  assert.match(terminal.screen(), /It works: the agent got \d+ tabs?\.\r\n {2}tab \d+ /);
  assert.ok(terminal.screen().includes(new URL(site.url).origin), terminal.screen());
  assert.match(terminal.screen(), /opentabs is ready\. Ask Cursor, for example:/);
  assert.doesNotMatch(terminal.screen(), /^.{75,}\[Y\/n\]/m, 'a question has more than 80 columns');
  for (const line of terminal
    .screen()
    .split('\r\n')
    .filter((text) => !text.startsWith('opentabs: ') && !text.includes('/'))) {
    assert.ok(line.length <= 80, `a line has ${line.length} columns: ${line}`);
  }
});

test('a second setup run only makes the first call, and a denied call is not an error', async () => {
  const terminal = startInTerminal('setup');
  await waitForText(terminal, 'Cursor is set up already');
  await waitForText(terminal, 'Allow it once? [Y/n]');
  terminal.type('n');
  assert.equal(await terminal.ended, 0, terminal.screen());
  assert.match(terminal.screen(), /Denied\. The agent received no data/);
});

test('setup --undo restores the configuration byte for byte', async () => {
  const { code, stderr } = await runOpentabs(['setup', '--undo'], env);
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(join(homeFolder, '.cursor', 'mcp.json'), 'utf8'), cursorConfig);
});

test("the default name of a browser contains the computer's name", async () => {
  const browser = new Browser(join(homeFolder, '.config', 'chromium'), join(homeFolder, 'opentabs-extension'));
  const expectedNameEnd = ` on ${hostname().split('.')[0]}`;
  try {
    await browser.start();
    let names = '';
    await waitFor(`a browser with the name${expectedNameEnd}`, async () => {
      names = (await runOpentabs(['browser', 'list', '--json'], env)).stdout;
      return JSON.parse(names).some((known: unknown) => String(Object(known).name).endsWith(expectedNameEnd));
    }).catch((error: unknown) => assert.fail(`${error}: ${names}`));
  } finally {
    await browser.close();
  }
});
