import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';

const vendored = new URL('../../vendor/preact/', import.meta.url).pathname;
const installed = dirname(dirname(createRequire(import.meta.url).resolve('preact')));

test('the vendored preact is the installed one, unchanged', () => {
  const files = readdirSync(vendored, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > 15);
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name).slice(vendored.length);
    assert.equal(
      readFileSync(join(vendored, file), 'utf8'),
      readFileSync(join(installed, file), 'utf8'),
      `${file} differs; copy it from node_modules/preact`,
    );
  }
});
