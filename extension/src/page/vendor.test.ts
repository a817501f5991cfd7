import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const vendored = fileURLToPath(new URL('../../vendor/dom-accessibility-api/', import.meta.url));
const installed = fileURLToPath(new URL('../../../node_modules/dom-accessibility-api/', import.meta.url));

test('the vendored dom-accessibility-api is the installed one, unchanged', () => {
  const files = readdirSync(vendored, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length >= 8);
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name).slice(vendored.length);
    const message = `${file} differs; copy it from node_modules/dom-accessibility-api`;
    assert.equal(readFileSync(join(vendored, file), 'utf8'), readFileSync(join(installed, file), 'utf8'), message);
  }
});
