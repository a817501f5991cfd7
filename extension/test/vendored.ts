/** Compares vendored libraries of the extension with the installed npm packages. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/**
 * checkVendored compares each file of a vendored library with the npm package of the same name. The vendored modules
 * have no comments and no whitespace, which keeps the program small. checkVendored also checks that the vendored
 * library has more than minFiles files.
 */
export async function checkVendored(libraryName: string, minFiles: number): Promise<void> {
  const vendoredFolder = fileURLToPath(new URL(`../vendor/${libraryName}/`, import.meta.url));
  const installedFolder = fileURLToPath(new URL(`../../node_modules/${libraryName}/`, import.meta.url));
  const files = readdirSync(vendoredFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > minFiles);
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name).slice(vendoredFolder.length);
    const releasedText = readFileSync(join(installedFolder, file), 'utf8');
    const isModule = /\.m?js$/.test(file);
    const expectedText = isModule
      ? (await transform(releasedText, { minifyWhitespace: true, charset: 'utf8', legalComments: 'none' })).code
      : releasedText;
    assert.equal(
      readFileSync(join(vendoredFolder, file), 'utf8'),
      expectedText,
      isModule
        ? `write ${file} again: esbuild --tsconfig-raw={} node_modules/${libraryName}/${file} --minify-whitespace --charset=utf8 ` +
            `--legal-comments=none --outfile=extension/vendor/${libraryName}/${file} --allow-overwrite`
        : `${file} differs; copy it from node_modules/${libraryName}`,
    );
  }
}
