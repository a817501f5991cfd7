import assert from 'node:assert/strict';
import test from 'node:test';
import type { SettingView } from '../../../wire/wire.gen.ts';
import { ClearedSecret, draftOf, draftValue, isChanged, missingSettings, settingOfError } from './setting-draft.ts';

const setting = (type: SettingView['type'], more: Partial<SettingView> = {}): SettingView => ({
  key: 'k',
  type,
  label: 'K',
  ...more,
});

test('draftOf shows saved values but no secrets', () => {
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

test('draftValue converts text to the type of the setting', () => {
  assert.equal(draftValue(setting('number'), '1,5'), 1.5);
  assert.equal(draftValue(setting('number'), '0,25'), 0.25);
  assert.equal(draftValue(setting('number'), '1,000'), '1,000');
  assert.equal(draftValue(setting('number'), '1,000,000'), '1,000,000');
  assert.equal(draftValue(setting('number'), 'many'), 'many');
  assert.equal(draftValue(setting('boolean'), 'false'), false);
  assert.equal(draftValue(setting('string'), ''), null);
  assert.equal(draftValue(setting('string'), ClearedSecret), null);
  assert.equal(draftValue(setting('string'), ' a '), ' a ');
  const rows = [
    { name: ' work ', url: ' https://a.example ' },
    { name: '', url: 'https://b.example' },
    { name: ' ', url: '' },
  ];
  assert.deepEqual(draftValue(setting('url'), rows), { work: 'https://a.example', default: 'https://b.example' });
  assert.equal(draftValue(setting('url'), []), null);
});

test('isChanged compares with the saved value', () => {
  const site = setting('url', { value: { work: 'https://a.example' } });
  assert.equal(isChanged(site, undefined), false);
  assert.equal(isChanged(site, draftOf(site)), false);
  assert.equal(isChanged(site, []), true);
  assert.equal(isChanged(setting('string', { secret: true, set: true }), ClearedSecret), true);
});

test('missingSettings and settingOfError', () => {
  const site = setting('url', { key: 'site', required: true });
  const all = [site, setting('string', { required: true, set: true }), setting('number')];
  assert.deepEqual(missingSettings(all), [site]);
  assert.deepEqual(settingOfError('the setting site is "x"; use an http or https URL', all), {
    key: 'site',
    text: 'It is "x"; use an http or https URL',
  });
  assert.equal(settingOfError('settings.json is read-only', all), undefined);
});
