import assert from 'node:assert/strict';
import test from 'node:test';
import { SiteAccess } from './site-access.ts';

test('all sites count as allowed until Chrome has listed them', async () => {
  const siteAccess = new SiteAccess(async () => ['*://shop.example/*', 'https://*.wiki.example/*']);
  assert.equal(siteAccess.hasAccess('https://bank.example/'), true);
  await siteAccess.refreshPatterns();
  const isAllowed = (url: string) => siteAccess.hasAccess(url);
  assert.deepEqual(['http://shop.example/a', 'https://shop.example:8443/', 'https://de.wiki.example/'].map(isAllowed), [
    true,
    true,
    true,
  ]);
  assert.deepEqual(['https://sub.shop.example/', 'http://de.wiki.example/', 'https://bank.example/'].map(isAllowed), [
    false,
    false,
    false,
  ]);
  assert.deepEqual(['chrome://settings/', '', 'about:blank'].map(isAllowed), [true, true, true]);
});

test('with access to all sites, each site counts as allowed', async () => {
  const siteAccess = new SiteAccess(async () => ['<all_urls>']);
  await siteAccess.refreshPatterns();
  assert.equal(siteAccess.findProblem('https://bank.example/'), undefined);
  assert.deepEqual(siteAccess.neededHosts, []);
});

test('neededHosts contains a needed site for 10 min, or until the user allows the site', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  let patterns: string[] = [];
  const siteAccess = new SiteAccess(async () => patterns);
  await siteAccess.refreshPatterns();
  let changeCount = 0;
  siteAccess.changed.addListener(() => changeCount++);
  assert.match(
    siteAccess.findProblem('https://bank.example:444/account') ?? '',
    /no access to bank\.example; .* press "Allow on bank\.example", then retry$/,
  );
  siteAccess.findProblem('http://shop.example/');
  assert.deepEqual([siteAccess.neededHosts, changeCount], [['shop.example', 'bank.example'], 2]);
  patterns = ['*://shop.example/*'];
  await siteAccess.refreshPatterns();
  assert.deepEqual(siteAccess.neededHosts, ['bank.example']);
  t.mock.timers.tick(10 * 60_000 + 1);
  assert.deepEqual(siteAccess.neededHosts, []);
});
