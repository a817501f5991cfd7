import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const sdkFolder = fileURLToPath(new URL('.', import.meta.url));
const vendoredFolder = join(sdkFolder, 'vendor/zod');
const installedFolder = join(sdkFolder, '../node_modules/zod');

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(dir, name)).isFile());
}

test('the embedded zod is the released package without comments', async () => {
  const names = filesBelow(vendoredFolder);
  assert.ok(names.includes('LICENSE') && names.includes('package.json') && names.length > 30);
  for (const name of names) {
    const releasedText = readFileSync(join(installedFolder, name), 'utf8');
    // minifyWhitespace stays off: it drops the comments that let esbuild leave out unused functions.
    const expectedText = name.endsWith('.js')
      ? (await transform(releasedText, { charset: 'utf8', legalComments: 'none' })).code
      : releasedText;
    assert.equal(
      readFileSync(join(vendoredFolder, name), 'utf8'),
      expectedText,
      `write ${name} again: esbuild --tsconfig-raw={} node_modules/zod/${name} --charset=utf8 --legal-comments=none ` +
        `--outfile=sdk-ts/vendor/zod/${name} --allow-overwrite (copy files that are not modules)`,
    );
  }
});

test('the embedded zod contains every module that its index imports', () => {
  for (const part of ['v4/classic', 'v4/core']) {
    const listModules = (dir: string) => readdirSync(join(dir, part)).filter((name) => name.endsWith('.js'));
    assert.deepEqual(listModules(vendoredFolder), listModules(installedFolder));
  }
});

test('the embedded libraries of the simulator equal the released packages byte for byte', () => {
  const embeddedLibraries: Readonly<Record<string, readonly string[]>> = {
    linkedom: ['LICENSE', 'package.json'],
    'whatwg-url-minimum': ['LICENSE.md', 'package.json'],
  };
  for (const [libraryName, names] of Object.entries(embeddedLibraries)) {
    for (const name of names) {
      const releasedText = readFileSync(join(sdkFolder, '../node_modules', libraryName, name));
      assert.ok(
        readFileSync(join(sdkFolder, 'vendor', libraryName, basename(name))).equals(releasedText),
        `the vendored file ${libraryName}/${name} differs from its original`,
      );
    }
  }
});

test('the embedded modules of the simulator are the released modules without comments and whitespace', async () => {
  for (const [releasedText, embeddedLibraries] of [
    ['linkedom/worker.js', 'linkedom/worker.js'],
    ['whatwg-url-minimum/dist/whatwg-url-minimum.mjs', 'whatwg-url-minimum/whatwg-url-minimum.mjs'],
  ]) {
    const sourceText = readFileSync(join(sdkFolder, `../node_modules/${releasedText}`), 'utf8');
    // minifyIdentifiers stays off: plugins read names such as element.constructor.name.
    const { code } = await transform(sourceText, { minifyWhitespace: true, charset: 'utf8', legalComments: 'none' });
    assert.equal(
      readFileSync(join(sdkFolder, `vendor/${embeddedLibraries}`), 'utf8'),
      code,
      `write it again: esbuild --tsconfig-raw={} node_modules/${releasedText} --minify-whitespace --charset=utf8 ` +
        `--legal-comments=none --outfile=sdk-ts/vendor/${embeddedLibraries} --allow-overwrite`,
    );
  }
});
