/** With the debugger, a tab emulates a device until the agent ends the emulation. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let agent: AgentFixture;

before(async () => {
  agent = await startAgentFixture({ installFlags: ['--debugger'] });
  agent.setPage('/', '<meta name="viewport" content="width=device-width"><title>Shop</title><h1>Shop</h1>');
});
after(() => agent?.close());

test('a tab keeps its emulation across navigations, until the agent clears the emulation', async () => {
  assert.match((await agent.callExpectingFailure('browser_emulate', {})).text, /is off until the user switches it on/);
  assert.equal((await agent.stack.runCli('browser', 'tools', 'on', 'emulation')).code, 0);
  await agent.open('/');
  const page = await agent.findPage(`${agent.shop}/`);
  const readEmulation = () =>
    page.evaluate(() => ({
      width: innerWidth,
      agent: navigator.userAgent,
      isDark: matchMedia('(prefers-color-scheme: dark)').matches,
      isPrint: matchMedia('print').matches,
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      locale: Intl.DateTimeFormat().resolvedOptions().locale,
      ratio: devicePixelRatio,
    }));
  const emulationBefore = await readEmulation();
  assert.equal((await agent.callTool('browser_emulate', {})).split('\n')[0], 'The tab emulates nothing.');
  const outputText = await agent.callTool('browser_emulate', {
    viewport: { width: 400, height: 800, scale: 3, mobile: true },
    userAgent: 'Test phone',
    media: { colorScheme: 'dark' },
    timezone: 'Asia/Tokyo',
    locale: 'de-DE',
    visionDeficiency: 'protanopia',
    cpuSlowdown: 2,
    geolocation: { latitude: 48.1, longitude: 11.5 },
  });
  assert.match(
    outputText,
    /^The tab emulates: viewport 400 x 800, scale 3, mobile with touch; .*time zone Asia\/Tokyo; processor 2 times slower\. It lasts until clear/,
  );
  const emulatedValues = {
    width: 400,
    agent: 'Test phone',
    isDark: true,
    isPrint: false,
    zone: 'Asia/Tokyo',
    locale: 'de-DE',
    ratio: 3,
  };
  assert.deepEqual(await readEmulation(), emulatedValues);
  await agent.callTool('browser_navigate', { url: `${agent.shop}/?next` });
  assert.deepEqual(await readEmulation(), emulatedValues, 'the emulation must survive a navigation');
  await agent.callTool('browser_emulate', { timezone: 'Europe/Paris', locale: 'fr-FR' });
  assert.deepEqual(await readEmulation(), { ...emulatedValues, zone: 'Europe/Paris', locale: 'fr-FR' });
  const invalidTimezoneFailure = await agent.callExpectingFailure('browser_emulate', { timezone: 'Nowhere' });
  assert.match(invalidTimezoneFailure.text, /Chrome rejected setTimezoneOverride: Invalid timezone id/);
  assert.equal((await agent.callTool('browser_emulate', { clear: true })).split('\n')[0], 'The tab emulates nothing.');
  assert.deepEqual(await readEmulation(), emulationBefore, 'clear must restore the original values');
});

test('an emulation needs an approval for the site, and does not affect other tabs', async () => {
  await agent.stack.runCli('browser', 'site', agent.shop, 'read');
  assert.match(
    (await agent.callExpectingFailure('browser_emulate', { media: { type: 'print' } })).text,
    /but not to act/,
  );
  await agent.stack.runCli('browser', 'site', agent.shop, 'auto');
  await agent.callTool('browser_emulate', { media: { type: 'print' } });
  const otherPage = await agent.stack.chrome.openPage(`${agent.other}/`);
  assert.equal(await otherPage.evaluate(() => matchMedia('print').matches), false);
});
