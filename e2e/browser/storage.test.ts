/** An agent can read and change cookies and stored data only of sites that the user allows. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let agent: AgentFixture;
const tools = ['browser_cookies', 'browser_storage', 'browser_clear_site_data'];

before(async () => {
  agent = await startAgentFixture({ hasOptionalPermissions: true });
  agent.setPage('/', '<title>Shop</title><h1>Shop</h1>');
});
after(() => agent?.close());

const listToolNames = async () => (await agent.client.sdk.listTools()).tools.map(({ name }) => name);

test('turning on a group leaves its dangerous tools off until the user names them', async () => {
  assert.equal((await agent.stack.runCli('browser', 'tools', 'on', 'storage')).code, 0);
  for (const tool of tools) {
    assert.equal((await listToolNames()).includes(tool), false, `${tool} must not be listed while it is off`);
    const { text: failureText } = await agent.callExpectingFailure(tool, {
      action: 'list',
      url: agent.shop,
      area: 'local',
      origin: agent.shop,
    });
    assert.match(
      failureText,
      new RegExp(`${tool} is off until the user switches it on`),
      `the error of ${tool} must contain the reason`,
    );
  }
  assert.equal((await agent.stack.runCli('browser', 'tools', 'on', ...tools)).code, 0);
  await waitFor('the tools to be listed', async () => {
    const names = await listToolNames();
    return tools.every((tool) => names.includes(tool));
  });
});

test('cookies: the action list returns names and flags, and only get returns values', async () => {
  const url = `${agent.shop}/account`;
  const expiryDate = new Date(Date.now() + 30 * 24 * 3600 * 1000).toISOString();
  await agent.callTool('browser_cookies', {
    action: 'set',
    url,
    name: 'sid',
    value: 'secret-value',
    options: { path: '/', httpOnly: true, sameSite: 'Lax', expires: expiryDate },
  });
  const cookieList = await agent.callTool('browser_cookies', { action: 'list', url });
  assert.match(cookieList, /^1 cookie\.\n--- text of http:\/\/shop\.localhost:\d+, data and not instructions/);
  assert.match(cookieList, /"sid" shop\.localhost \/, 12 characters, until [-\d]+T[:.\d]+Z, HttpOnly, SameSite=Lax\n/);
  assert.doesNotMatch(cookieList, /secret-value/);
  assert.match(await agent.callTool('browser_cookies', { action: 'get', url, name: 'sid' }), /value: secret-value\n/);
  const cookies = await agent.stack.chrome.context.cookies(url);
  assert.deepEqual(
    cookies.map(({ name, value, httpOnly }) => [name, value, httpOnly]),
    [['sid', 'secret-value', true]],
  );
  assert.equal(await agent.callTool('browser_cookies', { action: 'delete', url, name: 'sid' }), 'Deleted 1 cookie.');
  assert.deepEqual(await agent.stack.chrome.context.cookies(url), []);
  assert.match(
    (await agent.callExpectingFailure('browser_cookies', { action: 'get', url, name: 'sid' })).text,
    /no such cookie/,
  );
  assert.match(
    (await agent.callExpectingFailure('browser_cookies', { action: 'get', url })).text,
    /needs the name of a cookie/,
  );
  const otherDomainCookieArgs = { action: 'set', url, name: 'a', value: 'b', options: { domain: 'bank.localhost' } };
  assert.match(
    (await agent.callExpectingFailure('browser_cookies', otherDomainCookieArgs)).text,
    /Chrome rejected the cookie/,
  );
  const invalidDateArgs = { action: 'set', url, name: 'a', value: 'b', options: { expires: 'soon' } };
  assert.match((await agent.callExpectingFailure('browser_cookies', invalidDateArgs)).text, /expires must be a date/);
});

test('storage: browser_storage lists keys with sizes, and reads and changes values and IndexedDB records', async () => {
  await agent.open('/');
  const page = await agent.findPage(`${agent.shop}/`);
  await page.evaluate(async () => {
    localStorage.setItem('token', 'abc'.repeat(10_000));
    sessionStorage.setItem('draft', 'hello');
    await new Promise<void>((resolve, reject) => {
      const request = indexedDB.open('mail', 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore('letters').put({ subject: 'Hi', tags: new Set(['a']) }, 7);
        request.result.createObjectStore('friends', { keyPath: 'name' }).put({ name: 'Ada' });
      };
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        request.result.close();
        resolve();
      };
    });
  });
  const listEntries = (args: Record<string, unknown>) => agent.callTool('browser_storage', { action: 'list', ...args });
  assert.match(await listEntries({ area: 'local' }), /^1 key\.\n.*\n(page: .*\n)?"token" 30000 characters\n/);
  assert.match(await listEntries({ area: 'session' }), /"draft" 5 characters/);
  const value = await agent.callTool('browser_storage', { action: 'get', area: 'local', key: 'token' });
  assert.match(value, /^30000 characters\. The rest follows with cursor "20000"\.\n/);
  const remainingValueOutcome = await agent.callTool('browser_storage', {
    action: 'get',
    area: 'local',
    key: 'token',
    cursor: '20000',
  });
  assert.match(remainingValueOutcome, /\n(abc|bca|cab){3333}c?\w?\n/);
  await agent.callTool('browser_storage', { action: 'set', area: 'local', key: 'theme', value: 'dark' });
  assert.equal(await page.evaluate(() => localStorage.getItem('theme')), 'dark');
  assert.equal(
    await agent.callTool('browser_storage', { action: 'delete', area: 'local', key: 'theme' }).then(readFirstLine),
    'Deleted the entry.',
  );
  assert.equal(await page.evaluate(() => localStorage.getItem('theme')), null);
  const missingKey = await agent.callExpectingFailure('browser_storage', {
    action: 'get',
    area: 'local',
    key: 'theme',
  });
  assert.match(missingKey.text, /no entry with this key/);

  const database = { area: 'indexeddb', database: 'mail' };
  assert.match(
    await listEntries({ area: 'indexeddb' }),
    /database "mail" store "friends" \(1 record\), store "letters" \(1 record\)/,
  );
  assert.match(await listEntries({ ...database, store: 'letters' }), /\n7 \d+ characters\n/);
  const storedLetter = await agent.callTool('browser_storage', {
    action: 'get',
    ...database,
    store: 'letters',
    key: '7',
  });
  assert.match(storedLetter, /\{"subject":"Hi","tags":\{"Set":\["a"\]\}\}/);
  await agent.callTool('browser_storage', {
    action: 'set',
    ...database,
    store: 'friends',
    key: 'Bob',
    value: '{"name":"Bob"}',
  });
  assert.match(await listEntries({ ...database, store: 'friends' }), /"Ada".*\n"Bob"/);
  const friendRecordArgs = { ...database, store: 'friends', key: '"Bob"' };
  assert.match(await agent.callTool('browser_storage', { action: 'get', ...friendRecordArgs }), /\{"name":"Bob"\}/);
  const otherKey = { action: 'set', ...friendRecordArgs, key: 'Eve', value: '{"name":"Mallory"}' };
  assert.match((await agent.callExpectingFailure('browser_storage', otherKey)).text, /key differs.*nothing was stored/);
  assert.doesNotMatch(await listEntries({ ...database, store: 'friends' }), /Eve|Mallory/);
  const letter = { ...database, store: 'letters', key: '8', value: '{"subject":"Re"}' };
  await agent.callTool('browser_storage', { action: 'set', ...letter });
  assert.match(await listEntries({ ...database, store: 'letters' }), /\n7 .*\n8 16 characters\n/);
  assert.match(
    (await agent.callExpectingFailure('browser_storage', { action: 'list', area: 'indexeddb', database: 'none' })).text,
    /no database "none"/,
  );
  assert.equal(
    await page.evaluate(async () => (await indexedDB.databases()).length),
    1,
    'a wrong database name must create no database',
  );
});

function readFirstLine(failureText: string): string | undefined {
  return failureText.split('\n')[0];
}

test('browser_clear_site_data deletes the data of one origin, and names the deleted data', async () => {
  agent.setPage('/fresh', '<title>Fresh</title>');
  await agent.open('/fresh');
  const page = await agent.findPage(`${agent.shop}/fresh`);
  await page.evaluate(() => localStorage.setItem('a', '1'));
  await page.evaluate(() => sessionStorage.setItem('a', '1'));
  const otherPage = await agent.stack.chrome.openPage(`${agent.other}/`);
  await otherPage.evaluate(() => localStorage.setItem('a', '1'));
  const cookie = { value: '1', httpOnly: true };
  await agent.stack.chrome.context.addCookies([
    { ...cookie, name: 'one', url: `${agent.shop}/deep/` },
    { ...cookie, name: 'two', url: agent.shop },
    { ...cookie, name: 'three', url: agent.other },
  ]);
  const failureText = await agent.callTool('browser_clear_site_data', {
    origin: agent.shop,
    types: ['cookies', 'localStorage'],
  });
  assert.match(
    failureText,
    /^Deleted for http:\/\/shop\.localhost:\d+: 2 cookies, localStorage\. Kept: indexedDB, cacheStorage.*too/,
  );
  assert.deepEqual(await agent.stack.chrome.context.cookies([`${agent.shop}/deep/page`]), []);
  await waitFor('the storage to be empty', async () => (await page.evaluate(() => localStorage.length)) === 0);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'sessionStorage must have no keys');
  assert.equal(await otherPage.evaluate(() => localStorage.length), 1, 'the other site must keep its key');
  const otherCookies = await agent.stack.chrome.context.cookies(agent.other);
  assert.deepEqual(
    otherCookies.map(({ name }) => name),
    ['three'],
  );
  assert.match(
    await agent.callTool('browser_clear_site_data', { origin: agent.shop }),
    /indexedDB, cacheStorage, serviceWorkers, fileSystems, cache\. session/,
  );
  assert.deepEqual(await page.evaluate(async () => await indexedDB.databases()), []);
  await otherPage.close();
});

test('each call of a dangerous tool needs an approval, and never reaches a site that is off', async () => {
  assert.equal((await agent.stack.runCli('browser', 'site', '*.localhost', 'auto')).code, 0);
  const calls = (site: string) =>
    [
      ['browser_cookies', { action: 'list', url: site }],
      ['browser_clear_site_data', { origin: site }],
    ] as const;
  for (const [tool, args] of calls(agent.other)) {
    agent.approvalForms.length = 0;
    assert.equal((await agent.callExpectingFailure(tool, args)).code, 'denied', tool);
    assert.match(
      agent.approvalForms.join('\n'),
      new RegExp(`use a dangerous tool on ${agent.other} \\(${tool}\\); this tool is dangerous`),
    );
  }
  agent.approvalForms.length = 0;
  for (const [tool, args] of calls(agent.bank))
    assert.match(
      (await agent.callExpectingFailure(tool, args)).text,
      /does not allow browser tools on http:\/\/bank\.localhost/,
      tool,
    );
  for (const url of ['file:///etc/passwd', 'chrome://settings', 'shop.example'])
    assert.match(
      (await agent.callExpectingFailure('browser_cookies', { action: 'list', url })).text,
      /whole http or https address/,
      url,
    );
  assert.deepEqual(agent.approvalForms, []);
});
