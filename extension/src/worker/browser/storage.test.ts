import assert from 'node:assert/strict';
import test from 'node:test';
import { awaitFailure, findTool, makeBrowserCall } from '../../../test/browser-call.ts';
import type { Cookie } from '../../chrome-site-data.ts';
import { makeStorageTools, type StorageBrowser } from './storage.ts';
import { TabFrames } from './tab-frames.ts';

const session: Cookie = {
  name: 'sid',
  value: 'secret',
  domain: 'shop.example',
  isHostOnly: true,
  path: '/',
  isSecure: true,
  isHttpOnly: true,
  sameSite: 'strict',
  expires: undefined,
  partition: undefined,
};
const sharedCookie: Cookie = {
  ...session,
  name: 'lang',
  value: 'en',
  domain: '.example',
  isHostOnly: false,
  isHttpOnly: false,
  sameSite: 'unspecified',
};

function makeFixture(cookies: readonly Cookie[]) {
  const permissionChanges: unknown[] = [];
  const browser: StorageBrowser = {
    readCookies: async () => [...cookies],
    readCookiesOfHost: async () => [...cookies],
    setCookie: async (url, cookie) => {
      permissionChanges.push([url, cookie]);
    },
    removeCookie: async ({ name }) => permissionChanges.push(name) > 0,
    removeSiteData: async (origin, types) => {
      permissionChanges.push([origin, types]);
    },
  };
  const frames = new TabFrames({
    scripts: { run: () => Promise.reject(new Error('no page')) },
    listTabFrames: async () => [],
    isInFront: async () => false,
  });
  const tools = makeStorageTools(browser, frames);
  const runTool = (name: string, args: Readonly<Record<string, unknown>>) =>
    findTool(tools, name)(makeBrowserCall(args));
  return { permissionChanges, runTool };
}

const url = 'https://shop.example/cart';

test('a list of cookies contains their flags and sizes, but no values', async () => {
  const { runTool } = makeFixture([session, sharedCookie]);
  assert.deepEqual(await runTool('browser_cookies', { action: 'list', url }), {
    text: '2 cookies.',
    content:
      '"sid" shop.example /, 6 characters, until the browser closes, Secure, HttpOnly, SameSite=Strict\n' +
      '"lang" .example (with subdomains) /, 2 characters, until the browser closes, Secure',
  });
  const { content } = await runTool('browser_cookies', { action: 'get', url, name: 'sid' });
  assert.match(content ?? '', /\nvalue: secret$/);
});

test('a long cookie list comes in parts', async () => {
  const { runTool } = makeFixture(Array.from({ length: 250 }, (_, i) => ({ ...session, name: `c${i}` })));
  const firstList = await runTool('browser_cookies', { action: 'list', url });
  assert.equal(firstList.text, '250 cookies. The rest follows with cursor "200".');
  const remainingList = await runTool('browser_cookies', { action: 'list', url, cursor: '200' });
  assert.equal(remainingList.content?.split('\n').length, 50);
  const { message: errorMessage } = await awaitFailure(
    runTool('browser_cookies', { action: 'list', url, cursor: 'x' }),
  );
  assert.match(errorMessage, /the cursor is not one of an earlier answer/);
});

test('a new cookie gets the options in the arguments of the call', async () => {
  const { permissionChanges, runTool } = makeFixture([]);
  const options = { path: '/a', secure: true, sameSite: 'None', expires: '2030-01-01T00:00:00Z' };
  await runTool('browser_cookies', { action: 'set', url, name: 'a', value: '', options });
  const expirationDate = Date.UTC(2030, 0, 1) / 1000;
  const cookie = {
    name: 'a',
    value: '',
    secure: true,
    httpOnly: false,
    path: '/a',
    sameSite: 'no_restriction',
    expirationDate,
  };
  assert.deepEqual(permissionChanges, [[url, cookie]]);
});

test('the result of browser_clear_site_data names cookies of parent domains and the kept types of data', async () => {
  const { permissionChanges, runTool } = makeFixture([session, sharedCookie]);
  const { text: resultText } = await runTool('browser_clear_site_data', {
    origin: 'https://shop.example/x',
    types: ['cookies', 'cache'],
  });
  assert.equal(
    resultText,
    'Deleted for https://shop.example: 2 cookies (1 of them also for other hosts of example), cache. ' +
      'Kept: localStorage, indexedDB, cacheStorage, serviceWorkers, fileSystems. ' +
      'sessionStorage of open tabs is kept; reload open tabs of the site.',
  );
  assert.deepEqual(permissionChanges, ['sid', 'lang', ['https://shop.example', ['cache']]]);
  const { text: storageText } = await runTool('browser_clear_site_data', {
    origin: 'https://shop.example',
    types: ['localStorage'],
  });
  assert.match(storageText ?? '', /sessionStorage of open tabs is deleted too/);
});
