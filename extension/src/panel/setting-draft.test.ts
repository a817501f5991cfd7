import assert from 'node:assert/strict';
import test from 'node:test';
import type { SettingView } from '../../../wire/wire.gen.ts';
import { Cleared, draftOf, isChanged, lacking, meaningOf, settingOfError } from './setting-draft.ts';

const setting = (type: SettingView['type'], more: Partial<SettingView> = {}): SettingView => ({
  key: 'k',
  type,
  label: 'K',
  ...more,
});

test('fields show what is set, and a secret never', () => {
  assert.equal(draftOf(setting('string', { value: 'a' })), 'a');
  assert.equal(draftOf(setting('number', { value: 0 })), '0');
  assert.equal(draftOf(setting('boolean', { value: false })), 'false');
  assert.equal(draftOf(setting('select')), '');
  assert.equal(draftOf(setting('string', { secret: true, set: true, value: 'leaked' })), '');
  assert.deepEqual(draftOf(setting('url', { value: { work: 'https://a.example' } })), [
    { name: 'work', url: 'https://a.example' },
  ]);
  assert.deepEqual(draftOf(setting('url')), []);
});

test('what is typed becomes a value of its type', () => {
  assert.equal(meaningOf(setting('number'), '1,5'), 1.5);
  assert.equal(meaningOf(setting('number'), '0,25'), 0.25);
  assert.equal(meaningOf(setting('number'), '1,000'), '1,000');
  assert.equal(meaningOf(setting('number'), '1,000,000'), '1,000,000');
  assert.equal(meaningOf(setting('number'), 'many'), 'many');
  assert.equal(meaningOf(setting('boolean'), 'false'), false);
  assert.equal(meaningOf(setting('string'), ''), null);
  assert.equal(meaningOf(setting('string'), Cleared), null);
  assert.equal(meaningOf(setting('string'), ' a '), ' a ');
  const rows = [
    { name: ' work ', url: ' https://a.example ' },
    { name: '', url: 'https://b.example' },
    { name: ' ', url: '' },
  ];
  assert.deepEqual(meaningOf(setting('url'), rows), { work: 'https://a.example', default: 'https://b.example' });
  assert.equal(meaningOf(setting('url'), []), null);
});

test('only what differs counts as changed', () => {
  const site = setting('url', { value: { work: 'https://a.example' } });
  assert.equal(isChanged(site, undefined), false);
  assert.equal(isChanged(site, draftOf(site)), false);
  assert.equal(isChanged(site, []), true);
  assert.equal(isChanged(setting('string', { secret: true, set: true }), Cleared), true);
});

test('what a plugin lacks, and which field an error is about', () => {
  const site = setting('url', { key: 'site', required: true });
  const all = [site, setting('string', { required: true, set: true }), setting('number')];
  assert.deepEqual(lacking(all), [site]);
  assert.deepEqual(settingOfError('the setting site is "x"; use an http or https URL', all), {
    key: 'site',
    text: 'It is "x"; use an http or https URL',
  });
  assert.equal(settingOfError('settings.json is read-only', all), undefined);
});
