/** Compares vendored libraries of the extension with the installed npm packages. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/**
 * checkVendored compares each file of a vendored library with the npm package of the same name. The vendored modules
 * have no comments and no whitespace, which keeps the program small. The vendored library has more than minFiles files.
 */
export async function checkVendored(library: string, minFiles: number): Promise<void> {
  const vendored = fileURLToPath(new URL(`../vendor/${library}/`, import.meta.url));
  const installed = fileURLToPath(new URL(`../../node_modules/${library}/`, import.meta.url));
  const files = readdirSync(vendored, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > minFiles);
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name).slice(vendored.length);
    const released = readFileSync(join(installed, file), 'utf8');
    const isModule = /\.m?js$/.test(file);
    const expected = isModule
      ? (await transform(released, { minifyWhitespace: true, charset: 'utf8', legalComments: 'none' })).code
      : released;
    assert.equal(
      readFileSync(join(vendored, file), 'utf8'),
      expected,
      isModule
        ? `write ${file} again: esbuild --tsconfig-raw={} node_modules/${library}/${file} --minify-whitespace --charset=utf8 ` +
            `--legal-comments=none --outfile=extension/vendor/${library}/${file} --allow-overwrite`
        : `${file} differs; copy it from node_modules/${library}`,
    );
  }
}
