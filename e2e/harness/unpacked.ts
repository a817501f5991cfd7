/**
 * Tests cannot use --load-extension, because Chrome would reinstall the extension and drop its registered scripts at
 * each start.
 */
import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { chromiumPath, findFreePort, makeChromiumFlags } from './chromium.ts';
import { withOperationTimeout } from './wait.ts';

/**
 * Without loadedByUserFlag, Chrome treats the extension as loaded by DevTools and removes it when the browser exits.
 */
const loadedByUserFlag = 38;

/** The profile must not be in use by a running browser. */
export async function loadUnpacked(profile: string, extension: string, id: string): Promise<void> {
  const otherFlags = ['--remote-debugging-pipe', '--enable-unsafe-extension-debugging', `--user-data-dir=${profile}`];
  const browser = spawn(chromiumPath, makeChromiumFlags(await findFreePort(), [], otherFlags), {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const exitPromise = once(browser, 'exit');
  const input = browser.stdio[3];
  const output = browser.stdio[4];
  if (!(input instanceof Writable) || !output) throw new Error('the browser has no pipe');
  const sendCommand = async (method: string, params: object) => {
    input.write(`${JSON.stringify({ id: 1, method, params })}\0`);
    let receivedText = '';
    for await (const [chunk] of on(output, 'data')) {
      receivedText += String(chunk);
      if (receivedText.endsWith('\0')) break;
    }
    if (receivedText.includes('"error"')) throw new Error(`${method}: ${receivedText}`);
  };
  await sendCommand('Extensions.loadUnpacked', { path: extension });
  // Chrome may exit before it answers Browser.close.
  input.write(`${JSON.stringify({ id: 2, method: 'Browser.close' })}\0`);
  await withOperationTimeout('the end of the browser', exitPromise);
  const file = join(profile, 'Default', 'Preferences');
  const preferences: unknown = JSON.parse(readFileSync(file, 'utf8'));
  Object(preferences).extensions.settings[id].creation_flags = loadedByUserFlag;
  writeFileSync(file, JSON.stringify(preferences));
}
