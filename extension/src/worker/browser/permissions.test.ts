import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { permissionTexts } from '../../panel/wording.ts';
import { isRecord } from '../../record.ts';
import type { BrowserCall } from './browser-tool.ts';
import { neededPermissions, permissionTitles, requirePermissions } from './permissions.ts';
import { ToolFailure } from './tool-failure.ts';

const call: BrowserCall = {
  tool: 'browser_clear_site_data',
  tabId: 0,
  documentId: '',
  args: {},
  session: '',
  signal: new AbortController().signal,
  report: () => undefined,
  markActed: () => undefined,
};

test('a tool without its Chrome permission fails with an error that names the permission and its switch', async () => {
  const grantedPermissions = new Set<string>(['cookies']);
  const runCookiesTool = requirePermissions(
    'browser_clear_site_data',
    async () => ({ text: 'Deleted.' }),
    async (permission) => grantedPermissions.has(permission),
  );
  const error = await runCookiesTool(call).catch((thrownValue: unknown) => thrownValue);
  assert.ok(error instanceof ToolFailure);
  assert.equal(error.error.tool?.code, 'needs_permission');
  assert.match(
    error.message,
    /needs Chrome's permission "browsingData"\. .* switch on "Deleting the data of sites" under/,
  );
  grantedPermissions.add('browsingData');
  assert.deepEqual(await runCookiesTool(call), { text: 'Deleted.' });
});

test('requirePermissions returns a tool unchanged that needs no optional permission', () => {
  const runCookiesTool = async () => ({});
  const rejectRead = () => Promise.reject(new Error('a permission was read'));
  assert.equal(requirePermissions('browser_click', runCookiesTool, rejectRead), runCookiesTool);
});

test('the manifest offers each permission that a tool needs', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../manifest.json', import.meta.url), 'utf8'));
  const optionalPermissions: unknown = isRecord(manifest) ? manifest.optional_permissions : undefined;
  assert.deepEqual(optionalPermissions, [...new Set([...neededPermissions.values()].flat())].sort());
});

test('permission errors use the switch labels of the side panel', () => {
  const titles = Object.entries(permissionTexts).map(([name, { title }]) => [name, title]);
  assert.deepEqual(Object.fromEntries(titles), permissionTitles);
});
