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

const recordingProgramScript = '#!/bin/sh\n(echo "$*"; cat; echo) >> "$HOME/$(basename "$0").txt"\n';

before(async () => {
  homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-setup-'));
  mkdirSync(join(homeFolder, '.cursor'));
  writeFileSync(join(homeFolder, '.cursor', 'mcp.json'), cursorConfig);
  site = await startSite();
  const programFolder = join(homeFolder, 'programs');
  mkdirSync(programFolder);
  for (const program of ['google-chrome', 'wl-copy']) {
    writeFileSync(join(programFolder, program), recordingProgramScript, { mode: 0o755 });
  }
  env = {
    HOME: homeFolder,
    PATH: `${programFolder}:${process.env.PATH ?? ''}`,
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
  readScreen(): string;
  type(typedLine: string): void;
  readonly ended: Promise<number | null>;
}

function startInTerminal(command: string): Terminal {
  const child = spawn('script', ['-qec', `stty cols 80; ${opentabsBinary} ${command}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screenText = '';
  child.stdout.on('data', (chunk) => {
    screenText += String(chunk);
  });
  return {
    readScreen: () => screenText,
    type: (typedLine) => child.stdin.write(`${typedLine}\n`),
    ended: new Promise((resolve) => child.on('close', resolve)),
  };
}

async function waitForText(shellTerminal: Terminal, awaitedText: string): Promise<void> {
  await waitFor(`the text ${awaitedText}`, () => shellTerminal.readScreen().includes(awaitedText)).catch(
    (error: unknown) => assert.fail(`${error}\n${shellTerminal.readScreen()}`),
  );
}

test('setup connects a client and a browser, and makes the first call', async () => {
  const shellTerminal = startInTerminal('setup');
  await waitForText(shellTerminal, 'Add opentabs to Cursor? [Y/n]');
  shellTerminal.type('');
  await waitForText(shellTerminal, 'waiting for the browser to connect');
  assert.match(
    shellTerminal.readScreen(),
    /In Chrome:\r\n {2}1\. A new window has opened\. Type chrome:\/\/extensions/,
  );
  assert.match(shellTerminal.readScreen(), /Its path is in the clipboard:\r\n {5}press Ctrl\+L/);
  // `opentabs setup` does not wait long for the browser that it has started.
  await waitFor(
    'the arguments of the started browser',
    () => readFileSync(join(homeFolder, 'google-chrome.txt'), 'utf8') === '--new-window about:blank\n\n',
  );
  assert.equal(readFileSync(join(homeFolder, 'wl-copy.txt'), 'utf8'), `\n${join(homeFolder, 'opentabs-extension')}\n`);
  assert.doesNotMatch(shellTerminal.readScreen(), /SSH|forward the port/);
  const extension = join(homeFolder, 'opentabs-extension');
  assert.ok(shellTerminal.readScreen().includes(extension), shellTerminal.readScreen());
  chrome = await launchChrome({ extension });
  await chrome.openPage(site.url);
  await waitForText(shellTerminal, 'Let agents use any page, after your approval for each site? [Y/n]');
  shellTerminal.type('');
  await waitForText(shellTerminal, 'Allow it once? [Y/n]');
  assert.match(shellTerminal.readScreen(), /The first call, as Cursor makes it: list your open tabs\./);
  shellTerminal.type('');
  assert.equal(await shellTerminal.ended, 0, shellTerminal.readScreen());
  assert.match(shellTerminal.readScreen(), /It works: the agent got \d+ tabs?\.\r\n {2}tab \d+ /);
  assert.ok(shellTerminal.readScreen().includes(new URL(site.url).origin), shellTerminal.readScreen());
  assert.match(shellTerminal.readScreen(), /opentabs is ready\. Ask Cursor, for example:/);
  assert.doesNotMatch(shellTerminal.readScreen(), /^.{75,}\[Y\/n\]/m, 'a question must fit into 80 columns');
  for (const typedLine of shellTerminal
    .readScreen()
    .split('\r\n')
    .filter((awaitedText) => !awaitedText.startsWith('opentabs: ') && !awaitedText.includes('/'))) {
    assert.ok(typedLine.length <= 80, `a line has ${typedLine.length} columns: ${typedLine}`);
  }
});

test('a second setup run only makes the first call, and a denied call is not an error', async () => {
  const shellTerminal = startInTerminal('setup');
  await waitForText(shellTerminal, 'Cursor is set up already');
  await waitForText(shellTerminal, 'Allow it once? [Y/n]');
  shellTerminal.type('n');
  assert.equal(await shellTerminal.ended, 0, shellTerminal.readScreen());
  assert.match(shellTerminal.readScreen(), /Denied\. The agent received no data/);
});

test('setup --undo restores the configuration byte for byte', async () => {
  const { code, stderr } = await runOpentabs(['setup', '--undo'], env);
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(join(homeFolder, '.cursor', 'mcp.json'), 'utf8'), cursorConfig);
});

test("the default name of a browser contains the computer's name", async () => {
  const browser = new Browser(join(homeFolder, '.config', 'chromium'), join(homeFolder, 'opentabs-extension'));
  const expectedNameSuffix = ` on ${hostname().split('.')[0]}`;
  try {
    await browser.start();
    let names = '';
    await waitFor(`a browser with the name${expectedNameSuffix}`, async () => {
      names = (await runOpentabs(['browser', 'list', '--json'], env)).stdout;
      return JSON.parse(names).some((listedBrowser: unknown) =>
        String(Object(listedBrowser).name).endsWith(expectedNameSuffix),
      );
    }).catch((error: unknown) => assert.fail(`${error}: ${names}`));
  } finally {
    await browser.close();
  }
});
