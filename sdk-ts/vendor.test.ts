import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const vendored = join(here, 'vendor/zod');
const installed = join(here, '../node_modules/zod');

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(dir, name)).isFile());
}

test('the embedded zod is the released package without comments', async () => {
  const names = filesBelow(vendored);
  assert.ok(names.includes('LICENSE') && names.includes('package.json') && names.length > 30);
  for (const name of names) {
    const released = readFileSync(join(installed, name), 'utf8');
    // The option minifyWhitespace stays off, because it removes the comments by which esbuild finds unused functions.
    const expected = name.endsWith('.js')
      ? (await transform(released, { charset: 'utf8', legalComments: 'none' })).code
      : released;
    assert.equal(
      readFileSync(join(vendored, name), 'utf8'),
      expected,
      `write ${name} again: esbuild --tsconfig-raw={} node_modules/zod/${name} --charset=utf8 --legal-comments=none ` +
        `--outfile=sdk-ts/vendor/zod/${name} --allow-overwrite (copy files that are not modules)`,
    );
  }
});

test('the embedded zod contains every module that its index imports', () => {
  for (const part of ['v4/classic', 'v4/core']) {
    const modules = (dir: string) => readdirSync(join(dir, part)).filter((name) => name.endsWith('.js'));
    assert.deepEqual(modules(vendored), modules(installed));
  }
});

test('the embedded libraries of the simulator equal the released packages byte for byte', () => {
  const embedded: Readonly<Record<string, readonly string[]>> = {
    linkedom: ['LICENSE', 'package.json'],
    'whatwg-url-minimum': ['LICENSE.md', 'package.json'],
  };
  for (const [library, names] of Object.entries(embedded)) {
    for (const name of names) {
      const released = readFileSync(join(here, '../node_modules', library, name));
      assert.ok(
        readFileSync(join(here, 'vendor', library, basename(name))).equals(released),
        `the vendored file ${library}/${name} differs from its original`,
      );
    }
  }
});

test('the embedded modules of the simulator are the released modules without comments and whitespace', async () => {
  for (const [released, embedded] of [
    ['linkedom/worker.js', 'linkedom/worker.js'],
    ['whatwg-url-minimum/dist/whatwg-url-minimum.mjs', 'whatwg-url-minimum/whatwg-url-minimum.mjs'],
  ]) {
    const source = readFileSync(join(here, `../node_modules/${released}`), 'utf8');
    // The option minifyIdentifiers stays off, because plugins read names such as element.constructor.name.
    const { code } = await transform(source, { minifyWhitespace: true, charset: 'utf8', legalComments: 'none' });
    assert.equal(
      readFileSync(join(here, `vendor/${embedded}`), 'utf8'),
      code,
      `write it again: esbuild --tsconfig-raw={} node_modules/${released} --minify-whitespace --charset=utf8 ` +
        `--legal-comments=none --outfile=sdk-ts/vendor/${embedded} --allow-overwrite`,
    );
  }
});
