import assert from 'node:assert/strict';
import test from 'node:test';
import type { SettingView } from '../../../wire/wire.gen.ts';
import {
  ClearedSecretDraft,
  findSettingOfError,
  isChanged,
  listMissingSettings,
  makeDraft,
  readDraftValue,
} from './setting-draft.ts';

const makeSetting = (type: SettingView['type'], settingFields: Partial<SettingView> = {}): SettingView => ({
  key: 'k',
  type,
  label: 'K',
  ...settingFields,
});

test('makeDraft returns saved values, but no values of secret settings', () => {
  assert.equal(makeDraft(makeSetting('string', { value: 'a' })), 'a');
  assert.equal(makeDraft(makeSetting('number', { value: 0 })), '0');
  assert.equal(makeDraft(makeSetting('boolean', { value: false })), 'false');
  assert.equal(makeDraft(makeSetting('select')), '');
  assert.equal(makeDraft(makeSetting('string', { secret: true, set: true, value: 'leaked' })), '');
  assert.deepEqual(makeDraft(makeSetting('url', { value: { work: 'https://a.example' } })), [
    { name: 'work', url: 'https://a.example' },
  ]);
  assert.deepEqual(makeDraft(makeSetting('url')), []);
});

test('readDraftValue converts text to the type of the setting', () => {
  assert.equal(readDraftValue(makeSetting('number'), '1,5'), 1.5);
  assert.equal(readDraftValue(makeSetting('number'), '0,25'), 0.25);
  assert.equal(readDraftValue(makeSetting('number'), '1,000'), '1,000');
  assert.equal(readDraftValue(makeSetting('number'), '1,000,000'), '1,000,000');
  assert.equal(readDraftValue(makeSetting('number'), 'many'), 'many');
  assert.equal(readDraftValue(makeSetting('boolean'), 'false'), false);
  assert.equal(readDraftValue(makeSetting('string'), ''), null);
  assert.equal(readDraftValue(makeSetting('string'), ClearedSecretDraft), null);
  assert.equal(readDraftValue(makeSetting('string'), ' a '), ' a ');
  const urlRows = [
    { name: ' work ', url: ' https://a.example ' },
    { name: '', url: 'https://b.example' },
    { name: ' ', url: '' },
  ];
  assert.deepEqual(readDraftValue(makeSetting('url'), urlRows), {
    work: 'https://a.example',
    default: 'https://b.example',
  });
  assert.equal(readDraftValue(makeSetting('url'), []), null);
});

test('isChanged reports whether a draft differs from the saved value', () => {
  const site = makeSetting('url', { value: { work: 'https://a.example' } });
  assert.equal(isChanged(site, undefined), false);
  assert.equal(isChanged(site, makeDraft(site)), false);
  assert.equal(isChanged(site, []), true);
  assert.equal(isChanged(makeSetting('string', { secret: true, set: true }), ClearedSecretDraft), true);
});

test("listMissingSettings returns required settings without a value; findSettingOfError finds an error's setting", () => {
  const site = makeSetting('url', { key: 'site', required: true });
  const allSettings = [site, makeSetting('string', { required: true, set: true }), makeSetting('number')];
  assert.deepEqual(listMissingSettings(allSettings), [site]);
  assert.deepEqual(findSettingOfError('the setting site is "x"; use an http or https URL', allSettings), {
    key: 'site',
    text: 'It is "x"; use an http or https URL',
  });
  assert.equal(findSettingOfError('settings.json is read-only', allSettings), undefined);
});
