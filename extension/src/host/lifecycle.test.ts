import assert from 'node:assert/strict';
import test from 'node:test';
import { makeAdapterCode, makeRealm, type ScriptOptions } from '../../test/realm.ts';

async function startAdapter(code: string, script?: ScriptOptions, host?: string) {
  const realm = makeRealm(host === undefined ? {} : { host });
  realm.run('var log = []');
  realm.start('demo', 'h1', code, script);
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  const log = () => JSON.parse(String(realm.run('JSON.stringify(log)')));
  const call = async (tool: string, callNumber = 1): Promise<string | undefined> => {
    port.sendParts('call', callNumber, tool, 1 << 20, {});
    await realm.waitUntilIdle();
    return port.receivedTexts.at(-1);
  };
  return { realm, port, log, call };
}

const makeLogStatement = (loggedText: string) => `log.push(${JSON.stringify(loggedText)});`;
const makeRunTool = (handle: string) => `{ name: 'run', handle: ${handle} }`;

test('an adapter is evaluated only once in a document, even if the bridge repeats its messages', async () => {
  const { realm, port, log } = await startAdapter(makeLogStatement('evaluated') + makeAdapterCode('demo', ''));
  for (let i = 0; i < 3; i++) port.sendParts('begin');
  port.sendParts('probe');
  port.sendParts('settings', {});
  realm.dispatch('opentabs:bridge');
  await realm.waitUntilIdle();
  assert.deepEqual([log(), port.receivedTexts], [['evaluated'], ['ready']]);
});

test('a late adapter starts after the document is parsed, but its pre-script runs before page scripts', async () => {
  const { realm, port, log } = await startAdapter(makeLogStatement('adapter') + makeAdapterCode('demo', ''), {
    start: 'dom',
    preScript: makeLogStatement('pre-script'),
  });
  assert.deepEqual([log(), port.receivedTexts], [['pre-script'], []]);
  port.sendParts('begin');
  port.sendParts('begin');
  await realm.waitUntilIdle();
  assert.deepEqual([log(), port.receivedTexts], [['pre-script', 'adapter'], ['ready']]);
});

test('an adapter that throws before the document is parsed restarts afterwards in a new container', async () => {
  const code = `${makeLogStatement('try')} globalThis.__openTabs.mark = (globalThis.__openTabs.mark ?? 0) + 1;
    globalThis.__openTabs.tokenCache.kept = (globalThis.__openTabs.tokenCache.kept ?? 0) + 1;
    if (!globalThis.there) throw new Error('no body');
    ${makeAdapterCode('demo', makeRunTool('() => [globalThis.__openTabs.mark, globalThis.__openTabs.tokenCache.kept]'))}`;
  const { realm, port, log, call } = await startAdapter(code);
  assert.deepEqual([log(), port.receivedTexts], [['try'], []]);
  realm.run('there = true');
  port.sendParts('begin');
  port.sendParts('begin');
  await realm.waitUntilIdle();
  assert.deepEqual([log(), port.receivedTexts], [['try', 'try'], ['ready']]);
  assert.equal(await call('run'), 'r 1 [1,2]');
  const brokenAdapter = await startAdapter(`${makeLogStatement('try')} throw new Error('never')`);
  brokenAdapter.port.sendParts('begin');
  brokenAdapter.port.sendParts('begin');
  await brokenAdapter.realm.waitUntilIdle();
  assert.deepEqual(
    [brokenAdapter.log(), brokenAdapter.port.receivedTexts],
    [['try', 'try'], ['broken the adapter threw while it started: never']],
  );
});

test('a pre-script runs before the adapter in the same container, even if the pre-script throws', async () => {
  const preScript = `globalThis.__openTabs.preScript.demo = { token: 'T' }; throw new Error('after all');`;
  const { realm, port, call } = await startAdapter(
    makeAdapterCode(
      'demo',
      makeRunTool('() => globalThis.__openTabs.preScript[globalThis.__openTabs._pluginName].token'),
    ),
    { preScript },
  );
  assert.equal(await call('run'), 'r 1 "T"');
  assert.match(
    port.receivedTexts[1] ?? '',
    /^l 1 0 \[{"level":"error","message":"the pre-script of demo threw: after all"/,
  );
  assert.equal(realm.run('typeof __openTabs'), 'undefined');
});

test('without a bridge, only the pre-script runs, in top documents and in frames', async () => {
  for (const isFramed of [false, true]) {
    const realm = makeRealm({ isFramed });
    realm.run('var log = []');
    realm.start('demo', 'h', makeLogStatement('adapter') + makeAdapterCode('demo', ''), {
      preScript: makeLogStatement('pre-script'),
    });
    assert.deepEqual(realm.run('log.length'), 0);
    realm.addContent();
    await realm.waitUntilIdle();
    assert.equal(realm.run('log.join()'), 'pre-script');
    realm.dispatch('opentabs:bridge');
    await realm.waitUntilIdle();
    assert.equal(realm.run('log.join()'), 'pre-script');
  }
});

test('in a frame an adapter runs only if its plugin has enabled frames', async () => {
  for (const frames of [false, true]) {
    const realm = makeRealm({ isFramed: true });
    realm.run('var log = []');
    realm.start('demo', 'h', makeLogStatement('adapter') + makeAdapterCode('demo', ''), {
      frames,
      preScript: makeLogStatement('pre-script'),
    });
    realm.bridge();
    await realm.waitUntilIdle();
    assert.deepEqual(
      [realm.run('log.join()'), realm.ports.length],
      frames ? ['pre-script,adapter', 1] : ['pre-script', 0],
    );
  }
});

test("an adapter gets the settings of its plugin for the document's host, and later changes to them", async () => {
  const settings = {
    values: { key: 'mine', n: 5, on: true },
    urls: {
      at: { far: 'https://far.example', near: 'http://localhost:8000/base', other: 'http://127.0.0.1:9000' },
      gone: { far: 'https://far.example' },
      odd: { bad: 'not a url', worse: 7 },
    },
  };
  const code = makeAdapterCode('demo', makeRunTool('() => globalThis.__openTabs.pluginConfig'));
  const { port, call, realm } = await startAdapter(code, { settings });
  const firstSettings = { key: 'mine', n: 5, on: true, at: 'http://localhost:8000/base' };
  assert.equal(await call('run'), `r 1 ${JSON.stringify(firstSettings)}`);
  port.sendParts('settings', { values: { key: 'new' } });
  await realm.waitUntilIdle();
  assert.equal(await call('run', 2), 'r 2 {"key":"new"}');
  const six = await startAdapter(code, { settings }, '[::1]:9000');
  assert.match((await six.call('run')) ?? '', /"at":"http:\/\/127\.0\.0\.1:9000"}$/);
  const far = await startAdapter(code, { settings }, 'far.example');
  assert.match((await far.call('run')) ?? '', /"at":"https:\/\/far\.example","gone":"https:\/\/far\.example"}$/);
});

test('two plugins do not share settings, pre-script values or names, even after an await', async () => {
  const realm = makeRealm();
  const tool = makeRunTool(`async () => {
    const read = () => [globalThis.__openTabs._pluginName, globalThis.__openTabs.pluginConfig.key,
      Object.keys(globalThis.__openTabs.preScript).join()];
    const before = read(); await new Promise((go) => waiting.push(go)); return [before, read()];
  }`);
  realm.run('var waiting = []');
  for (const name of ['a', 'b']) {
    realm.start(name, 'h', `${makeAdapterCode(name, tool)}`, {
      settings: { values: { key: `key of ${name}` } },
      preScript: `globalThis.__openTabs.preScript.${name} = {}`,
    });
  }
  const [firstHost, secondHost] = realm.bridge();
  await realm.waitUntilIdle();
  firstHost?.sendParts('call', 1, 'run', 1 << 20, {});
  secondHost?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  realm.run('waiting.forEach((go) => go())');
  await realm.waitUntilIdle();
  for (const [port, name] of [[firstHost, 'a'] as const, [secondHost, 'b'] as const]) {
    const expectedNames = [name, `key of ${name}`, name];
    assert.equal(port?.receivedTexts.at(-1), `r 1 ${JSON.stringify([expectedNames, expectedNames])}`);
  }
});

test('isReady() can read the name of its plugin, and the host reports each change of its result', async () => {
  const realm = makeRealm();
  realm.run('var is = { a: false, b: true }; var asked = []');
  const isReady = (name: string) =>
    `() => { asked.push(globalThis.__openTabs._pluginName); return Promise.resolve(is.${name}); }`;
  for (const name of ['a', 'b']) {
    const throwingNotifyCode = `globalThis.__openTabs._notifyReadinessChanged = () => { throw new Error('the adapter\\'s own'); };`;
    realm.start(
      name,
      'h',
      throwingNotifyCode +
        makeAdapterCode(name, makeRunTool('() => globalThis.__openTabs._notifyReadinessChanged()'), isReady(name)),
    );
  }
  const [firstHost, secondHost] = realm.bridge();
  await realm.waitUntilIdle();
  firstHost?.sendParts('probe');
  secondHost?.sendParts('probe');
  await realm.waitUntilIdle();
  assert.deepEqual(
    [firstHost?.readinessReports, secondHost?.readinessReports, realm.run('asked.join()')],
    [['s 0'], ['s 1'], 'a,b'],
  );
  realm.run('is.a = true');
  firstHost?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  assert.deepEqual(
    [firstHost?.readinessReports, secondHost?.readinessReports, realm.run('asked.join()')],
    [['s 0', 's 1'], ['s 1'], 'a,b,a,a'],
  );
  realm.run('is.a = is.b = false');
  secondHost?.sendParts('probe');
  secondHost?.sendParts('probe');
  secondHost?.sendParts('probe');
  await realm.waitUntilIdle();
  assert.deepEqual(
    [firstHost?.readinessReports, secondHost?.readinessReports],
    [
      ['s 0', 's 1'],
      ['s 1', 's 0'],
    ],
  );
  // If probe is called several times while isReady() is running, isReady() is called only once more.
  assert.equal(realm.run('asked.join()'), 'a,b,a,a,b,b');
});

test('logs are sent only through the private channel, and the log nonces are placeholders', async () => {
  // As in the original OpenTabs SDK, the adapter sets a log transport; a log transport would expose the adapter's logs
  // to the page.
  const code = `
    let transport = () => log.push('console');
    globalThis.__openTabs._setLogTransport = (fn) => { const before = transport; transport = fn; return () => { transport = before; }; };
    const restore = globalThis.__openTabs._setLogTransport((entry) => log.push('posted ' + entry.message));
    const logged = (level, message, ...data) => transport({ level, message, data, ts: 'then' });
    logged('info', 'evaluated');
    ${makeAdapterCode(
      'demo',
      makeRunTool(`async () => { logged('warning', 'one', { a: 1 }, 'x'.repeat(5000)); await null; logged('odd', 5, 7, () => 1); restore();
        logged('error', 'restored'); return [typeof globalThis.__openTabs._logNonce, globalThis.__openTabs._logNonce === ''] }`),
    )}`;
  const { realm, port, log, call } = await startAdapter(code);
  assert.deepEqual(port.receivedTexts, ['ready']);
  realm.runNextTask();
  assert.match(port.receivedTexts[1] ?? '', /^l 1 0 \[{"level":"info","message":"evaluated","atMs":\d+(\.\d+)?}\]$/);
  assert.equal(await call('run'), 'r 1 ["string",false]');
  const [, logText = ''] = /^l 3 0 (.*)$/.exec(port.receivedTexts[2] ?? '') ?? [];
  const logEntries: unknown = JSON.parse(logText);
  assert.ok(Array.isArray(logEntries));
  assert.deepEqual(
    logEntries.map(({ level, message, data }) => ({ level, message, data })),
    [
      { level: 'warning', message: 'one', data: [{ a: 1 }, 'x'.repeat(4096)] },
      { level: 'info', message: '5', data: [7, '[function]'] },
      { level: 'error', message: 'restored', data: undefined },
    ],
  );
  assert.deepEqual(log(), []);
});

test('the log entries of one task are limited, and dropped log entries are counted', async () => {
  const code = `globalThis.__openTabs._setLogTransport = (fn) => { send = fn; };
    ${makeAdapterCode('demo', makeRunTool(`() => { for (let i = 0; i < 1200; i++) send({ level: 'debug', message: 'm' + i }); send([{ message: 'late' }]); return 1; }`))}`;
  const { port, call } = await startAdapter(`let send; ${code}`);
  port.receivedTexts.splice(0);
  assert.equal(await call('run'), 'r 1 1');
  const messagePrefixes = port.receivedTexts.map((logText) => logText.split(' ', 3).join(' '));
  assert.deepEqual(messagePrefixes, [
    'l 50 250',
    ...Array.from({ length: 19 }, (_, i) => (i < 18 ? 'l 50 0' : 'l 1 0')),
    'r 1 1',
  ]);
  const bigLogFixture =
    await startAdapter(`globalThis.__openTabs._setLogTransport = (fn) => { fn({ message: 'x'.repeat(9999), data: Array.from({ length: 12 }, () => ({ t: 'y'.repeat(30000) })) }); };
    ${makeAdapterCode('demo', '')}`);
  bigLogFixture.realm.runNextTask();
  const [, logText = ''] = /^l 1 0 (.*)$/.exec(bigLogFixture.port.receivedTexts[1] ?? '') ?? [];
  const [logEntry] = JSON.parse(logText);
  assert.equal(logEntry.message.length, 4096);
  assert.ok(logEntry.data.length <= 10 && JSON.stringify(logEntry.data).length <= 64 * 1024);
});

test('an __openTabs object that the adapter assigns gets the properties of the host', async () => {
  const code = `globalThis.__openTabs = { ...globalThis.__openTabs, adapters: {} };
    Object.defineProperty(globalThis, '__openTabs', { value: Object.assign({}, globalThis.__openTabs), writable: true });
    let send; globalThis.__openTabs._setLogTransport = (fn) => { send = fn; return () => {}; };
    globalThis.__openTabs._setLogTransport(() => log.push('posted'));
    ${makeAdapterCode('demo', makeRunTool(`() => { send({ level: 'info', message: 'm' }); return globalThis.__openTabs.pluginConfig.key; }`))}`;
  const { port, call, log, realm } = await startAdapter(code, { settings: { values: { key: 'a' } } });
  port.sendParts('settings', { values: { key: 'b' } });
  await realm.waitUntilIdle();
  assert.equal(await call('run'), 'r 1 "b"');
  assert.match(port.receivedTexts[1] ?? '', /^l 1 0 .*"message":"m"/);
  assert.deepEqual(log(), []);
});

test('a removed plugin is torn down and runs no more calls', async () => {
  const truncatedAdapter = makeAdapterCode('demo', makeRunTool('() => 1')).replace(
    'tools:',
    "teardown() { log.push('down'); throw 1; }, tools:",
  );
  const { realm, port, log, call } = await startAdapter(truncatedAdapter);
  assert.equal(await call('run'), 'r 1 1');
  port.sendParts('remove');
  port.sendParts('remove');
  await realm.waitUntilIdle();
  assert.deepEqual(log(), ['down']);
  assert.match((await call('run', 2)) ?? '', /^e 2 .*"code":"internal"/);
  realm.runNextTask();
  assert.ok(port.receivedTexts.some((logText) => /^l 1 0 .*threw in teardown\(\)/.test(logText)));
  const waitingAdapter = await startAdapter(makeLogStatement('never'), { start: 'dom' });
  waitingAdapter.port.sendParts('remove');
  waitingAdapter.port.sendParts('begin');
  await waitingAdapter.realm.waitUntilIdle();
  assert.deepEqual([waitingAdapter.log(), waitingAdapter.port.receivedTexts], [[], []]);
});

test('when a plugin is torn down, the history methods that a later plugin replaced stay', async () => {
  const makePatchingCode = (name: string) => `
    const old = history.pushState; history.pushState = function (...args) { log.push('${name}'); return old.apply(this, args); };
    ${makeAdapterCode(name, '').replace('tools:', 'teardown() { history.pushState = old; }, tools:')}`;
  const realm = makeRealm();
  realm.run('var log = []; own = history.pushState');
  for (const name of ['a', 'b']) realm.start(name, 'h', makePatchingCode(name));
  const [firstHost, secondHost] = realm.bridge();
  await realm.waitUntilIdle();
  firstHost?.sendParts('remove');
  await realm.waitUntilIdle();
  realm.run('history.pushState()');
  assert.equal(realm.run('log.join()'), 'b,a');
  const singlePluginRealm = makeRealm();
  singlePluginRealm.run('var log = []; own = history.pushState');
  singlePluginRealm.start('a', 'h', makePatchingCode('a'));
  singlePluginRealm.bridge();
  await singlePluginRealm.waitUntilIdle();
  assert.equal(singlePluginRealm.run('history.pushState === own'), false);
  singlePluginRealm.ports[0]?.sendParts('remove');
  await singlePluginRealm.waitUntilIdle();
  assert.equal(singlePluginRealm.run('history.pushState === own'), true);
  secondHost?.sendParts('remove');
  await realm.waitUntilIdle();
});
